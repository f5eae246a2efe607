"""The content of a file, read within bounds and turned into text."""

from __future__ import annotations

import stat
import zlib
from dataclasses import dataclass
from pathlib import Path

from penstock.astronomy.judgement import FileFinding, FileVerdict

MOST_BYTES = 64 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_PIECE = 256 * 1024
_BINARY = {
    b"SIMPLE  =": "a FITS file",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
    b"\x89HDF": "an HDF5 file",
}
_PACKED = {
    b"\x1f\x9d": "compress (.Z)",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7-Zip",
    b"\x28\xb5\x2f\xfd": "zstd",
}


@dataclass(frozen=True, slots=True)
class TableRefusal:
    """That a file is not taken, and why."""

    verdict: FileVerdict
    finding: FileFinding


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file, unpacked."""

    data: bytes
    packed: bool = False
    "They were in gzip."


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file, and in which encoding it was."""

    text: str
    encoding: str
    told: bool = True
    "The encoding is certain: the bytes are valid in it, and other bytes would not be."


def refused(verdict: FileVerdict, code: str, message: str, **details: object) -> TableRefusal:
    """A refusal with its finding."""
    return TableRefusal(verdict, FileFinding(code, message, dict(details)))


def read_content(path: Path, *, most_bytes: int) -> Content | TableRefusal:
    """The bytes of a file, at most so many, whether they are packed or not."""
    try:
        told = path.stat()
        if not stat.S_ISREG(told.st_mode):
            return refused(
                FileVerdict.TERMINAL_INVALID, "NOT_A_FILE", f"{path.name!r} is no regular file. Give a file."
            )
        with path.open("rb") as file:
            data = file.read(min(told.st_size, most_bytes) + 1)  # room is made for as much as is asked for
    except (OSError, ValueError) as error:
        said = f"The file could not be opened: {error}. Try again when it is there and may be read."
        return refused(FileVerdict.RETRYABLE_ERROR, "UNREADABLE_FILE", said, error=type(error).__name__)
    if len(data) > most_bytes:
        return _too_large(most_bytes)
    if not data.startswith(_GZIP):
        return Content(data)
    return _unpacked(data, most_bytes)


def decoded(data: bytes) -> Text | TableRefusal:
    """The text that the bytes are, in UTF-8, UTF-16 with its mark, or Latin-1."""
    for magic, name in _PACKED.items():
        if data.startswith(magic):
            said = f"The file is packed by {name}, which is not unpacked here. Unpack it, and send what is in it."
            return refused(FileVerdict.QUARANTINED, "UNSUPPORTED_COMPRESSION", said, compression=name)
    for magic, what in _BINARY.items():
        if data.startswith(magic):
            return refused(
                FileVerdict.TERMINAL_INVALID, "NOT_TEXT", f"The file is {what}, no table of text.", what=what
            )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _in("utf-16", data)
    if b"\0" in data:
        at = data.index(b"\0")
        said = f"The file is no text: byte {at} is NUL. Save the table as plain text."
        return refused(FileVerdict.TERMINAL_INVALID, "NOT_TEXT", said, byte=at)
    try:
        return Text(data.decode("utf-8-sig"), "utf-8")
    except UnicodeDecodeError:
        return Text(data.decode("latin-1"), "latin-1", told=False)


def _in(encoding: str, data: bytes) -> Text | TableRefusal:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        said = f"The file begins as {encoding} does and is none: {error.reason} at byte {error.start}."
        return refused(FileVerdict.TERMINAL_INVALID, "NOT_TEXT", said, byte=error.start)
    if "\0" in text:
        return refused(FileVerdict.TERMINAL_INVALID, "NOT_TEXT", "The file is no text: it has NUL in it.")
    return Text(text, encoding)


def _unpacked(data: bytes, most_bytes: int) -> Content | TableRefusal:
    """What is in a gzip file; unpacking ends at the limit, whatever the file promises."""
    pieces: list[bytes] = []
    size, rest = 0, data
    try:
        while rest.startswith(_GZIP):
            unpacker = zlib.decompressobj(wbits=31)
            while not unpacker.eof:
                piece = unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
                pieces.append(piece)
                size += len(piece)
                if size > most_bytes:
                    return _too_large(most_bytes)
                if not piece and not rest and not unpacker.eof:
                    raise zlib.error("it ends too early")
            rest = unpacker.unused_data
    except zlib.error as error:
        return refused(
            FileVerdict.TERMINAL_INVALID, "BROKEN_ARCHIVE", f"The gzip file is damaged: {error}. Send it again."
        )
    return Content(b"".join(pieces), packed=True)


def _too_large(most_bytes: int) -> TableRefusal:
    said = (
        f"The file has more than {most_bytes} bytes, packed or unpacked, the most that is read of a table. Split it: no"
        " hint and no ticket helps."
    )
    return refused(FileVerdict.QUARANTINED, "TOO_LARGE", said, most_bytes=most_bytes)
