"""The embedded animator: clips go on for ever, feet step and stay above the ground, hands wave, tails wag."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from penstock.studio.modelling.glb import read_glb, write_glb
from penstock.studio.modelling.model import Clip, Doubles, Model
from penstock.studio.modelling.posing import posed, sampled, standing
from penstock.work import Terminal
from tests.generation.listening_reporter import ListeningReporter
from tests.studio.modelling.bodies import box
from tests.studio.modelling.conftest import BODIES, Cast
from tests.studio.modelling.orders import ANIMATOR, ORDER

CLIPS = {"HUMANOID": ["idle", "walk", "wave"], "QUADRUPED": ["idle", "walk", "wag"], "STATIC": ["idle"]}


def clip(model: Model, name: str) -> Clip:
    return next(clip for clip in model.clips if clip.name == name)


def track(model: Model, name: str, joint: str, *, moments: int = 24) -> Doubles:
    """Where a joint is through a clip."""
    assert model.skeleton is not None
    which, found = clip(model, name), []
    for n in range(moments):
        _, places = standing(model.skeleton, *sampled(model.skeleton, which, n / moments * which.seconds))
        found.append(places[model.skeleton.names.index(joint)])
    return np.array(found)


@pytest.mark.parametrize("name", BODIES)
def test_every_clip_ends_as_it_begins_and_never_jumps(cast: Cast, name: str) -> None:
    model, kind = read_glb(cast(name) / "anim.glb"), BODIES[name][1]
    assert [found.name for found in model.clips] == CLIPS[kind]
    for found in model.clips:
        lengths = np.linalg.norm(found.rotations.astype(np.float64), axis=2)
        np.testing.assert_allclose(lengths, 1, atol=1e-5)
        assert found.times[0] == 0
        first, last = (posed(model, found, moment)[0] for moment in (0.0, found.seconds * (1 - 1e-6)))
        np.testing.assert_allclose(first, last, atol=2e-3)
        closed = np.abs((found.rotations[0] * found.rotations[-1]).sum(axis=1))
        np.testing.assert_allclose(closed, 1, atol=1e-6)
        # No key takes the long way round from the one before.
        assert ((found.rotations[1:] * found.rotations[:-1]).sum(axis=2) > 0.8).all()
        steps = [posed(model, found, moment)[0] for moment in np.linspace(0, found.seconds, 25)]
        height = float(np.ptp(model.positions[:, 1]))
        assert max(np.abs(b - a).max() for a, b in pairwise(steps)) < 0.35 * height


@pytest.mark.parametrize("name", [name for name in BODIES if name != "a thing"])
def test_nothing_sinks_into_the_ground_or_floats_above_it(cast: Cast, name: str) -> None:
    model = read_glb(cast(name) / "anim.glb")
    height = float(np.ptp(model.positions[:, 1]))
    for found in model.clips:
        lowest = [posed(model, found, moment)[0][:, 1].min() for moment in np.linspace(0, found.seconds, 23)]
        assert min(lowest) > -0.01 * height, found.name
        assert max(lowest) < 0.02 * height, found.name


@pytest.mark.parametrize("name", ["arms down", "a large head"])
def test_walking_is_stepping(cast: Cast, name: str) -> None:
    model = read_glb(cast(name) / "anim.glb")
    assert model.skeleton is not None
    left, right = (track(model, "walk", f"{side}Foot") for side in ("left", "right"))
    leg = float(np.linalg.norm(model.skeleton.positions[model.skeleton.names.index("leftUpperLeg")] - left[0]))
    for foot in (left, right):
        assert np.ptp(foot[:, 2]) > 0.3 * leg
        assert np.ptp(foot[:, 1]) > 0.08 * leg
        # It goes forward through the air, and backward along the ground.
        going = np.roll(foot[:, 2], -1) - foot[:, 2]
        high = foot[:, 1] > foot[:, 1].min() + 0.5 * np.ptp(foot[:, 1])
        assert going[high].mean() > 0
        assert going[~high].mean() < 0
    # One after the other, and the arms against the legs.
    np.testing.assert_allclose(left[:, 2], np.roll(right[:, 2], 12), atol=0.05 * leg)
    hand = track(model, "walk", "leftHand")
    assert np.corrcoef(hand[:, 2], left[:, 2])[0, 1] < -0.5


@pytest.mark.parametrize("name", ["arms down", "arms out", "a large head"])
def test_one_hand_waves_and_the_feet_stand(cast: Cast, name: str) -> None:
    model = read_glb(cast(name) / "anim.glb")
    hands = {side: track(model, "wave", f"{side}Hand", moments=48) for side in ("left", "right")}
    shoulder = track(model, "wave", "rightUpperArm")[0]
    assert hands["right"][:, 1].max() > shoulder[1] > hands["left"][:, 1].max()
    up = hands["right"][hands["right"][:, 1] > shoulder[1]]
    swings = np.sign(np.diff(up[:, 0]))
    assert (np.diff(swings[swings != 0]) != 0).sum() >= 4
    for side in ("left", "right"):
        assert np.ptp(track(model, "wave", f"{side}Foot"), axis=0).max() < 1e-4


def test_arms_that_were_modelled_straight_out_hang_when_idle(cast: Cast) -> None:
    model = read_glb(cast("arms out") / "anim.glb")
    for side in ("left", "right"):
        assert track(model, "idle", f"{side}Hand")[0][1] < track(model, "idle", f"{side}UpperArm")[0][1] - 0.3


@pytest.mark.parametrize(("seen", "axis"), [("side", 0), ("front", 2)])
def test_an_animal_steps_the_way_it_looks_and_wags_across(cast: Cast, seen: str, axis: int) -> None:
    model = read_glb(cast(f"an animal from the {seen}") / "anim.glb")
    for end in ("Front", "Hind"):
        for side in ("left", "right"):
            foot = track(model, "walk", f"{side}{end}Foot")
            assert np.ptp(foot[:, axis]) > 0.1
            assert np.ptp(foot[:, 2 - axis]) < 0.02
            going = np.roll(foot[:, axis], -1) - foot[:, axis]
            assert going[foot[:, 1].argmax()] > 0
    tail = track(model, "wag", "tailTip")
    assert np.ptp(tail[:, 2 - axis]) > 2 * np.ptp(tail[:, axis])


def test_a_thing_turns_once_around(cast: Cast) -> None:
    model = read_glb(cast("a thing") / "anim.glb")
    idle = clip(model, "idle")
    quarter, _ = posed(model, idle, idle.seconds / 4)
    np.testing.assert_allclose(quarter[:, 0], model.positions[:, 2], atol=1e-5)
    np.testing.assert_allclose(quarter[:, 1], model.positions[:, 1], atol=1e-5)


def test_the_same_model_gives_the_same_bytes_and_clips_are_told(cast: Cast, tmp_path: Path) -> None:
    once = (cast("arms down") / "anim.glb").read_bytes()
    made = ANIMATOR.animate(cast("arms down") / "rig.glb", ORDER, tmp_path / "again.glb", ListeningReporter())
    assert (tmp_path / "again.glb").read_bytes() == once
    assert made.metrics == {"joints": 19, "clips": {"idle": 4.0, "walk": 1.0, "wave": 2.4}, "bytes": len(once)}


def test_what_has_no_skeleton_or_another_one_is_refused_for_good(cast: Cast, tmp_path: Path) -> None:
    write_glb(box(), tmp_path / "box.glb")
    with pytest.raises(Terminal, match="rig it first"):
        ANIMATOR.animate(tmp_path / "box.glb", ORDER, tmp_path / "anim.glb", ListeningReporter())
    model = read_glb(cast("arms down") / "rig.glb")
    assert model.skeleton is not None
    model.skeleton.names[3] = "collar"
    model.extras = {"rig": ["strange"]}
    write_glb(model, tmp_path / "strange.glb")
    with pytest.raises(Terminal, match="rig it anew"):
        ANIMATOR.animate(tmp_path / "strange.glb", ORDER, tmp_path / "anim.glb", ListeningReporter())
