"""The two parts of a GLB: a document in JSON that says what there is, and the bytes it speaks of."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias

from penstock.media.errors import UnusableFile
from penstock.media.extra import need

Bytes: TypeAlias = Any
"An array of numpy's, which is an extra."

_HEADER, _CHUNK = struct.Struct("<4sII"), struct.Struct("<II")
_JSON, _BINARY = 0x4E4F534A, 0x004E4942


@dataclass(frozen=True, slots=True)
class GlbChunks:
    """What a GLB consists of."""

    document: dict[str, Any]
    binary: Bytes
    "Read from the file as they are looked at."


def glb_chunks(path: Path, *, most_bytes: int, most_json: int) -> GlbChunks:
    """Both parts; UnusableFile if the file is none, is cut, or is larger than that."""
    need("numpy")
    import numpy as np

    size = path.stat().st_size
    if size > most_bytes:
        raise UnusableFile(f"the model has {size} bytes; send one of at most {most_bytes}")
    with path.open("rb") as file:
        _check_header(file, size)
        length = _chunk(file, _JSON, size)
        if length > most_json:
            raise UnusableFile(f"the model describes itself in {length} bytes of JSON; at most {most_json} are read")
        document = _document(file.read(length))
        if file.tell() == size:
            return GlbChunks(document, np.zeros(0, np.uint8))
        length, begin = _chunk(file, _BINARY, size), file.tell()
    return GlbChunks(document, np.memmap(path, np.uint8, "r", begin, (length,)) if length else np.zeros(0, np.uint8))


def _check_header(file: BinaryIO, size: int) -> None:
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size or head[:4] != b"glTF":
        raise UnusableFile("the file is no GLB; send a model as binary glTF 2.0")
    _, version, length = _HEADER.unpack(head)
    if version != 2:
        raise UnusableFile(f"the model is glTF {version}; send glTF 2.0")
    if length > size:
        raise UnusableFile(f"the model is cut: it says {length} bytes and ends after {size}; send it whole")
    if length < size:
        raise UnusableFile(f"the model is damaged: it says {length} bytes and has {size}; export it anew")


def _chunk(file: BinaryIO, kind: int, size: int) -> int:
    """The length of the chunk that begins here."""
    head = file.read(_CHUNK.size)
    if len(head) < _CHUNK.size:
        raise UnusableFile("the model is cut: it ends within a header; send it whole")
    length, found = _CHUNK.unpack(head)
    if found != kind:
        raise UnusableFile("the model is damaged: its parts are not those of a GLB; export it anew")
    if length > size - file.tell():
        raise UnusableFile("the model is cut: one of its parts reaches beyond its end; send it whole")
    return int(length)


def _document(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise UnusableFile("the model is damaged: what it says of itself is no JSON; export it anew") from None
    if not isinstance(document, dict):
        raise UnusableFile("the model is damaged: what it says of itself is no object of JSON; export it anew")
    return document


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")
