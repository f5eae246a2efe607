"""What stands in a GLB file, bounded before it is worked on: whoever made it may have claimed anything."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from penstock.media.errors import TooMuchToDecode, UnusableFile
from penstock.studio.modelling.gltf import Gltf

MAGIC, JSON, BINARY = b"glTF", 0x4E4F534A, 0x004E4942
_MOST_BYTES = 128 << 20
_MOST_JSON = 4 << 20
_MOST_CHUNKS = 64
_MOST_VALUES = 6_000_000
"Of one accessor: the corners of two million triangles."

_READABLE = ("KHR_mesh_quantization", "KHR_texture_transform", "EXT_texture_webp")
"What a file may insist on beside the core of the format, and beside materials, which are shown plainly."
_COMPONENTS: dict[int, type[np.generic]] = {
    5120: np.int8,
    5121: np.uint8,
    5122: np.int16,
    5123: np.uint16,
    5125: np.uint32,
    5126: np.float32,
}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

T = TypeVar("T")


def damaged(why: str) -> UnusableFile:
    return UnusableFile(f"the GLB is damaged: {why}; export it anew and send it again")


def open_document(path: Path) -> GlbDocument:
    """What is in a file; nothing of it is unpacked yet."""
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise TooMuchToDecode(f"the GLB has {size >> 20} MB; send one of at most {_MOST_BYTES >> 20} MB")
    content = path.read_bytes()
    if len(content) < 20 or content[:4] != MAGIC:
        raise UnusableFile("the file is not a GLB; export it as binary glTF 2.0")
    version, claimed = struct.unpack_from("<II", content, 4)
    if version != 2:
        raise UnusableFile(f"the GLB is of version {version}; export it as binary glTF 2.0")
    if claimed > len(content):
        raise damaged(f"it says it has {claimed} bytes, and there are {len(content)}")
    chunks = _chunks(content[:claimed])
    return GlbDocument(_understood(chunks.get(JSON, b"")), chunks.get(BINARY, b""))


def _chunks(content: bytes) -> dict[int, bytes]:
    """The first of each kind."""
    found: dict[int, bytes] = {}
    at = 12
    for _ in range(_MOST_CHUNKS):
        if at + 8 > len(content):
            break
        length, kind = struct.unpack_from("<II", content, at)
        if at + 8 + length > len(content):
            raise damaged(f"a part of it says it has {length} bytes, and {len(content) - at - 8} are left")
        found.setdefault(kind, content[at + 8 : at + 8 + length])
        at += 8 + length
    return found


def _understood(text: bytes) -> Gltf:
    if len(text) > _MOST_JSON:
        raise TooMuchToDecode(f"the GLB describes itself in {len(text) >> 20} MB; send one with fewer parts")
    try:
        gltf = msgspec.json.decode(text, type=Gltf)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise damaged(f"its description cannot be read ({str(error)[:120]})") from None
    for extension in gltf.extensions_required:
        if extension not in _READABLE and not extension.startswith("KHR_materials_"):
            raise UnusableFile(f"the GLB needs {extension[:60]}, which is not read here; export it without compression")
    return gltf


class GlbDocument:
    """A description, and the numbers it points to."""

    def __init__(self, gltf: Gltf, binary: bytes) -> None:
        self.gltf, self._binary = gltf, binary

    def one(self, kind: str, of: Sequence[T], index: int) -> T:
        """That one of a list; a file may name any."""
        if index >= len(of):
            raise damaged(f"it names {kind} {index}, and there are {len(of)}")
        return of[index]

    def content(self, view: int) -> bytes:
        """The bytes of a part of the buffer."""
        at, length, _ = self._part(view)
        return self._binary[at : at + length]

    def count(self, accessor: int) -> int:
        """How many values it says it has, which is believed only as far as there may be."""
        count = self.one("accessor", self.gltf.accessors, accessor).count
        if count > _MOST_VALUES:
            raise TooMuchToDecode(
                f"the GLB says it has {count} values in one place; send one of at most {_MOST_VALUES}"
            )
        return count

    def values(self, accessor: int, *kinds: str) -> NDArray[Any]:
        """The values as they are stored, (count, width); those that stand for fractions as fractions."""
        told = self.one("accessor", self.gltf.accessors, accessor)
        count, width, component = self.count(accessor), _WIDTHS.get(told.type), _COMPONENTS.get(told.component_type)
        if width is None or component is None or told.type not in kinds:
            raise damaged(
                f"accessor {accessor} is {told.type[:20]} of {told.component_type}, where {kinds[0]} is meant"
            )
        if told.buffer_view is None or told.sparse is not None:
            raise UnusableFile("the GLB stores only differences from zero; export it without sparse accessors")
        at, length, stride = self._part(told.buffer_view)
        size = width * np.dtype(component).itemsize
        stride = stride or size
        if stride < size or told.byte_offset + stride * (count - 1) + size > length:
            raise damaged(f"accessor {accessor} has {count} values, more than its part of the file holds")
        if not count:
            raise damaged(f"accessor {accessor} has no values")
        strides = (stride, np.dtype(component).itemsize)
        stored: NDArray[Any] = np.ndarray((count, width), component, self._binary, at + told.byte_offset, strides)
        if told.normalized and component is not np.float32:
            most = (1 << (8 * stored.itemsize - (stored.dtype.kind == "i"))) - 1
            return np.asarray(np.maximum(stored.astype(np.float32) / most, -1.0))
        return stored

    def floats(self, accessor: int, *kinds: str) -> NDArray[np.float64]:
        """The values as numbers, all of which are finite and of a size that can be reckoned with."""
        with np.errstate(invalid="ignore"):
            values = self.values(accessor, *kinds).astype(np.float64)
        if not (np.abs(values) < 1e9).all():
            raise damaged(f"accessor {accessor} has a number that is none, or is beyond all measure")
        return values

    def _part(self, view: int) -> tuple[int, int, int | None]:
        told = self.one("buffer view", self.gltf.buffer_views, view)
        buffer = self.one("buffer", self.gltf.buffers, told.buffer)
        if buffer.uri is not None or told.buffer:
            raise UnusableFile("the GLB keeps a part of itself outside the file; export it with all in one file")
        if told.byte_offset + told.byte_length > len(self._binary):
            raise damaged(f"buffer view {view} ends beyond the end of the file")
        return told.byte_offset, told.byte_length, told.byte_stride
