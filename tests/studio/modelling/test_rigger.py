"""The embedded rigger: joints lie where a body has them, and every vertex follows those that are near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from penstock.studio.modelling.fitting import fitted
from penstock.studio.modelling.geometry import welded
from penstock.studio.modelling.glb import read_glb, write_glb
from penstock.studio.modelling.model import Clip, Doubles, Model
from penstock.studio.modelling.occupancy import occupied
from penstock.studio.modelling.posing import posed
from penstock.studio.modelling.skeletons import TEMPLATES
from penstock.work import Terminal
from tests.generation.listening_reporter import ListeningReporter
from tests.studio.modelling.bodies import HEAD, LEGS, TRUNK, Capsule, arms, body, person
from tests.studio.modelling.conftest import BODIES, HUMANOIDS, Cast
from tests.studio.modelling.orders import ORDER, RIGGER, rigged


def joint(model: Model, name: str) -> Doubles:
    assert model.skeleton is not None
    return np.asarray(model.skeleton.positions[model.skeleton.names.index(name)], dtype=np.float64)


def turned(model: Model, name: str) -> Doubles:
    """How far each vertex moves when one joint is turned; what is nothing but rounding is nothing."""
    assert model.skeleton is not None
    rotations = np.tile(np.array([0, 0, 0, 1], dtype=np.float32), (1, len(model.skeleton.names), 1))
    rotations[0, model.skeleton.names.index(name)] = [np.sin(0.3), 0, 0, np.cos(0.3)]
    moved, _ = posed(model, Clip("turned", np.zeros(1, dtype=np.float32), rotations), 0.0)
    away = np.linalg.norm(moved.astype(np.float64) - model.positions, axis=1)
    return np.where(away > 1e-5, away, 0.0)


@pytest.mark.parametrize("name", [name for name in BODIES if name != "a thing"])
def test_every_joint_lies_inside_the_body_and_every_vertex_follows_up_to_four(cast: Cast, name: str) -> None:
    model, kind = read_glb(cast(name) / "rig.glb"), BODIES[name][1]
    assert model.skeleton is not None
    assert model.joints is not None
    assert model.weights is not None
    assert model.skeleton.names == list(TEMPLATES[kind])
    assert occupied(model.positions, model.faces, rows=96).holds(model.skeleton.positions).all()
    np.testing.assert_allclose(model.weights.sum(axis=1, dtype=np.float64), 1, atol=2e-7)
    assert model.weights.min() >= 0
    assert model.joints.max() < len(model.skeleton.names)
    assert not model.joints[model.weights == 0].any()
    # No joint is named twice by one vertex.
    named = np.sort(np.where(model.weights > 0, model.joints, 200 + np.arange(4)), axis=1)
    assert (np.diff(named, axis=1) > 0).all()
    # Vertices that were split at the seam of the texture stay together.
    first = np.unique(welded(model.positions), return_index=True)[1][welded(model.positions)]
    assert len(set(first)) < len(model.positions)
    np.testing.assert_array_equal(model.joints, model.joints[first])
    np.testing.assert_array_equal(model.weights, model.weights[first])


@pytest.mark.parametrize("name", HUMANOIDS)
def test_each_joint_of_a_humanoid_moves_what_is_near_and_leaves_what_is_far(cast: Cast, name: str) -> None:
    model = read_glb(cast(name) / "rig.glb")
    assert len(model.skeleton.names if model.skeleton else ()) >= 16
    for moved in TEMPLATES["HUMANOID"]:
        assert (turned(model, moved) > 0.005).any(), moved
    middle = np.abs(model.positions[:, 0]) < 0.15
    crown, soles = middle & (model.positions[:, 1] > 1.72), model.positions[:, 1] < 0.05
    for side, sign in (("left", 1), ("right", -1)):
        for limb in ("LowerArm", "Hand", "LowerLeg", "Foot"):
            assert not turned(model, side + limb)[crown].any()
        if name != "a robe":
            assert not turned(model, f"{side}Foot")[sign * model.positions[:, 0] < -0.1].any()
        assert not turned(model, f"{side}Hand")[sign * model.positions[:, 0] < 0].any()
    assert not turned(model, "head")[soles].any()


def test_the_joints_are_where_the_limbs_were_built() -> None:
    model = person(out=0.5)
    fit, _ = fitted(model, "HUMANOID")
    at = fit.places
    angle = np.radians(12 + 78 * 0.5)
    for side, sign in (("left", 1), ("right", -1)):
        np.testing.assert_allclose(at[f"{side}UpperLeg"][:2], [0.11 * sign, 0.88], atol=0.09)
        np.testing.assert_allclose(at[f"{side}Foot"][:2], [0.13 * sign, 0.1], atol=0.06)
        tip = [(0.22 + 0.6 * np.sin(angle)) * sign, 1.36 - 0.6 * np.cos(angle)]
        np.testing.assert_allclose(fit.tips[f"{side}Hand"][:2], tip, atol=0.1)
        elbow = (np.array([0.22 * sign, 1.36]) + tip) / 2
        np.testing.assert_allclose(at[f"{side}LowerArm"][:2], elbow, atol=0.1)
    assert 1.4 < at["neck"][1] < 1.56
    assert fit.notes == {
        **{f"{side}{said}": said == "ArmFree" for side in ("left", "right") for said in ("ArmFree", "Holds")},
        "legsFree": True,
    }


def test_what_is_held_goes_with_the_hand(tmp_path: Path) -> None:
    staff = ((0.62, 0.2, 0.0), (0.62, 1.7, 0.0), 0.03)
    model = read_glb(rigged(body([*HEAD, *TRUNK, *LEGS, *arms(out=0.45, length=0.52), staff]), tmp_path))
    assert model.extras["rig"]["leftHolds"]
    assert not model.extras["rig"]["rightHolds"]
    held = (model.positions[:, 0] > 0.58) & ((model.positions[:, 1] < 0.7) | (model.positions[:, 1] > 1.5))
    assert held.sum() > 50
    for other in ("leftUpperLeg", "rightHand", "head"):
        assert not turned(model, other)[held].any()
    assert (turned(model, "leftLowerArm")[held] > 0.02).all()


def test_a_brim_makes_no_neck_and_a_staff_is_no_leg() -> None:
    brim: Capsule = ((-0.3, 1.74, 0.0), (0.3, 1.74, 0.0), 0.03)
    close: list[Capsule] = [((0.07 * sign, 0.9, 0), (0.07 * sign, 0.08, 0), 0.08) for sign in (1, -1)]
    staff: Capsule = ((0.4, 0.0, 0.0), (0.4, 1.5, 0.0), 0.03)
    fit, _ = fitted(body([*HEAD, brim, *TRUNK, *close, *arms(out=0.2, length=0.5), staff]), "HUMANOID")
    # It stands beside the middle of all that there is, for the staff counts as well.
    middle = fit.places["hips"][0]
    assert 1.38 < fit.places["neck"][1] < 1.6
    assert fit.places["leftUpperLeg"][0] > middle > fit.places["rightUpperLeg"][0]
    assert abs(fit.places["neck"][0] - middle) < 0.06


@pytest.mark.parametrize(("seen", "axis"), [("side", 0), ("front", 2)])
def test_an_animal_has_its_head_in_front_and_its_tail_behind(cast: Cast, seen: str, axis: int) -> None:
    model = read_glb(cast(f"an animal from the {seen}") / "rig.glb")
    order = [joint(model, name)[axis] for name in ("tailTip", "tail", "hips", "spine", "chest", "neck", "head")]
    assert order == sorted(order)
    assert joint(model, "head")[1] > joint(model, "chest")[1] > joint(model, "leftFrontFoot")[1]
    # Whoever looks along +x has the left at -z, and along +z at +x.
    across, sign = (2, -1) if axis == 0 else (0, 1)
    for end in ("Front", "Hind"):
        assert sign * (joint(model, f"left{end}Foot") - joint(model, f"right{end}Foot"))[across] > 0.1
        assert (turned(model, f"left{end}Foot") > 0.005).any()


def test_a_body_from_elsewhere_is_put_on_the_ground_and_made_as_tall_as_a_person(tmp_path: Path) -> None:
    model = person()
    model.positions = model.positions * 40 + np.array([7, -300, 2], dtype=np.float32)
    found = read_glb(rigged(model, tmp_path))
    low, high = found.positions.min(axis=0), found.positions.max(axis=0)
    np.testing.assert_allclose([low[1], high[1], low[0] + high[0], low[2] + high[2]], [0, 1.8, 0, 0], atol=1e-3)


def test_a_thing_has_one_joint_and_all_of_it_follows(cast: Cast) -> None:
    model = read_glb(cast("a thing") / "rig.glb")
    assert model.skeleton is not None
    assert model.skeleton.names == ["root"]
    assert (turned(model, "root")[model.positions[:, 1] > 0.1] > 0.01).all()


def test_what_was_made_is_told_and_the_same_mesh_gives_the_same_bytes(cast: Cast, tmp_path: Path) -> None:
    once = (cast("arms down") / "rig.glb").read_bytes()
    made = RIGGER.rig(cast("arms down") / "retopo.glb", ORDER, tmp_path / "again.glb", ListeningReporter())
    assert (tmp_path / "again.glb").read_bytes() == once
    assert made.metrics["joints"] == 19
    assert made.metrics["weights_per_vertex"] == 4
    assert made.metrics["bytes"] == len(once)
    assert (RIGGER.name, RIGGER.version) == ("penstock.rigger", "1")


@pytest.mark.parametrize("size", [(1, 1, 1e-5), (1, 1, 0), (1e-7, 1, 1e-7), (1e-4, 1e-4, 1e-4)])
def test_a_body_as_thin_as_a_line_or_a_sheet_is_rigged_all_the_same(tmp_path: Path, size: Sequence[float]) -> None:
    model = person()
    model.positions = (model.positions * np.array(size)).astype(np.float32)
    for kind in TEMPLATES:
        found = read_glb(rigged(model, tmp_path, kind=kind))
        assert found.skeleton is not None
        assert np.isfinite(found.skeleton.positions).all()
        assert found.weights is not None
        np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-6)


def test_what_has_no_height_no_mesh_or_no_such_rig_is_refused_for_good(tmp_path: Path) -> None:
    def refused(mesh: str, said: str, kind: str = "HUMANOID") -> None:
        with pytest.raises(Terminal, match=said):
            RIGGER.rig(tmp_path / mesh, replace(ORDER, rig=kind), tmp_path / "rig.glb", ListeningReporter())
        assert not (tmp_path / "rig.glb").exists()

    flat = person()
    flat.positions[:, 1] = 0
    write_glb(flat, tmp_path / "flat.glb")
    write_glb(person(), tmp_path / "person.glb")
    (tmp_path / "none.glb").write_bytes(b"no mesh")
    refused("flat.glb", "flat")
    refused("none.glb", "not a GLB")
    refused("person.glb", "choose one of HUMANOID, QUADRUPED, STATIC", "SNAKE")
