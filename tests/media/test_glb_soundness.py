"""A model from elsewhere is looked through before anybody works on it, and no count in it is believed."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from penstock.media.errors import UnusableFile
from penstock.media.glb_soundness import GlbContents, GlbLimits, sound_glb
from tests.media.glbs import changed, glb, tetrahedron, texture
from tests.media.test_samples import sample


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.glb"


def test_what_is_in_a_sound_model_is_told(path: Path) -> None:
    path.write_bytes(glb(*tetrahedron(texture())))
    size = path.stat().st_size
    assert sound_glb(path) == GlbContents(size, faces=4, vertices=4, textures=1, texture_size=8, joints=0, clips=0)
    assert [file.name for file in path.parent.iterdir()] == ["model.glb"]


def test_faces_count_as_often_as_they_are_shown(path: Path) -> None:
    path.write_bytes(changed({"nodes": [{"mesh": 0, "children": [1]}, {"mesh": 0}, {}]}))
    assert sound_glb(path).faces == 8


def test_a_model_needs_no_texture_and_no_list_of_corners(path: Path) -> None:
    path.write_bytes(changed({"meshes.0.primitives.0": {"attributes": {"POSITION": 0}, "mode": 5}}))
    assert sound_glb(path).faces == 2


CUT = glb(*tetrahedron(texture()))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no GLB"),
        (b"<!doctype html><html>Sign in</html>", "no GLB"),
        (CUT[:11], "no GLB"),
        (CUT[:-100], "cut: it says"),
        (CUT + b"\0\0\0\0", "damaged: it says"),
        (b"glTF" + struct.pack("<II", 1, len(CUT)) + CUT[12:], "glTF 1"),
        (struct.pack("<4sII", b"glTF", 2, 12), "cut: it ends within a header"),
        (struct.pack("<4sII", b"glTF", 2, 16) + b"\0\0\0\0", "cut: it ends within a header"),
        (struct.pack("<4sIII4s", b"glTF", 2, 20, 0xFFFFFFFF, b"JSON"), "reaches beyond its end"),
        (struct.pack("<4sIII4s", b"glTF", 2, 20, 0, b"BIN\0"), "its parts are not those of a GLB"),
        (glb(b"{"), "no JSON"),
        (glb(b"[]"), "no object of JSON"),
        (glb(b"[" * 100_000), "no JSON"),
        (glb(b'{"asset": NaN}'), "no JSON"),
        (glb({}), "does not say that it is glTF 2.0"),
        (glb({"asset": {"version": "2.0"}}), "shows no faces"),
    ],
)
def test_what_is_no_whole_model_is_refused(path: Path, content: bytes, words: str) -> None:
    path.write_bytes(content)
    with pytest.raises(UnusableFile, match=words):
        sound_glb(path)


HUGE = 2**31 - 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"accessors.0.count": HUGE}, "says 2147483647 values and has no bytes"),
        ({"accessors.1.count": HUGE}, "says 2147483647 values and has no bytes"),
        ({"accessors.0.count": 10**30}, "of its accessors cannot be"),
        ({"accessors.0.count": -1}, "of its accessors cannot be"),
        ({"accessors.0.count": 4.0}, "of its accessors cannot be"),
        ({"accessors.0.count": True}, "of its accessors cannot be"),
        ({"accessors.0.byteOffset": 4}, "has no bytes"),
        ({"accessors.0.componentType": [5126]}, "of its accessors cannot be"),
        ({"accessors.0.type": {"VEC3": 1}}, "of its accessors cannot be"),
        ({"accessors.0.type": "VEC2"}, "no points in three directions"),
        ({"accessors.1.componentType": 5122}, "of its accessors cannot be"),
        ({"accessors.1.sparse": {"count": HUGE}}, "leaves out some of its values"),
        ({"accessors.0": {"componentType": 5126, "count": HUGE, "type": "VEC3"}}, "leaves out some of its values"),
        (
            {"accessors": [*tetrahedron()[0]["accessors"], {"componentType": 5126, "count": HUGE, "type": "MAT4"}]},
            "leaves out some of its values",
        ),
        ({"bufferViews.0.byteLength": HUGE}, "names more bytes than it has"),
        ({"bufferViews.0.byteOffset": HUGE}, "names more bytes than it has"),
        ({"bufferViews.0.byteStride": 0}, "of its bufferViews cannot be"),
        ({"bufferViews.0.buffer": 1}, "of its buffers cannot be"),
        ({"bufferViews": {}}, "of its bufferViews cannot be"),
        ({"buffers.0.byteLength": HUGE}, "of its buffers cannot be"),
        ({"buffers.0.uri": "https://example.com/x.bin"}, "not within its file"),
        ({"buffers.0.uri": "../../etc/passwd"}, "not within its file"),
        ({"nodes.0.mesh": 1}, "of its meshes cannot be"),
        ({"nodes.0.scale": [1e30, 1, 1]}, "nowhere, or too large"),
        ({"nodes.0.matrix": [1]}, "nowhere, or too large"),
        ({"nodes": [{"mesh": 0, "children": [0]}]}, "within itself"),
        ({"nodes": [{"mesh": 0}, {"children": [2]}, {"children": [1]}]}, "within itself"),
        ({"nodes": [{"children": [2]}, {"children": [2]}, {"mesh": 0}]}, "within two others"),
        ({"nodes": [{"children": [True]}, {}]}, "of its nodes cannot be"),
        ({"nodes": [0]}, "of its nodes cannot be"),
        ({"nodes": []}, "shows no faces"),
        ({"meshes.0.primitives": [3]}, "of its meshes cannot be"),
        ({"meshes.0.primitives.0.attributes": {"NORMAL": 0}}, "of its accessors cannot be"),
        ({"meshes.0.primitives.0.attributes": {"POSITION": 7}}, "of its accessors cannot be"),
        ({"meshes.0.primitives.0.attributes": {"POSITION": 0, "UV": 1}}, "less of some points"),
        ({"meshes.0.primitives.0.material": 0}, "of its materials cannot be"),
        ({"meshes.0.primitives.0.mode": 0}, "shows no faces"),
        ({"skins": [{"joints": [[]]}]}, "of its skins cannot be"),
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "needs 'KHR_draco_mesh_compression'"),
        ({"extensionsRequired": 5}, "of its extensionsRequired cannot be"),
        ({"asset.version": "1.0"}, "does not say that it is glTF 2.0"),
    ],
)
def test_what_a_model_says_of_itself_is_not_believed(path: Path, changes: dict[str, Any], words: str) -> None:
    path.write_bytes(changed(changes))
    with pytest.raises(UnusableFile, match=words):
        sound_glb(path)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1e30])
def test_points_that_are_nowhere_are_refused(path: Path, wrong: float) -> None:
    document, binary = tetrahedron()
    path.write_bytes(glb(document, struct.pack("<f", wrong) + binary[4:]))
    with pytest.raises(UnusableFile, match="nowhere, or too far away"):
        sound_glb(path)


def test_faces_between_points_that_are_not_there_are_refused(path: Path) -> None:
    document, binary = tetrahedron()
    path.write_bytes(glb(document, binary[:-2] + struct.pack("<H", 4)))
    with pytest.raises(UnusableFile, match="between points that it does not have"):
        sound_glb(path)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (GlbLimits(bytes=100), "send one of at most 100"),
        (GlbLimits(json=100), "bytes of JSON"),
        (GlbLimits(faces=39), "has 40 faces and 40 vertices; send one of at most 39 and"),
        (GlbLimits(vertices=39), "at most 2000000 and 39"),
        (GlbLimits(entries=9), "10 nodes"),
    ],
)
def test_a_model_beyond_a_limit_is_refused(path: Path, limits: GlbLimits, words: str) -> None:
    path.write_bytes(changed({"nodes": [{"mesh": 0}] * 10}))
    with pytest.raises(UnusableFile, match=words):
        sound_glb(path, limits=limits)


def test_a_small_file_that_shows_a_little_very_often_is_refused_at_once(path: Path) -> None:
    """Each of its many parts is the same four faces, and each of its many nodes shows all of them."""
    primitive = {"attributes": {"POSITION": 0}, "indices": 1}
    path.write_bytes(changed({"meshes.0.primitives": [primitive] * 20_000, "nodes": [{"mesh": 0}] * 20_000}))
    with pytest.raises(UnusableFile, match="has 1600000000 faces"):
        sound_glb(path)
    path.write_bytes(changed({"meshes": [{"primitives": [primitive] * 300}] * 10}))
    with pytest.raises(UnusableFile, match="more in it than it shows"):
        sound_glb(path, limits=GlbLimits(faces=2000, vertices=2000))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"images.0": {"uri": "file:///etc/passwd"}}, "not within its file"),
        ({"images.0": {"uri": "https://example.com/x.png"}}, "not within its file"),
        ({"images.0": {"uri": "data:image/png;base64,QUJD"}}, "not within its file"),
        ({"images.0.mimeType": "image/ktx2"}, "not the PNG or JPEG that it says"),
        ({"images.0.mimeType": "image/jpeg"}, "not the PNG or JPEG that it says"),
        ({"images.0.bufferView": 0}, "cannot be read|not an image|damaged|kind"),
        ({"images.0.bufferView": 9}, "of its bufferViews cannot be"),
        ({"textures.0.source": 1}, "of its images cannot be"),
        ({"images": [{"bufferView": 2, "mimeType": "image/png"}] * 17}, "has 17 textures"),
    ],
)
def test_a_texture_is_within_the_file_and_a_sound_picture(path: Path, changes: dict[str, Any], words: str) -> None:
    path.write_bytes(changed(changes, picture=texture()))
    with pytest.raises(UnusableFile, match=words):
        sound_glb(path)
    assert [file.name for file in path.parent.iterdir()] == ["model.glb"]


def test_textures_have_only_so_many_pixels_together(path: Path) -> None:
    images = [{"bufferView": 2, "mimeType": "image/png"}] * 3
    path.write_bytes(changed({"images": images}, picture=texture((100, 100))))
    assert sound_glb(path, limits=GlbLimits(pixels=30_000)).textures == 3
    with pytest.raises(UnusableFile, match="more pixels"):
        sound_glb(path, limits=GlbLimits(pixels=29_999))


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "faces", "joints", "clips"),
    [("Box", 12, 0, 0), ("BoxAnimated", 254, 0, 1), ("RiggedFigure", 256, 19, 1), ("Fox", 576, 24, 3)],
)
def test_models_of_others_are_sound(name: str, faces: int, joints: int, clips: int) -> None:
    found = sound_glb(sample(f"glb/{name}.glb"))
    assert (found.faces, found.joints, found.clips) == (faces, joints, clips)
    assert found.textures == (name == "Fox")


def test_the_document_is_read_as_json_and_not_as_python(path: Path) -> None:
    document, binary = tetrahedron()
    path.write_bytes(glb(json.dumps(document).replace('"count": 12', '"count": 1e400').encode(), binary))
    with pytest.raises(UnusableFile, match="of its accessors cannot be"):
        sound_glb(path)
