"""What is made is what others take it for: valid to the validator, and moving in three.js as it moves here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.studio.modelling.glb import read_glb
from penstock.studio.modelling.posing import posed
from tests.studio.modelling.conftest import BODIES, Cast
from tests.studio.modelling.viewers import viewed


@pytest.fixture(scope="module")
def seen(cast: Cast) -> dict[Path, Any]:
    """Every file of every body, looked at in one go."""
    return viewed([cast(name) / file for name in BODIES for file in ("retopo.glb", "rig.glb", "anim.glb")])


@pytest.mark.parametrize("name", BODIES)
def test_the_validator_finds_nothing_to_say(cast: Cast, seen: dict[Path, Any], name: str) -> None:
    for file in ("retopo.glb", "rig.glb", "anim.glb"):
        issues = seen[cast(name) / file]["issues"]
        assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"]


@pytest.mark.parametrize("name", BODIES)
def test_three_js_loads_skin_and_clips_and_moves_each_vertex_as_here(
    cast: Cast, seen: dict[Path, Any], name: str
) -> None:
    path = cast(name) / "anim.glb"
    model, found = read_glb(path), seen[path]
    assert model.skeleton is not None
    assert found["joints"] == model.skeleton.names
    assert (found["vertices"], found["triangles"]) == (len(model.positions), len(model.faces))
    assert found["texture"] is not None
    assert list(found["clips"]) == [clip.name for clip in model.clips]
    assert all(found["moved"].values()), found["moved"]
    for clip in model.clips:
        played = found["clips"][clip.name]
        assert played["seconds"] == pytest.approx(clip.seconds, abs=1e-4)
        for share, places in zip((0, 0.3, 0.7), played["moments"], strict=True):
            there = posed(model, clip, share * clip.seconds)[0][:: played["every"]]
            np.testing.assert_allclose(places, there, atol=2e-4)
        first, later = (np.array(played["moments"][n]) for n in (0, 1))
        assert np.abs(first - later).max() > 0.003
