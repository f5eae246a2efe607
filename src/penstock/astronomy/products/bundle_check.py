"""Whether a bundle is whole and unchanged."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.astronomy.products.bundle_name import what_is_wrong
from penstock.astronomy.products.product_bundle import FORMAT, MANIFEST, MOST_ENTRIES, SUMS
from penstock.astronomy.products.zip_form import out_of_form

LARGEST_BUNDLE = 64 * 1024**3
"Bytes of all files together, unpacked, that are read for a check."
_LARGEST_TEXT = 64 * 1024**2
_AT_ONCE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """What a bundle's manifest says, and everything that is wrong with the bundle."""

    manifest: dict[str, Any]
    problems: tuple[str, ...]
    "Sentences; none if the bundle is whole."

    @property
    def whole(self) -> bool:
        """Every file is there with the bytes it had, and nothing else is."""
        return not self.problems


def verify_bundle(path: Path, *, largest: int = LARGEST_BUNDLE) -> CheckedBundle:
    """Read a bundle through and compare every file with its checksum. A file that is no bundle has problems too.

    It finds what was damaged or meddled with. Who replaces a bundle by another whole one is found by the hash of the
    bundle itself, which its record keeps.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _checked(archive, path, largest)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, ValueError, RuntimeError, zlib.error) as wrong:
        return CheckedBundle({}, (f"the bundle cannot be read as a zip: {str(wrong)[:200]}",))


def _checked(archive: zipfile.ZipFile, path: Path, largest: int) -> CheckedBundle:
    problems = [*_members(archive, largest)] or [*out_of_form(path, archive.infolist())]
    if problems:
        return CheckedBundle({}, tuple(problems))
    texts = {name: _text(archive, name) for name in (MANIFEST, SUMS)}
    if missing := [f"{name} is missing or cannot be read" for name, text in texts.items() if text is None]:
        return CheckedBundle({}, tuple(missing))
    manifest, sums = _manifest(texts[MANIFEST] or ""), _sums(texts[SUMS] or "")
    if manifest is None or sums is None:
        return CheckedBundle({}, (f"{MANIFEST if manifest is None else SUMS} is not in the form that bundles have",))
    return CheckedBundle(manifest, tuple(_compared(archive, manifest, sums)))


def _members(archive: zipfile.ZipFile, largest: int) -> Iterator[str]:
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(infos) > MOST_ENTRIES + 2:
        yield f"it has {len(infos):,} files; a bundle has at most {MOST_ENTRIES:,}"
        return
    for info in infos:
        if wrong := what_is_wrong(info.filename):
            yield f"{info.filename[:100]!r} is no name of a file in a bundle: {wrong}"
        if info.flag_bits & 0x1:
            yield f"{info.filename!r} is encrypted"
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        yield f"{twice[0][:100]!r} stands in it twice"
    if (total := sum(info.file_size for info in infos)) > largest:
        yield f"its files have {total:,} bytes together; at most {largest:,} are read"


def _text(archive: zipfile.ZipFile, name: str) -> str | None:
    try:
        info = archive.getinfo(name)
        return archive.read(info).decode() if info.file_size <= _LARGEST_TEXT else None
    except (KeyError, zipfile.BadZipFile, UnicodeDecodeError, zlib.error, EOFError):
        return None


def _manifest(text: str) -> dict[str, Any] | None:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("format") != FORMAT or not isinstance(told.get("files"), list):
        return None
    good = all(isinstance(file, dict) and {"name", "bytes", "sha256"} <= file.keys() for file in told["files"])
    return told if good else None


def _sums(text: str) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for line in text.splitlines():
        digest, gap, name = line[:64], line[64:66], line[66:]
        if gap != "  " or not name or name in found or len(digest.strip("0123456789abcdef")):
            return None
        found[name] = digest
    return found


def _compared(archive: zipfile.ZipFile, manifest: dict[str, Any], sums: dict[str, str]) -> Iterator[str]:
    inside, listed = {*archive.namelist()} - {SUMS}, {str(file["name"]): file for file in manifest["files"]}
    yield from (f"{name} is listed in {SUMS} and missing" for name in sorted(sums.keys() - inside))
    yield from (f"{name} is in the bundle and not listed in {SUMS}" for name in sorted(inside - sums.keys()))
    yield from (f"{name} is listed in {MANIFEST} and missing" for name in sorted(listed.keys() - inside))
    extra = inside - listed.keys() - {MANIFEST}
    yield from (f"{name} is in the bundle and not listed in {MANIFEST}" for name in sorted(extra))
    for name in sorted(inside & sums.keys()):
        yield from _compare(archive, name, sums[name], listed.get(name))


def _compare(archive: zipfile.ZipFile, name: str, sha256: str, told: dict[str, Any] | None) -> Iterator[str]:
    try:
        found, size = _digest(archive, name)
    except (zipfile.BadZipFile, EOFError, zlib.error) as wrong:
        yield f"{name} cannot be unpacked: {str(wrong)[:100]}"
        return
    if found != sha256:
        yield f"{name} was changed: it hashes to {found}, and {SUMS} says {sha256}"
    if told is not None and (told["sha256"] != found or told["bytes"] != size):
        yield f"{name} is not what {MANIFEST} says of it"


def _digest(archive: zipfile.ZipFile, name: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with archive.open(name) as file:
        while piece := file.read(_AT_ONCE):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size
