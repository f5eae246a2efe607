"""The embedded retopologist: fewer triangles, the same shape and texture, and quads where they are asked for."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock.generation.asset_steps import Made, Retopologist
from penstock.studio.modelling.glb import read_glb, write_glb
from penstock.studio.modelling.measure import measure
from penstock.studio.modelling.model import Model
from penstock.studio.modelling.retopologist import QuadricRetopologist
from penstock.studio.modelling.sculptor import Sculptor
from penstock.work import Terminal
from tests.studio.modelling.drawn import (
    Quiet,
    blob,
    disc,
    figure,
    fitted,
    order,
    overlap,
    ring,
    saved,
    seen,
    thin_cross,
)

RETOPOLOGIST: Retopologist = QuadricRetopologist()


@pytest.fixture(scope="module")
def meshes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("meshes")
    found = {}
    for name, picture in {"figure": figure(), "ring": ring(), "cross": thin_cross(), "disc": disc()}.items():
        kind = "character" if name == "figure" else "prop"
        path = saved(picture, folder / f"{name}.png")
        found[name] = folder / f"{name}.glb"
        Sculptor().model(path, order(kind=kind, platform="MOBILE"), found[name], Quiet())
    return found


def retopologised(mesh: Path, into: Path, budget: int, **more: Any) -> tuple[Model, Made]:
    into.mkdir(exist_ok=True)
    made = RETOPOLOGIST.retopologise(mesh, order(poly_budget=budget, **more), into, Quiet())
    return read_glb(into / "retopo.glb"), made


@pytest.mark.parametrize(("name", "budget"), [("ring", 500), ("cross", 3000), ("disc", 200)])
def test_a_mesh_is_within_its_budget_and_still_closed(
    meshes: dict[str, Path], name: str, budget: int, tmp_path: Path
) -> None:
    model, made = retopologised(meshes[name], tmp_path, budget)
    assert budget - 2 <= made.metrics["faces"] <= budget
    assert len(model.faces) == made.metrics["faces"]
    assert made.metrics["watertight"]
    assert made.metrics["pieces"] == 1
    before = measure(meshes[name])
    assert made.metrics["volume"] == pytest.approx(before["volume"], rel=0.12 if budget > 200 else 0.3)
    assert made.metrics["texture_size"] == before["texture_size"]
    assert model.uv.min() >= 0
    assert model.uv.max() <= 1


def test_thin_limbs_survive_and_the_texture_stays_where_it_was(meshes: dict[str, Path], tmp_path: Path) -> None:
    model, _ = retopologised(meshes["figure"], tmp_path, 500)
    shown, wanted = seen(model), fitted(figure())
    assert overlap(shown, wanted) > 0.9
    both = (shown[..., 3] == 255) & (wanted[..., 3] == 255)
    away = np.abs(shown[..., :3].astype(int) - wanted[..., :3].astype(int)).max(axis=2)[both]
    assert (away < 40).mean() > 0.93


def test_a_ring_keeps_its_hole(meshes: dict[str, Path], tmp_path: Path) -> None:
    model, _ = retopologised(meshes["ring"], tmp_path, 200)
    assert seen(model)[64, 64, 3] == 0
    assert overlap(seen(model), fitted(ring())) > 0.85


def test_a_mesh_within_its_budget_stays_as_it_is(meshes: dict[str, Path], tmp_path: Path) -> None:
    _, made = retopologised(meshes["cross"], tmp_path, 100_000)
    assert made.metrics["kept"]
    assert (tmp_path / "retopo.glb").read_bytes() == meshes["cross"].read_bytes()


@pytest.mark.parametrize("budget", [200, 3000])
def test_most_faces_are_four_sided_where_quads_are_asked_for(
    meshes: dict[str, Path], budget: int, tmp_path: Path
) -> None:
    _, made = retopologised(meshes["figure"], tmp_path, budget, quads=True)
    found = measure(tmp_path / "retopo.obj")
    assert found["quads"] == made.metrics["quads"] >= 0.8
    assert found["triangles"] == made.metrics["faces"] <= budget
    assert found["watertight"]
    assert made.metrics["watertight"]
    assert found["uv_coverage"] == pytest.approx(made.metrics["uv_coverage"], abs=0.01)
    assert found["texture_size"] == made.metrics["texture_size"]
    names = ["retopo.glb", "retopo.mtl", "retopo.obj", "retopo.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_the_same_mesh_and_budget_give_the_same_bytes(meshes: dict[str, Path], tmp_path: Path) -> None:
    for name in ("one", "two"):
        retopologised(meshes["cross"], tmp_path / name, 1000, quads=True)
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


@pytest.mark.parametrize("budget", [-1, 0, 199, 100_001])
def test_a_budget_that_cannot_be_kept_is_refused(meshes: dict[str, Path], budget: int, tmp_path: Path) -> None:
    with pytest.raises(Terminal, match=f"{budget}.*200 to 100000"):
        retopologised(meshes["disc"], tmp_path, budget)


def test_a_mesh_of_nothing_but_seams_keeps_its_budget_all_the_same(meshes: dict[str, Path], tmp_path: Path) -> None:
    """Other makers give every triangle a place of its own in the texture."""
    given = read_glb(meshes["cross"])
    corners = given.faces.astype(np.int64).ravel()
    apart = Model(
        positions=given.positions[corners],
        normals=given.normals[corners],
        uv=given.uv[corners] * 0.9
        + np.random.default_rng(0).random((len(given.faces), 1, 2)).repeat(3, 1).reshape(-1, 2).astype(np.float32)
        * 0.1,
        faces=np.arange(len(corners), dtype=np.uint32).reshape(-1, 3),
        texture=given.texture,
    )
    write_glb(apart, tmp_path / "apart.glb")
    model, made = retopologised(tmp_path / "apart.glb", tmp_path / "out", 500, quads=True)
    assert made.metrics["faces"] <= 500
    assert made.metrics["quads"] >= 0.8
    assert made.metrics["watertight"]
    assert overlap(seen(model), fitted(thin_cross())) > 0.5


def test_an_open_mesh_keeps_its_edge(tmp_path: Path) -> None:
    side = np.linspace(0, 1, 41)
    x, y = (grid.ravel() for grid in np.meshgrid(side, side))
    number = np.arange(41 * 41).reshape(41, 41)
    a, b, c, d = number[:-1, :-1].ravel(), number[:-1, 1:].ravel(), number[1:, 1:].ravel(), number[1:, :-1].ravel()
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    points = np.stack([x, y, 0.1 * np.sin(5 * x) * y], axis=1).astype(np.float32)
    uv = np.stack([x, 1 - y], axis=1).astype(np.float32)
    normals = np.tile(np.array([0, 0, 1], dtype=np.float32), (len(points), 1))
    picture = BytesIO()
    Image.new("RGB", (64, 64), (9, 99, 9)).save(picture, "PNG")
    write_glb(Model(points, normals, uv, faces.astype(np.uint32), picture.getvalue()), tmp_path / "sheet.glb")
    model, made = retopologised(tmp_path / "sheet.glb", tmp_path / "out", 300)
    assert made.metrics["faces"] <= 300
    assert not made.metrics["watertight"]
    assert np.ptp(model.positions[:, :2], axis=0) == pytest.approx([1, 1], abs=0.02)
    assert np.abs(model.uv - np.stack([model.positions[:, 0], 1 - model.positions[:, 1]], axis=1)).max() < 0.03


def test_a_texture_that_meets_itself_is_not_torn_across(tmp_path: Path) -> None:
    """A label around a bottle begins where it ends, and has no other seam."""
    turn, up = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, 61), np.linspace(0, 1, 31)))
    number = np.arange(61 * 31).reshape(31, 61)
    a, b, c, d = number[:-1, :-1].ravel(), number[:-1, 1:].ravel(), number[1:, 1:].ravel(), number[1:, :-1].ravel()
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    around = np.stack([np.cos(2 * np.pi * turn), 2 * up, -np.sin(2 * np.pi * turn)], axis=1).astype(np.float32)
    picture = BytesIO()
    Image.new("RGB", (64, 64), (9, 99, 9)).save(picture, "PNG")
    uv = np.stack([turn, 1 - up], axis=1).astype(np.float32)
    outwards = (around * [1, 0, 1]).astype(np.float32)
    write_glb(Model(around, outwards, uv, faces.astype(np.uint32), picture.getvalue()), tmp_path / "bottle.glb")
    model, made = retopologised(tmp_path / "bottle.glb", tmp_path / "out", 300)
    assert made.metrics["faces"] <= 300
    assert np.ptp(model.uv[model.faces.astype(np.int64)][..., 0], axis=1).max() < 0.5
    x, _, z = model.positions.T
    off = np.abs((np.arctan2(-z, x) / (2 * np.pi) - model.uv[:, 0] + 0.5) % 1 - 0.5)
    assert off.max() < 0.03


@pytest.mark.parametrize("seed", range(100, 101))
def test_any_blob_keeps_its_budget_and_stays_closed(seed: int, tmp_path: Path) -> None:
    Sculptor().model(saved(blob(seed), tmp_path / "p.png"), order(platform="MOBILE"), tmp_path / "m.glb", Quiet())
    _, made = retopologised(tmp_path / "m.glb", tmp_path / "out", 400, quads=True)
    assert made.metrics["faces"] <= 400
    assert made.metrics["watertight"]
    assert made.metrics["quads"] >= 0.8


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2000, 2150))
def test_any_of_many_blobs_keeps_its_budget(seed: int, tmp_path: Path) -> None:
    test_any_blob_keeps_its_budget_and_stays_closed(seed, tmp_path)


def test_what_is_no_mesh_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.glb"
    text.write_bytes(b"glTF but not really")
    with pytest.raises(Terminal):
        retopologised(text, tmp_path / "out", 500)
    assert [*(tmp_path / "out").iterdir()] == []


def test_a_mesh_without_a_texture_is_simplified_as_well(meshes: dict[str, Path], tmp_path: Path) -> None:
    given = read_glb(meshes["cross"])
    given.texture = None
    write_glb(given, tmp_path / "bare.glb")
    _, made = retopologised(tmp_path / "bare.glb", tmp_path / "out", 500, quads=True)
    assert made.metrics["faces"] <= 500
    assert made.metrics["quads"] >= 0.8
