"""Zip archives as nobody should send them, made here."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Mapping

BLOCK = 2880


def fits(text: str = "", *, blocks: int = 1) -> bytes:
    """The beginning of a FITS file, and so many blocks of it."""
    cards = ["SIMPLE  =                    T", "BITPIX  =                    8", "NAXIS   =                    0"]
    if text:
        cards.append(f"COMMENT {text}")
    head = "".join(f"{card:80}" for card in (*cards, "END"))
    return f"{head:{BLOCK}}".encode() + b"\0" * BLOCK * (blocks - 1)


def zipped(members: Mapping[str, bytes], *, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def linked(name: str, to: str) -> bytes:
    """An archive with a symbolic link."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.create_system = 3
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, to)
    return made.getvalue()


def twice(name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(f"{name}1", fits("one"))
        archive.writestr(f"{name}2", fits("two"))
    return made.getvalue().replace(f"{name}2".encode(), f"{name}1".encode())


def renamed(name: bytes, content: bytes = b"x") -> bytes:
    """An archive whose only member has a name that zipfile would not write."""
    placeholder = "A" * len(name)
    return zipped({placeholder: content}, packing=zipfile.ZIP_STORED).replace(placeholder.encode(), name)


def with_password(members: Mapping[str, bytes]) -> bytes:
    """Says that its members need a password."""
    body = bytearray(zipped(members))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = body.find(mark)
        while start >= 0:
            body[start + at] |= 1
            start = body.find(mark, start + 4)
    return bytes(body)


def claiming(members: Mapping[str, bytes], *, size: int) -> bytes:
    """Says in its list that members unpack to another size."""
    body = bytearray(zipped(members))
    start = body.find(b"PK\x01\x02")
    while start >= 0:
        body[start + 24 : start + 28] = struct.pack("<I", size)
        start = body.find(b"PK\x01\x02", start + 4)
    return bytes(body)


def long_listing(size: int) -> bytes:
    """An archive whose end claims a list of members that is as long as this, and is there."""
    listing = b"\0" * size
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(listing), 0, 0)
    return listing + end
