"""What a file is, by how it begins: never by its name, nor by what a server calls it."""

from __future__ import annotations

import gzip
import zlib
from enum import StrEnum
from pathlib import Path

from penstock.domains.novae.providers.answer_screen import looks_like_a_page

_HEAD = 4096
_FITS = b"SIMPLE  ="
_ZIPS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_PACKED = (
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x1f\x9d", "compress"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "rar"),
)


class FileContent(StrEnum):
    """The kinds of file that archives send."""

    FITS = "fits"
    GZIPPED_FITS = "gzipped_fits"
    ZIP = "zip"
    VOTABLE = "votable"
    TEXT = "text"
    PAGE = "page"
    PACKED = "packed"
    "By something that is not unpacked here."
    OTHER = "other"
    EMPTY = "empty"


def content_of(path: Path) -> FileContent:
    """What a file is."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head.startswith(b"\x1f\x8b"):
        return content_that_begins(head)
    try:
        with gzip.open(path) as unpacked:
            within = unpacked.read(len(_FITS))
    except (OSError, EOFError, zlib.error):
        return FileContent.PACKED
    return FileContent.GZIPPED_FITS if within == _FITS else FileContent.PACKED


def content_that_begins(head: bytes) -> FileContent:
    """What begins like this, if it is not packed by gzip."""
    if not head.strip():
        return FileContent.EMPTY
    if head.startswith(_FITS):
        return FileContent.FITS
    if head.startswith(_ZIPS):
        return FileContent.ZIP
    if looks_like_a_page(head):
        return FileContent.PAGE
    if any(head.startswith(mark) for mark, _ in _PACKED) or head[257:262] == b"ustar":
        return FileContent.PACKED
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith(b"<"):
        return FileContent.VOTABLE if b"VOTABLE" in head.upper() else FileContent.OTHER
    if begin.startswith((b"{", b"[")):
        return FileContent.OTHER
    return FileContent.TEXT if _is_text(head) else FileContent.OTHER


def _is_text(head: bytes) -> bool:
    return b"\x00" not in head and sum(byte < 9 or 13 < byte < 32 for byte in head) == 0
