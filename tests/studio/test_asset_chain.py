"""The whole chain of embedded makers, as others see what it makes: the validator, three.js, trimesh, Pillow, FFmpeg.

Three orders are tried always, all of them in the long run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import trimesh
from PIL import Image

from penstock.studio.modelling.glb import read_glb
from tests.studio.asset_chain import BACKGROUNDS, MODELS, PROVENANCE, SPRITES, Chained, asked_for, chained
from tests.studio.modelling.viewers import viewed

ROOT = Path(__file__).parents[2]
CLIPS = {"HUMANOID": ["idle", "walk", "wave"], "QUADRUPED": ["idle", "walk", "wag"], "STATIC": ["idle"]}
ALWAYS = ("ranger", "dog", "sword")
MODEL_FILES = {"asset.glb", "asset.obj", "asset.mtl", "asset.png", "engine.md", "thumbnail.png", "turntable.mp4"}


def some(orders: Mapping[str, Any], always: Sequence[str] = ALWAYS) -> list[Any]:
    """All orders, of which few are tried outside the long run."""
    return [name if name in always else pytest.param(name, marks=pytest.mark.long) for name in orders]


def make(name: str, folder: Path) -> Chained:
    return chained(asked_for(name, folder), folder / "made")


@pytest.mark.parametrize("name", some(MODELS))
def test_a_model_is_to_others_what_it_is_said_to_be(name: str, tmp_path: Path) -> None:
    made = make(name, tmp_path)
    seen = viewed([path for path in made.files.values() if path.suffix == ".glb"])
    for path, found in seen.items():
        issues = found["issues"]
        assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), (path.name, issues["messages"][:5])
    export = made.folder / "export"
    assert {path.name for path in export.iterdir()} == MODEL_FILES
    loads_in_trimesh(made)
    moves_in_three(made, seen[export / "asset.glb"])
    measured(made, seen)
    in_quads(made)
    differ_all_around(export / "turntable.mp4")
    assert read_glb(export / "asset.glb").extras["provenance"] == PROVENANCE
    assert seen[export / "asset.glb"]["extras"]["provenance"] == PROVENANCE
    for picture in ("asset.png", "thumbnail.png"):
        assert signature(export / picture) == PROVENANCE


@pytest.mark.parametrize("name", some(MODELS | SPRITES | BACKGROUNDS, ("sword",)))
def test_the_same_order_gives_the_same_bytes_in_another_process(name: str, tmp_path: Path) -> None:
    made = make(name, tmp_path)
    # Words are hashed otherwise there, so that nothing may hang on the order of a set.
    command = [sys.executable, "-m", "tests.studio.asset_chain", name, str(tmp_path / "again")]
    surroundings = {**os.environ, "PYTHONHASHSEED": "4321"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=ROOT, env=surroundings)
    assert done.returncode == 0, done.stderr[-2000:]
    again = {
        str(path.relative_to(tmp_path / "again" / "made")): path.read_bytes()
        for path in (tmp_path / "again" / "made").rglob("*")
        if path.is_file()
    }
    assert again.keys() == made.files.keys()
    assert [file for file, path in made.files.items() if path.read_bytes() != again[file]] == []
    assert json.loads(done.stdout) == json.loads(json.dumps(made.metrics))


@pytest.mark.parametrize("name", some(SPRITES))
def test_a_sprite_sheet_is_what_its_atlas_says(name: str, tmp_path: Path) -> None:
    made = make(name, tmp_path)
    export = made.folder / "export"
    atlas = json.loads((export / "sprites.json").read_text(encoding="utf-8"))
    with Image.open(export / atlas["meta"]["image"]) as picture:
        sheet = picture.convert("RGBA")
    told = made.metrics["export"]
    assert atlas["meta"]["size"] == {"w": sheet.width, "h": sheet.height}
    assert (told["width"], told["height"]) == sheet.size
    assert told["frames"] == {clip: len(frames) for clip, frames in atlas["animations"].items()}
    for clip, least in (("idle", 4), ("walk", 6)):
        cells = [cell_of(sheet, atlas["frames"][frame]) for frame in atlas["animations"][clip]]
        assert len(cells) >= least
        assert min(np.abs(one - other).mean() for one, other in pairwise([*cells, cells[0]])) > 0.05
    differ_all_around(export / "turntable.mp4")
    pictures_are_measured(made)
    for file in ("sprites.png", "thumbnail.png"):
        assert signature(export / file) == PROVENANCE
    assert told["files"] == {path.name: path.stat().st_size for path in export.iterdir()}


@pytest.mark.parametrize("name", some(BACKGROUNDS))
def test_layers_lie_on_one_another_as_the_background(name: str, tmp_path: Path) -> None:
    made = make(name, tmp_path)
    export = made.folder / "export"
    index = json.loads((export / "layers.json").read_text(encoding="utf-8"))
    pictures = []
    for layer in index["layers"]:
        with Image.open(export / layer["image"]) as picture:
            pictures.append(picture.convert("RGBA"))
        assert signature(export / layer["image"]) == PROVENANCE
    assert 3 <= len(pictures) == made.metrics["export"]["layers"] <= 5
    assert pictures[0].getchannel("A").getextrema() == (255, 255)
    stack = pictures[0].copy()
    for layer in pictures[1:]:
        stack.alpha_composite(layer)
    with Image.open(export / "background.png") as whole:
        assert stack.tobytes() == whole.convert("RGBA").tobytes()
        assert (index["width"], index["height"]) == whole.size
    differ_all_around(export / "turntable.mp4")
    pictures_are_measured(made)


def loads_in_trimesh(made: Chained) -> None:
    """Geometry and texture are there, in the GLB as in the OBJ, and closed."""
    told = made.metrics["export"]
    for name in ("asset.glb", "asset.obj"):
        loaded: Any = trimesh.load(made.folder / "export" / name, process=False, force="mesh")
        assert len(loaded.faces) == told["faces"] <= made.order.poly_budget
        material = loaded.visual.material
        texture = material.baseColorTexture if name == "asset.glb" else material.image
        assert list(texture.size) == told["texture_size"]
        # It shows something, and not one colour.
        assert np.asarray(texture.convert("RGB")).std() > 2
        assert loaded.visual.uv.min() >= -1e-6
        assert loaded.visual.uv.max() <= 1 + 1e-6
        loaded.merge_vertices(merge_tex=True, merge_norm=True)
        assert loaded.is_watertight
        assert loaded.volume > 0
        np.testing.assert_allclose(loaded.extents, told["size"], atol=2e-3)


def moves_in_three(made: Chained, found: Mapping[str, Any]) -> None:
    """Skin and clips are there, every joint moves vertices, and so does every clip."""
    if made.order.kind == "prop":
        assert "joints" not in found
        return
    assert list(found["clips"]) == CLIPS[made.order.rig]
    assert len(found["joints"]) >= {"HUMANOID": 16, "QUADRUPED": 16, "STATIC": 1}[made.order.rig]
    assert all(found["moved"].values()), found["moved"]
    for clip in found["clips"].values():
        first, *others = (np.array(moment) for moment in clip["moments"])
        assert max(np.abs(first - other).max() for other in others) > 0.003


def measured(made: Chained, seen: Mapping[Path, Any]) -> None:
    """What the steps say of their files is what others find in them."""
    pictures_are_measured(made)
    for step, name in (("3D", "mesh"), ("retopo", "retopo"), ("rig", "rig"), ("anim", "anim"), ("export", "asset")):
        path = made.files.get(f"{step}/{name}.glb")
        if path is None:
            continue
        told, found = made.metrics[step], seen[path]
        loaded: Any = trimesh.load(path, process=False, force="mesh")
        said = {"faces": len(loaded.faces), "vertices": len(loaded.vertices), "joints": len(found.get("joints", ()))}
        assert {name: told[name] for name in said if name in told} == {n: v for n, v in said.items() if n in told}
        assert (found["triangles"], found["vertices"]) == (said["faces"], said["vertices"])
        if "clips" in told:
            lengths = {clip: played["seconds"] for clip, played in found.get("clips", {}).items()}
            assert told["clips"] == pytest.approx(lengths, abs=1e-3)
        if "texture_size" in told:
            assert told["texture_size"] == found["texture"]
            a, b, c = (loaded.visual.uv[loaded.faces[:, n]] for n in range(3))
            (bu, bv), (cu, cv) = (b - a).T, (c - a).T
            area = np.abs(bu * cv - bv * cu).sum() / 2
            assert told["uv_coverage"] == pytest.approx(area, abs=0.06)
            loaded.merge_vertices(merge_tex=True, merge_norm=True)
            assert told["watertight"] is bool(loaded.is_watertight)
        if step != "export":
            assert told["bytes"] == path.stat().st_size
    export = made.metrics["export"]
    assert export["files"] == {path.name: path.stat().st_size for path in (made.folder / "export").iterdir()}


def pictures_are_measured(made: Chained) -> None:
    for step, name, long in (("text-to-image", "concept.png", 1024), ("refine", "refined.png", 2048)):
        path, told = made.folder / step / name, made.metrics[step]
        with Image.open(path) as picture:
            assert (told["width"], told["height"], told["bytes"]) == (*picture.size, path.stat().st_size)
            assert max(picture.size) >= long
            assert picture.mode == "RGBA"


def in_quads(made: Chained) -> None:
    """Where quads were asked for, an OBJ has them, as anybody can count."""
    path = made.files.get("retopo/retopo.obj")
    assert (path is not None) is made.order.quads
    if path is None:
        return
    corners = [line.count("/") // 2 for line in path.read_text().splitlines() if line.startswith("f ")]
    share = corners.count(4) / len(corners)
    assert share >= 0.8
    assert made.metrics["retopo"]["quads"] == pytest.approx(share, abs=1e-3)
    assert sum(count - 2 for count in corners) <= made.order.poly_budget


def differ_all_around(film: Path) -> None:
    """No two frames that follow each other are the same, and nothing of the film is empty."""
    with av.open(str(film)) as container:
        frames = [frame.to_ndarray(format="rgb24").astype(np.int16) for frame in container.decode(video=0)]
    assert len(frames) >= 24
    changes = [float(np.abs(one - other).mean()) for one, other in pairwise(frames)]
    assert np.median(changes) > 0.1
    assert max(np.abs(frames[0] - frame).mean() for frame in frames) > 0.8
    assert min(frame.std() for frame in frames) > 2


def cell_of(sheet: Image.Image, frame: Mapping[str, Any]) -> Any:
    """A frame of a sheet, which lies in it with nothing cut off."""
    box = frame["frame"]
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["w"] <= sheet.width
    assert box["y"] + box["h"] <= sheet.height
    cell = sheet.crop((box["x"], box["y"], box["x"] + box["w"], box["y"] + box["h"]))
    alpha = np.asarray(cell.getchannel("A"))
    assert alpha.max() == 255
    assert max(alpha[0].max(), alpha[-1].max(), alpha[:, 0].max(), alpha[:, -1].max()) == 0
    return np.asarray(cell.convert("RGBa"), dtype=np.float32)


def signature(path: Path) -> Any:
    """Where a PNG says it comes from."""
    with Image.open(path) as picture:
        return json.loads(picture.info["penstock:provenance"])
