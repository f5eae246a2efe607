"""GLB files: what is written is read again to the last bit, others' files are read, and hostile ones are refused."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock.errors import InvalidValue
from penstock.media.errors import UnusableFile
from penstock.studio.modelling.glb import read_glb, write_glb
from penstock.studio.modelling.model import Model
from tests.studio.modelling.bodies import box
from tests.studio.modelling.conftest import Cast

Document = dict[str, Any]


def parts(path: Path) -> tuple[Document, bytes]:
    """The description of a GLB, and its numbers."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<I", content, 12)
    return json.loads(content[20 : 20 + length]), content[20 + length + 8 :]


def put_together(document: Document | bytes, binary: bytes) -> bytes:
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def changed(tmp_path: Path, change: Callable[[Document], Any], model: Model | None = None) -> Path:
    """A file whose description somebody has tampered with."""
    path = tmp_path / "changed.glb"
    write_glb(model or box(), path)
    document, binary = parts(path)
    change(document)
    path.write_bytes(put_together(document, binary))
    return path


def test_what_is_written_is_read_again_to_the_last_bit(cast: Cast, tmp_path: Path) -> None:
    model = read_glb(cast("arms down") / "anim.glb")
    write_glb(model, tmp_path / "again.glb")
    again = read_glb(tmp_path / "again.glb")
    for name in ("positions", "normals", "uv", "faces", "joints", "weights"):
        np.testing.assert_array_equal(getattr(model, name), getattr(again, name))
    assert model.texture == again.texture
    assert model.skeleton is not None
    assert again.skeleton is not None
    assert model.skeleton.names == again.skeleton.names
    assert [clip.name for clip in again.clips] == ["idle", "walk", "wave"]
    for one, other in zip(model.clips, again.clips, strict=True):
        np.testing.assert_array_equal(one.rotations, other.rotations)


def test_the_same_model_gives_the_same_bytes_and_extras_are_told(tmp_path: Path) -> None:
    write_glb(box(), tmp_path / "1.glb", extras={"b": 1, "a": {"ä": [1, None]}})
    write_glb(box(), tmp_path / "2.glb", extras={"a": {"ä": [1, None]}, "b": 1})
    assert (tmp_path / "1.glb").read_bytes() == (tmp_path / "2.glb").read_bytes()
    assert read_glb(tmp_path / "1.glb").extras == {"a": {"ä": [1, None]}, "b": 1}
    with pytest.raises(InvalidValue, match="JSON"):
        write_glb(box(), tmp_path / "3.glb", extras={"now": object()})
    assert not (tmp_path / "3.glb").exists()


def test_meshes_of_others_are_joined_where_they_stand_and_share_one_texture(tmp_path: Path) -> None:
    def twice(document: Document) -> None:
        document["nodes"] = [
            {"children": [1, 2], "translation": [0, 1, 0]},
            {"mesh": 0, "scale": [2, 2, 2]},
            {"mesh": 1, "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]},
        ]
        document["meshes"].append(json.loads(json.dumps(document["meshes"][0])))
        document["meshes"][1]["primitives"][0]["material"] = 1
        document["materials"].append({"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}})

    model = read_glb(changed(tmp_path, twice))
    assert len(model.faces) == 24
    np.testing.assert_allclose(model.positions.min(axis=0), [-0.6, 1, -0.4], atol=1e-6)
    np.testing.assert_allclose(model.positions.max(axis=0), [5.3, 2, 0.4], atol=1e-6)
    # A mirror turns triangles round; they are turned back, so that outside stays outside.
    a, b, c = (model.positions[model.faces[:, n]] for n in range(3))
    outward = (np.cross(b - a, c - a) * model.normals[model.faces[:, 0]]).sum(axis=1)
    assert (outward > 0).all()
    assert model.texture is not None
    atlas = np.asarray(Image.open(io.BytesIO(model.texture)).convert("RGB"))
    seen = [
        atlas[int(v * atlas.shape[0]), int(u * atlas.shape[1])]
        for u, v in (model.uv[:24].mean(0), model.uv[24:].mean(0))
    ]
    assert tuple(seen[1]) == (255, 0, 0)
    assert model.uv.min() >= 0
    assert model.uv.max() <= 1


def test_a_texture_of_another_kind_becomes_a_png(tmp_path: Path) -> None:
    model, jpeg = box(), io.BytesIO()
    Image.new("RGB", (40, 20), (10, 200, 30)).save(jpeg, "JPEG")
    model.texture = jpeg.getvalue()
    write_glb(model, tmp_path / "jpeg.glb")
    texture = read_glb(tmp_path / "jpeg.glb").texture
    assert texture is not None
    picture = Image.open(io.BytesIO(texture))
    assert (picture.format, picture.size) == ("PNG", (40, 20))


def _cycle(document: Document) -> None:
    document["nodes"] += [{"children": [2]}, {"children": [1]}]


def _two_parents(document: Document) -> None:
    document["nodes"] += [{"children": [3]}, {"children": [3]}, {}]


def _elsewhere(document: Document) -> None:
    document["buffers"][0]["uri"] = "http://127.0.0.1/secret.bin"


def _set(*path: Any, to: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to

    return change


HOSTILE: dict[str, tuple[Callable[[Document], Any], str]] = {
    "a billion vertices": (_set("accessors", 0, "count", to=1_000_000_000), "values in one place"),
    "more vertices than there are": (_set("accessors", 0, "count", to=400_000), "more than its part"),
    "a billion corners": (_set("accessors", 3, "count", to=3_000_000_000), "description cannot be read"),
    "a negative count": (_set("accessors", 0, "count", to=-5), "description cannot be read"),
    "an accessor that is not there": (
        _set("meshes", 0, "primitives", 0, "attributes", "POSITION", to=99),
        "accessor 99",
    ),
    "a view that is not there": (_set("accessors", 0, "bufferView", to=77), "buffer view 77"),
    "a view beyond the end": (_set("bufferViews", 0, "byteOffset", to=1 << 30), "beyond the end"),
    "a gigabyte of a view": (_set("bufferViews", 0, "byteLength", to=1 << 30), "beyond the end"),
    "values that lie upon each other": (_set("bufferViews", 0, "byteStride", to=4), "more than its part"),
    "another kind of values": (_set("accessors", 0, "type", to="VEC2"), "VEC3 is meant"),
    "text for a number": (_set("accessors", 0, "count", to="many"), "description cannot be read"),
    "a mesh that is not there": (_set("nodes", 0, "mesh", to=4), "mesh 4"),
    "a scene that is not there": (_set("scene", to=4), "scene 4"),
    "a texture that is not there": (_set("textures", 0, "source", to=4), "image 4"),
    "nodes that hang below themselves": (_cycle, "below themselves"),
    "a node below two others": (_two_parents, "below two others"),
    "a node that is nowhere": (_set("nodes", 0, "translation", to=[1e300, 0, 0]), "placed by"),
    "a node placed by too few numbers": (_set("nodes", 0, "matrix", to=[1, 2]), "placed by 2 numbers"),
    "packed meshes": (_set("extensionsRequired", to=["KHR_draco_mesh_compression"]), "KHR_draco_mesh_compression"),
    "a part elsewhere": (_elsewhere, "outside the file"),
    "nothing to be seen": (_set("scenes", 0, "nodes", to=[]), "no triangles"),
    "a node twice in the scene": (_set("scenes", 0, "nodes", to=[0, 0]), "twice"),
    "strips": (_set("meshes", 0, "primitives", 0, "mode", to=5), "plain triangles"),
    "an indirect mesh": (_set("accessors", 0, "sparse", to={"count": 1}), "sparse"),
    "more nodes than anybody has": (lambda d: d["nodes"].extend([{}] * 20_000), "nodes"),
    "one mesh thousands of times": (
        lambda d: (d["nodes"].extend([{"mesh": 0}] * 2500), d["scenes"][0].update(nodes=[*range(2501)])),
        "join them",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_and_takes_no_memory(tmp_path: Path, name: str) -> None:
    change, said = HOSTILE[name]
    path = changed(tmp_path, change)
    tracemalloc.start()
    try:
        with pytest.raises(UnusableFile, match=said) as refused:
            read_glb(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 32 << 20
    assert len(str(refused.value)) < 300


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.glb", tmp_path / "cut.glb"
    write_glb(box(), whole)
    content = whole.read_bytes()
    for length in [*range(60), *range(60, len(content), 97)]:
        cut.write_bytes(content[:length])
        with pytest.raises(UnusableFile):
            read_glb(cut)
        # Also if it claims that this is all there is.
        if length >= 12:
            cut.write_bytes(content[:8] + struct.pack("<I", length) + content[12:length])
            with pytest.raises(UnusableFile):
                read_glb(cut)


def test_bytes_that_were_flipped_are_refused_or_read_but_never_fail_otherwise(cast: Cast, tmp_path: Path) -> None:
    path, rng = tmp_path / "torn.glb", np.random.default_rng(5)
    document, binary = parts(cast("a thing") / "anim.glb")
    text = json.dumps(document).encode()
    digits = [n for n, character in enumerate(text) if chr(character).isdigit()]
    read = 0
    for _ in range(150):
        torn = bytearray(text)
        for at in rng.choice(digits, 2):
            torn[at] = rng.integers(ord("0"), ord("9") + 1)
        path.write_bytes(put_together(bytes(torn), binary))
        try:
            read_glb(path)
            read += 1
        except UnusableFile:
            pass
    assert 0 < read < 150


def test_deep_and_endless_descriptions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.glb"
    for text in (
        b'{"asset":' + b"[" * 100_000,
        b'{"asset":{"version":"2.0"},"a":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b"",
        b"[]",
    ):
        path.write_bytes(put_together(text, b""))
        with pytest.raises(UnusableFile):
            read_glb(path)
    path.write_bytes(put_together(b'{"asset":{"version":"2.0"}}' + b" " * (5 << 20), b""))
    with pytest.raises(UnusableFile, match="fewer parts"):
        read_glb(path)


def test_a_texture_that_is_a_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    model = box()
    assert model.texture is not None
    header = b"IHDR" + struct.pack(">II", 60_000, 60_000) + model.texture[24:29]
    large = model.texture[:12] + header + struct.pack(">I", zlib.crc32(header)) + model.texture[33:]
    for content in (large, model.texture[:200], b"\x89PNG\r\n\x1a\n", b"no picture", b""):
        model.texture = content
        write_glb(model, tmp_path / "bomb.glb")
        tracemalloc.start()
        try:
            with pytest.raises(UnusableFile, match="texture"):
                read_glb(tmp_path / "bomb.glb")
            assert tracemalloc.get_traced_memory()[1] < 16 << 20
        finally:
            tracemalloc.stop()


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    for value in (np.nan, np.inf, 1e30):
        model = box()
        model.positions[3, 1] = value
        (tmp_path / "nan.glb").unlink(missing_ok=True)
        try:
            write_glb(model, tmp_path / "nan.glb")
        except InvalidValue:
            continue
        with pytest.raises(UnusableFile):
            read_glb(tmp_path / "nan.glb")
