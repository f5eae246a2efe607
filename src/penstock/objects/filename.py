"""How a key becomes the path of a file, and back.

Every key has one path and every path one key, on any file system: also where capital and small letters, or two ways
to write an é, are the same file; where a name is longer than the system allows; and where ``a`` and ``a/b`` are two
objects but cannot be a file and a folder. No path leaves its folder: a part never begins with a dot.

    mv/projects/7/scenes/scene_001.mp4   mv/projects/7/scenes/scene_001.mp4
    README                               %52%45%41%44%4d%45+
    voix/été.wav                         voix/%c3%a9t%c3%a9.wav
    v1.2/model.glb                       v1.2+/model.glb

A folder has no dot in its name and a file has one; where a key has it the other way, a ``+`` tells. A name that is too
long goes on in the next folder: ``,`` marks both ends of the break.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")
_DOT = ord(".")
_ESCAPED = re.compile(r"%([0-9a-f]{2})")
_LONGEST = 200
"Of a name, well below the 255 bytes that file systems take."

BREAK = ","


def path_of(key: str) -> tuple[str, ...]:
    """The names of the folders, and last of the file, where an object lies."""
    *folders, file = key.split("/")
    names = [name for folder in folders for name in _broken(_folder_name(folder))]
    return (*names, *_broken(_file_name(file)))


def part_of(pieces: Sequence[str], *, folder: bool) -> str | None:
    """The part of a key that a name, perhaps in pieces, stands for; None when it stands for none."""
    name = "".join(piece.strip(BREAK) for piece in pieces)
    if _broken(name) != list(pieces):
        return None
    try:
        encoded = name.removesuffix("+")
        part = _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), encoded).encode("latin-1").decode()
    except UnicodeError:
        return None
    return part if part and name == (_folder_name(part) if folder else _file_name(part)) else None


def _folder_name(part: str) -> str:
    name = _escaped(part)
    return f"{name}+" if "." in name else name


def _file_name(part: str) -> str:
    name = _escaped(part)
    return name if "." in name else f"{name}+"


def _escaped(part: str) -> str:
    raw = part.encode()
    last = len(raw) - 1
    return "".join(
        chr(byte) if byte in _PLAIN or (byte == _DOT and 0 < at < last) else f"%{byte:02x}"
        for at, byte in enumerate(raw)
    )


def _broken(name: str) -> list[str]:
    """A name in pieces that a file system takes."""
    pieces = [name[at : at + _LONGEST] for at in range(0, len(name), _LONGEST)]
    last = len(pieces) - 1
    return [f"{BREAK if at else ''}{piece}{BREAK if at < last else ''}" for at, piece in enumerate(pieces)]
