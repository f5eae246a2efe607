"""What the header of an image says, read without decoding anything: how large it is, and what decoding it takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from penstock.media.content_type import sniff

_JPEG_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_PROGRESSIVE = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_BARE = frozenset({0x01, *range(0xD0, 0xDA)})
"Markers of JPEG that nothing follows."
_MOST_MARKERS = 4096
_HEIF_HEAD = 1 << 20
"Bytes within which a picture of this kind says how large it is; what it is made of follows."
_HEIF_SIZE = b"ispe\0\0\0\0"
_HEIF_SIDE = 1 << 16


@dataclass(frozen=True, slots=True)
class Header:
    """An image as it is announced."""

    format: str
    width: int
    height: int
    bytes_per_pixel: int
    "At most so many are needed to decode it, canvases and coefficients too."

    @property
    def memory(self) -> int:
        return self.width * self.height * self.bytes_per_pixel


def header_of(path: Path) -> Header | None:
    """What an image announces; None if that cannot be told, and then only its decoder knows."""
    with path.open("rb") as file:
        beginning = file.read(32)
        if beginning.startswith(b"\x89PNG"):
            return Header("PNG", _big(beginning[16:20]), _big(beginning[20:24]), 13 if _moves(file) else 5)
        if beginning.startswith(b"GIF8"):
            return Header("GIF", _little(beginning[6:8]), _little(beginning[8:10]), 14)
        if beginning[8:12] == b"WEBP":
            return _webp(beginning)
        if beginning[4:8] == b"ftyp":
            return _heif(beginning + file.read(_HEIF_HEAD))
        return _jpeg(file) if beginning.startswith(b"\xff\xd8") else None


def _moves(file: BinaryIO) -> bool:
    """Does a PNG announce, before its first pixel, that more pictures follow?"""
    file.seek(8)
    for _ in range(_MOST_MARKERS):
        head = file.read(8)
        if len(head) < 8 or head[4:] in (b"acTL", b"IDAT"):
            return head[4:] == b"acTL"
        file.seek(_big(head[:4]) + 4, 1)
    return True


def _webp(beginning: bytes) -> Header | None:
    kind, body = beginning[12:16], beginning[20:]
    if kind == b"VP8X":
        width, height = _little(body[4:7]) + 1, _little(body[7:10]) + 1
    elif kind == b"VP8L":
        packed = _little(body[1:5])
        width, height = (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 ":
        width, height = _little(body[6:8]) & 0x3FFF, _little(body[8:10]) & 0x3FFF
    else:
        return None
    return Header("WebP", width, height, 17)


def _heif(head: bytes) -> Header | None:
    """By the largest of the sizes it names: the others are of tiles and of small copies."""
    sizes = [_sides(head, match.end()) for match in re.finditer(re.escape(_HEIF_SIZE), head)]
    known = [size for size in sizes if max(size) <= _HEIF_SIDE]
    if not known:
        return None
    width, height = max(known, key=lambda size: size[0] * size[1])
    if sniff(head).endswith("avif"):
        return Header("AVIF", width, height, 12)
    return Header("HEIC", width, height, 12 if b"auxC" in head else 9)


def _sides(head: bytes, at: int) -> tuple[int, int]:
    return _big(head[at : at + 4]), _big(head[at + 4 : at + 8])


def _jpeg(file: BinaryIO) -> Header | None:
    """The first frame's; what stands before it is skipped, whatever it is."""
    file.seek(2)
    for _ in range(_MOST_MARKERS):
        lead, marker = file.read(1), file.read(1)
        while marker == b"\xff":
            marker = file.read(1)
        if lead != b"\xff" or not marker:
            return None
        if marker[0] in _BARE:
            continue
        length = _big(file.read(2))
        if marker[0] in _JPEG_SIZES:
            told = file.read(6)
            return Header("JPEG", _big(told[3:5]), _big(told[1:3]), 13 if marker[0] in _PROGRESSIVE else 5)
        file.seek(max(length - 2, 0), 1)
    return None


def _big(told: bytes) -> int:
    return int.from_bytes(told, "big")


def _little(told: bytes) -> int:
    return int.from_bytes(told, "little")
