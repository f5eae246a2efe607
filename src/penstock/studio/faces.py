"""Where the mouth of a filmed character is, frame by frame, noted in the film itself.

The note is a box of its own behind everything else in the MP4, which players skip. Whoever cuts the film or encodes it
again leaves it out, so a note is never wrong: it is of these very frames, or it is not there.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

_ID = UUID("5c0f2a6e-6d0b-4f4e-9c58-3f7d1be2a9d1").bytes
"By which the box is known."
_LARGEST = 16_000_000


@dataclass(frozen=True, slots=True)
class Face:
    """The middle of a mouth, and the height of the head it is in, in pixels."""

    x: float
    y: float
    head: float


@dataclass(frozen=True, slots=True)
class Faces:
    """The mouths of all frames of a film, and whose they are."""

    kind: str
    "What kind of character it is; a robot's mouth is another than a cat's."
    frames: Sequence[Face]


def note_faces(film: Path, faces: Faces) -> None:
    """Note them in a film."""
    told = {"kind": faces.kind, "faces": [[round(f.x, 1), round(f.y, 1), round(f.head, 1)] for f in faces.frames]}
    body = _ID + json.dumps(told, separators=(",", ":")).encode()
    with film.open("ab") as file:
        file.write(struct.pack(">I4s", 8 + len(body), b"uuid") + body)


def noted_faces(film: Path) -> Faces | None:
    """What is noted in a film; None if nothing is, or it cannot be read."""
    with film.open("rb") as file:
        for kind, body in _boxes(file, film.stat().st_size):
            if kind == b"uuid" and body <= _LARGEST and file.read(16) == _ID:
                return _read(file.read(body - 16))
    return None


def _boxes(file: BinaryIO, size: int) -> Iterator[tuple[bytes, int]]:
    """The kind of each box and the size of what is in it; the file stands at its beginning."""
    at = 0
    while at + 8 <= size:
        file.seek(at)
        length, kind = struct.unpack(">I4s", file.read(8))
        head = 8
        if length == 1:
            wide = file.read(8)
            length, head = (struct.unpack(">Q", wide)[0] if len(wide) == 8 else 0), 16
        if length < head or at + length > size:
            return
        yield kind, length - head
        at += length


def _read(text: bytes) -> Faces | None:
    try:
        told = json.loads(text)
        return Faces(str(told["kind"]), tuple(Face(float(x), float(y), float(head)) for x, y, head in told["faces"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
