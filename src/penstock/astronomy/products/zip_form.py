"""The one form that the frame of a bundle's zip has: everything in it but the bytes of its files."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKED = (".png", ".gz", ".zip", ".jpg", ".webp", ".bz2", ".xz")
"What is compressed already is stored as it is."
_LARGE = zipfile.ZIP64_LIMIT
_LISTED = struct.Struct("<4s4B4HL2L5H2L")
_END = struct.Struct("<4s4H2LH")


def member(name: str) -> zipfile.ZipInfo:
    """How a file of this name is put into a bundle: no date, no owner, the same on every machine."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o100644 << 16
    info.compress_type = zipfile.ZIP_STORED if name.lower().endswith(PACKED) else zipfile.ZIP_DEFLATED
    return info


def out_of_form(path: Path, infos: Sequence[zipfile.ZipInfo]) -> Iterator[str]:
    """What in the frame of a zip is not as a bundle has it: dates, rights, links, comments, bytes of no file."""
    place = 0
    with path.open("rb") as file:
        for info in infos:
            expected = _head(info)
            file.seek(place)
            if info.header_offset != place or file.read(len(expected)) != expected:
                yield f"what stands before {info.filename[:100]!r} is not as a bundle has it"
                return
            place += len(expected) + info.compress_size
        file.seek(place)
        if _is_large(infos, place):  # a list of another form, with numbers of 64 bits
            return
        listing = b"".join(map(_listed, infos))
        rest = listing + _END.pack(b"PK\5\6", 0, 0, len(infos), len(infos), len(listing), place, 0)
        if file.read(len(rest) + 1) != rest:
            yield "its list of files is not as a bundle has it"


def _head(info: zipfile.ZipInfo) -> bytes:
    return _known(info).FileHeader(zip64=True)


def _known(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    known = member(info.filename)
    known.CRC, known.compress_size, known.file_size = info.CRC, info.compress_size, info.file_size
    return known


def _is_large(infos: Sequence[zipfile.ZipInfo], place: int) -> bool:
    sizes = (size for info in infos for size in (info.file_size, info.compress_size))
    return len(infos) > zipfile.ZIP_FILECOUNT_LIMIT or place > _LARGE or any(size > _LARGE for size in sizes)


def _listed(info: zipfile.ZipInfo) -> bytes:
    known = _known(info)
    name = info.filename.encode()
    flags = 0 if info.filename.isascii() else 0x800
    form = (known.create_system, 45, 0, flags, known.compress_type, 0, 0x21)  # 45: with Zip64; 0x21: 1 January 1980
    sizes = (info.CRC, info.compress_size, info.file_size, len(name), 0, 0, 0, 0)
    return _LISTED.pack(b"PK\1\2", 45, *form, *sizes, known.external_attr, info.header_offset) + name
