"""Measures are taken from files, and a file that is damaged, too much or of another kind is refused."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from penstock.media.errors import UnusableFile
from penstock.studio.modelling.glb import write_glb
from penstock.studio.modelling.measure import measure
from penstock.studio.modelling.model import Model
from penstock.studio.modelling.pairing import paired
from penstock.studio.modelling.topology import vertex_normals
from penstock.studio.modelling.wavefront import write_obj

CORNERS = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
SQUARES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def box(*, open: bool = False) -> Model:
    squares = SQUARES[:-1] if open else SQUARES
    faces = np.array([half for a, b, c, d in squares for half in ((a, b, c), (a, c, d))])
    picture = BytesIO()
    Image.new("RGB", (64, 32), (9, 99, 9)).save(picture, "PNG")
    uv = (CORNERS[:, :2] * [0.5, 0.5]).astype(np.float32)
    normals = vertex_normals(CORNERS, faces).astype(np.float32)
    return Model(CORNERS.astype(np.float32), normals, uv, faces.astype(np.uint32), picture.getvalue())


def test_a_glb_is_measured(tmp_path: Path) -> None:
    write_glb(box(), tmp_path / "box.glb")
    assert measure(tmp_path / "box.glb") == {
        "faces": 12,
        "vertices": 8,
        "watertight": True,
        "pieces": 1,
        "size": [1.0, 2.0, 3.0],
        "volume": 6.0,
        "uv_coverage": pytest.approx(0.5, abs=0.01),
        "texture_size": [64, 32],
        "joints": 0,
        "clips": {},
        "bytes": (tmp_path / "box.glb").stat().st_size,
    }


def test_a_box_without_a_lid_is_not_closed(tmp_path: Path) -> None:
    write_glb(box(open=True), tmp_path / "box.glb")
    found = measure(tmp_path / "box.glb")
    assert (found["watertight"], found["faces"]) == (False, 10)
    assert "volume" not in found


def test_an_obj_in_quads_is_measured(tmp_path: Path) -> None:
    given = box()
    points = given.positions.astype(np.float64)
    joined = paired(points, given.faces.astype(np.int64))
    write_obj(tmp_path / "box.obj", points, given.normals, given.uv, [joined.quads, joined.triangles], given.texture)
    found = measure(tmp_path / "box.obj")
    assert (found["faces"], found["triangles"], found["quads"], found["watertight"]) == (6, 12, 1.0, True)
    assert (found["volume"], found["texture_size"]) == (6.0, [64, 32])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["box.mtl", "box.obj", "box.png"]


@pytest.mark.parametrize(
    "text",
    [
        "v 0 0 0\nf 1 2 3\n",
        "v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n",
        "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "v a b c\n",
        "f 0 0 0\n",
        "\0\0\0\nvt\n",
    ],
)
def test_a_damaged_obj_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.obj").write_text(text)
    with pytest.raises(UnusableFile, match="damaged"):
        measure(tmp_path / "bad.obj")


def test_a_material_reads_no_files_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "secret.png")
    (tmp_path / "in" / "a.mtl").write_text("newmtl a\nmap_Kd ../secret.png\n")
    (tmp_path / "in" / "a.obj").write_text("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert measure(tmp_path / "in" / "a.obj")["texture_size"] is None


def test_other_files_are_not_measured(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="GLB or an OBJ"):
        measure(tmp_path / "mesh.fbx")
