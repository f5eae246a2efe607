"""The bytes of a file, unpacked, and never more of them than was allowed."""

from __future__ import annotations

import bz2
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.astronomy.spectra.codes import UnusableSpectrum

MOST_BYTES = 256 * 1024 * 1024
"As much as is read of one file, unpacked."

_CHUNK = 1 << 18
_FEED = 1 << 16
_GZIP, _BZIP2, _LZW, _ZIP, _XZ = b"\x1f\x8b", b"BZh", b"\x1f\x9d", b"PK\x03\x04", b"\xfd7zXZ"
_NOT_UNPACKED = {_LZW: "compress (.Z)", _ZIP: "zip", _XZ: "xz"}


def read_contents(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """What is in a file, unpacked if it was packed by gzip or bzip2. An OSError is one of this machine."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            raise _too_large(most_bytes)
        data = file.read(size)
    if not data:
        raise UnusableSpectrum("EMPTY_FILE", "the file is empty: fetch it again")
    for magic, name in _NOT_UNPACKED.items():
        if data.startswith(magic):
            message = f"the file is packed by {name}, which is not unpacked here: unpack it first"
            raise UnusableSpectrum("UNSUPPORTED_COMPRESSION", message, compression=name)
    return _unpacked(data, most_bytes)


def _unpacked(data: bytes, most_bytes: int) -> bytes:
    if data.startswith(_GZIP):
        return _members(data, lambda: zlib.decompressobj(wbits=31), most_bytes)
    if data.startswith(_BZIP2):
        return _members(data, bz2.BZ2Decompressor, most_bytes)
    return data


def _members(data: bytes, begin: Callable[[], Any], most_bytes: int) -> bytes:
    """All members of a packed stream, one after the other; zeros after the last are padding."""
    pieces: list[bytes] = []
    at = 0
    while at < len(data) and any(data[at : at + 64]):
        at = _member(data, at, begin(), pieces, most_bytes)
    return b"".join(pieces)


def _member(data: bytes, at: int, unpacker: Any, pieces: list[bytes], most_bytes: int) -> int:
    """Unpack one member in bounded pieces; gives where it ends."""
    size, rest = sum(map(len, pieces)), b""
    while not unpacker.eof:
        if not rest and getattr(unpacker, "needs_input", True):
            rest, at = data[at : at + _FEED], at + _FEED
        piece = _piece(unpacker, rest)
        # bzip2 keeps what it has not used yet, zlib gives it back.
        rest = getattr(unpacker, "unconsumed_tail", b"")
        size += len(piece)
        if size > most_bytes:
            raise _too_large(most_bytes)
        if not piece and not rest and at >= len(data) and not unpacker.eof:
            raise UnusableSpectrum("TRUNCATED", "the packed stream ends too early: fetch the file again")
        pieces.append(piece)
    return min(at, len(data)) - len(unpacker.unused_data)


def _piece(unpacker: Any, rest: bytes) -> bytes:
    try:
        return bytes(unpacker.decompress(rest, _CHUNK))
    except (zlib.error, OSError, EOFError, ValueError) as error:
        raise UnusableSpectrum("MALFORMED", f"the packed stream is damaged ({error}): fetch it again") from None


def _too_large(most_bytes: int) -> UnusableSpectrum:
    message = f"the file has, or unpacks to, more than {most_bytes} bytes, the most that is read of one: no hint helps"
    return UnusableSpectrum("TOO_LARGE", message, most_bytes=most_bytes)
