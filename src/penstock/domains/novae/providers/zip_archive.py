"""Unpacking a zip archive that nobody vouches for: all of it is looked at before the first byte is written.

| refused | why |
|---|---|
| more members, bytes or names than are taken; much out of little | a bomb |
| a member that is an archive itself | a bomb in a bomb |
| a path that is absolute, goes up, or names a drive; the same path twice | it would lie elsewhere, or over another |
| links, devices, passwords, ways of packing whose output cannot be bounded | nothing that an archive of spectra has |
"""

from __future__ import annotations

import hashlib
import io
import re
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from penstock.astronomy.judgement import Finding
from penstock.domains.novae.providers.file_contents import FileContent, content_of, content_that_begins
from penstock.domains.novae.providers.provider import UnusableAnswer

_PIECE = 256 * 1024
_LONGEST_LISTING = 2 * 1024 * 1024
"Bytes of the list of members, which is read at once."
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_BOUNDED = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_NESTED = (".zip", ".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz")
_ODD = re.compile(r"[^A-Za-z0-9._+-]+")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, struct.error, ValueError, LookupError, OverflowError)
_SMALL = 8 * 1024 * 1024
"Bytes that an archive may unpack to, however few it has."


@dataclass(frozen=True, slots=True)
class ZipLimits:
    """How much an archive may unpack to."""

    members: int = 500
    bytes: int = 1024**3
    ratio: float = 200.0
    "Bytes out for a byte in."


USUAL_ZIP = ZipLimits()


@dataclass(frozen=True, slots=True)
class ZipMember:
    """A file that was in an archive."""

    name: str
    "As the archive calls it."
    path: Path
    "Where it is now: under a name without anything odd."
    content: FileContent
    byte_length: int
    sha256: str


class _SparingFile(io.RawIOBase):
    """A file of which no more is read at once than is worth holding: the list of members is as long as it claims."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        if offset < 0 and whence == 0:
            raise zipfile.BadZipFile("a member lies before the beginning")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int | None = -1) -> bytes:
        wanted = -1 if size is None else size
        if wanted > _LONGEST_LISTING:
            raise _refused("ARCHIVE_TOO_LARGE", f"its list of members has more than {_LONGEST_LISTING} bytes")
        if wanted < 0:
            wanted = _LONGEST_LISTING
        return self._file.read(wanted)


def unpack(archive: Path, into: Path, *, limits: ZipLimits = USUAL_ZIP) -> list[ZipMember]:
    """The files of an archive, written into an empty folder; UnusableAnswer if one of them may not be.

    What was written before something proved to be wrong stays in the folder, which is the caller's to throw away.
    """
    into.mkdir(parents=True, exist_ok=True)
    with archive.open("rb") as file:
        try:
            with zipfile.ZipFile(_SparingFile(file)) as opened:
                places = _places(opened, archive.stat().st_size, limits)
                return [_written(opened, info, into / place) for info, place in places]
        except _BROKEN as wrong:
            raise _refused("ARCHIVE_DAMAGED", f"it cannot be unpacked: {str(wrong)[:200]}") from None


def _places(opened: zipfile.ZipFile, size: int, limits: ZipLimits) -> list[tuple[zipfile.ZipInfo, str]]:
    """Every file, and where it may be written."""
    infos = opened.infolist()
    if len(infos) > limits.members:
        raise _refused("ARCHIVE_TOO_LARGE", f"it has {len(infos)} members; at most {limits.members} are taken")
    total = sum(info.file_size for info in infos)
    if total > limits.bytes:
        raise _refused("ARCHIVE_TOO_LARGE", f"it unpacks to {total} bytes; at most {limits.bytes} are taken")
    if total > max(_SMALL, limits.ratio * size):
        raise _refused("ARCHIVE_IS_A_BOMB", f"its {size} bytes unpack to {total}", bytes=size, unpacked=total)
    for info in infos:
        _check(info)
    files = [info for info in infos if not info.is_dir()]
    names = [_path(info.filename) for info in files]
    if len({str(name).casefold() for name in names}) < len(names):
        raise _refused("ARCHIVE_UNSAFE", "two of its members have the same path")
    return [
        (info, f"{number:03d}_{_plain(name)}") for number, (info, name) in enumerate(zip(files, names, strict=True))
    ]


def _check(info: zipfile.ZipInfo) -> None:
    shown = info.filename[:100]
    _path(info.orig_filename)  # zipfile forgets what follows a zero
    if info.flag_bits & _ENCRYPTED:
        raise _refused("ARCHIVE_ENCRYPTED", f"its member {shown!r} needs a password", member=shown)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _refused("ARCHIVE_UNSAFE", f"its member {shown!r} is a link or a device and no file", member=shown)
    if info.compress_type not in _BOUNDED:
        raise _refused("ARCHIVE_UNKNOWN_PACKING", f"its member {shown!r} is packed in an unusual way", member=shown)
    if info.filename.lower().endswith(_NESTED):
        raise _nested(shown)


def _path(name: str) -> PurePosixPath:
    """A path that stays where it is put."""
    path = PurePosixPath(name)
    unsafe = _UNSAFE.search(name) or path.is_absolute() or ".." in path.parts or not path.parts or ":" in path.parts[0]
    if unsafe or len(name) > 500:
        raise _refused("ARCHIVE_UNSAFE", f"its member {name[:100]!r} would be written elsewhere", member=name[:100])
    return path


def _plain(path: PurePosixPath) -> str:
    """A name with which nothing can be done but to name a file."""
    return _ODD.sub("_", path.name).lstrip(".-")[-80:] or "file"


def _written(opened: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> ZipMember:
    digest, left = hashlib.sha256(), info.file_size
    with opened.open(info) as member, path.open("xb") as file:
        while piece := member.read(_PIECE):
            if not file.tell() and content_that_begins(piece[:4096]) is FileContent.ZIP:
                raise _nested(info.filename[:100])
            left -= len(piece)
            if left < 0:
                raise _refused("ARCHIVE_IS_A_BOMB", f"its member {info.filename[:100]!r} is longer than it says")
            digest.update(piece)
            file.write(piece)
    return ZipMember(info.filename, path, content_of(path), info.file_size - left, digest.hexdigest())


def _nested(shown: str) -> UnusableAnswer:
    return _refused("ARCHIVE_NESTED", f"its member {shown!r} is an archive itself", member=shown)


def _refused(code: str, what: str, **details: Any) -> UnusableAnswer:
    message = f"the archive is not unpacked: {what}; unpack it by hand, and add the spectrum that is meant"
    return UnusableAnswer(Finding(code, message, details))
