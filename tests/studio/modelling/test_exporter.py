"""The embedded exporter: everything is there, says where it comes from, moves, and is the same every time."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import trimesh
from PIL import Image

from penstock.generation.asset_steps import AssetExporter
from penstock.media.probe import probe
from penstock.studio.modelling.exporter import ModelExporter
from penstock.studio.modelling.glb import read_glb, write_glb
from penstock.studio.modelling.measure import measure
from penstock.work import Terminal
from tests.generation.listening_reporter import Gone, ListeningReporter
from tests.media.processes import children
from tests.studio.modelling.bodies import box
from tests.studio.modelling.conftest import Cast
from tests.studio.modelling.orders import ORDER

EXPORTER: AssetExporter = ModelExporter()
PROVENANCE: dict[str, Any] = {"prompt": "Jemand, der geht — ✓", "seed": 7, "steps": [{"name": "rig", "version": "1"}]}
FILES = ["asset.glb", "asset.mtl", "asset.obj", "asset.png", "engine.md", "thumbnail.png", "turntable.mp4"]


def export(made: Path, into: Path, provenance: dict[str, Any] = PROVENANCE) -> dict[str, Any]:
    into.mkdir(exist_ok=True)
    return EXPORTER.export(made, ORDER, provenance, into, ListeningReporter()).metrics


@pytest.fixture(scope="module")
def exported(cast: Cast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("exported")
    export(cast("arms down") / "anim.glb", into)
    return into


def cut_out(picture: Path) -> bytes:
    """A PNG without its text."""
    content = picture.read_bytes()
    at = content.index(b"iTXt") - 4
    return content[:at] + content[at + 12 + int.from_bytes(content[at : at + 4]) :]


def frames(film: Path) -> list[Any]:
    with av.open(str(film)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


def test_whoever_asks_for_quads_is_delivered_quads(cast: Cast, tmp_path: Path) -> None:
    made = cast("arms down") / "anim.glb"
    metrics = EXPORTER.export(made, replace(ORDER, quads=True), PROVENANCE, tmp_path, ListeningReporter()).metrics
    found = measure(tmp_path / "asset.obj")
    assert found["quads"] == metrics["quads"] >= 0.8
    assert found["watertight"] == metrics["watertight"]
    assert found["triangles"] == metrics["faces"]
    assert "in quads" in (tmp_path / "engine.md").read_text()


def test_all_files_are_there_and_tell_where_they_come_from(exported: Path) -> None:
    assert sorted(path.name for path in exported.iterdir()) == FILES
    model = read_glb(exported / "asset.glb")
    assert model.extras["provenance"] == PROVENANCE
    assert [clip.name for clip in model.clips] == ["idle", "walk", "wave"]
    for name in ("thumbnail.png", "asset.png"):
        with Image.open(exported / name) as picture:
            picture.load()
            assert json.loads(picture.info["penstock:provenance"]) == PROVENANCE
    with Image.open(exported / "thumbnail.png") as picture:
        assert (picture.size, picture.mode) == ((512, 512), "RGB")
    note = (exported / "engine.md").read_text()
    for said in ("19 joints", "walk (1 s)", "One unit is one metre", f"{len(model.faces)} (budget 3000)"):
        assert said in note


def test_two_exports_differ_in_nothing_but_their_provenance(cast: Cast, exported: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    metrics = export(cast("arms down") / "anim.glb", other, {"seed": 8})
    assert metrics["files"] == {name: (other / name).stat().st_size for name in FILES}
    assert metrics["bytes"] == sum(metrics["files"].values())
    assert (metrics["joints"], metrics["watertight"], metrics["texture_size"]) == (19, True, [256, 256])
    same = {name for name in FILES if (other / name).read_bytes() == (exported / name).read_bytes()}
    assert same == {"asset.mtl", "asset.obj", "engine.md", "turntable.mp4"}
    for name in ("thumbnail.png", "asset.png"):
        signed = [cut_out(folder / name) for folder in (exported, other)]
        assert signed[0] == signed[1], name
    write_glb(read_glb(other / "asset.glb"), tmp_path / "signed.glb", extras={"provenance": PROVENANCE})
    assert (tmp_path / "signed.glb").read_bytes() == (exported / "asset.glb").read_bytes()


def test_the_turntable_turns_and_can_be_played_anywhere(exported: Path) -> None:
    found = probe(exported / "turntable.mp4")
    assert found.picture is not None
    assert (found.picture.codec, found.picture.width, found.picture.height) == ("h264", 360, 360)
    seen = frames(exported / "turntable.mp4")
    assert len(seen) >= 24
    for n, frame in enumerate(seen):
        assert np.abs(frame - seen[n - 1]).mean() > 0.3
    # From behind there is no face: the hair is seen instead.
    front, back = seen[0], seen[len(seen) // 2]
    assert np.abs(front - back).mean() > 2


def test_the_thumbnail_shows_the_whole_model_in_its_colours(exported: Path) -> None:
    seen = np.asarray(Image.open(exported / "thumbnail.png")).astype(int)
    blue = (seen[..., 2] > seen[..., 0] + 50) & (seen[..., 2] > 100)
    skin = (seen[..., 0] > seen[..., 2] + 40) & (seen[..., 0] > 150)
    assert blue.mean() > 0.02
    assert skin.mean() > 0.005
    rows, columns = np.nonzero(blue | skin)
    assert rows.min() > 10
    assert columns.min() > 10
    assert columns.max() < 501
    assert skin.nonzero()[0].mean() < blue.nonzero()[0].mean()


def test_others_load_the_mesh_with_its_texture(exported: Path) -> None:
    model = read_glb(exported / "asset.glb")
    for name in ("asset.glb", "asset.obj"):
        loaded: Any = trimesh.load(exported / name, process=False, force="mesh")
        assert len(loaded.faces) == len(model.faces)
        np.testing.assert_allclose(loaded.bounds, [model.positions.min(axis=0), model.positions.max(axis=0)], atol=1e-5)
        loaded.merge_vertices(merge_tex=True, merge_norm=True)
        assert loaded.is_watertight, name
        assert loaded.volume > 0.02
    glb: Any = trimesh.load(exported / "asset.glb", process=False, force="mesh")
    assert glb.visual.material.baseColorTexture.size == (256, 256)
    obj: Any = trimesh.load(exported / "asset.obj", process=False, force="mesh")
    assert obj.visual.material.image.size == (256, 256)
    # A face is painted in front, on the left half of the texture.
    at = model.positions[:, 1].argmax()
    np.testing.assert_allclose(glb.visual.uv[at], [model.uv[at, 0], 1 - model.uv[at, 1]], atol=1e-6)


def test_a_thing_without_skeleton_or_texture_is_exported_too(tmp_path: Path) -> None:
    model = box()
    model.texture = None
    write_glb(model, tmp_path / "retopo.glb")
    metrics = export(tmp_path / "retopo.glb", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    # Its one colour is the texture.
    assert (metrics["joints"], metrics["clips"], metrics["texture_size"]) == (0, {}, [16, 16])
    seen = frames(tmp_path / "out" / "turntable.mp4")
    assert all(np.abs(frame - seen[n - 1]).mean() > 0.05 for n, frame in enumerate(seen))


@pytest.mark.parametrize("until", [0, 1, 3])
def test_whoever_stops_leaves_no_half_file_and_no_process(cast: Cast, tmp_path: Path, until: int) -> None:
    before = children()
    with pytest.raises(Gone):
        EXPORTER.export(cast("a thing") / "anim.glb", ORDER, {}, tmp_path, ListeningReporter(until=until))
    assert children() <= before
    assert "turntable.mp4" not in {path.name for path in tmp_path.iterdir()}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_what_is_no_model_is_refused_for_good(tmp_path: Path) -> None:
    (tmp_path / "made.glb").write_bytes(b"glTF" + bytes(100))
    with pytest.raises(Terminal, match="version 0"):
        export(tmp_path / "made.glb", tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
    torn, picture = box(), io.BytesIO()
    Image.new("RGB", (64, 64)).save(picture, "PNG")
    torn.texture = picture.getvalue()[:-30]
    write_glb(torn, tmp_path / "made.glb")
    with pytest.raises(Terminal, match="texture"):
        export(tmp_path / "made.glb", tmp_path / "out")
