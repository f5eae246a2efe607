"""What a local index knows of one nova, whichever form its folder has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from penstock.astronomy.judgement import FileFinding
from penstock.domains.novae.model import normalize_name
from penstock.domains.novae.providers.provider import DiscoveryTold, Paper, SkyPlace
from penstock.domains.novae.providers.told_value import told_value

MOST_NOVAE, MOST_FILES = 100_000, 10_000
LONGEST_MANIFEST = 32 * 1024 * 1024
_SEXAGESIMAL = re.compile(r"([+-]?)(\d{1,3})[: ](\d{1,2}(?:\.\d{0,12})?)(?:[: ](\d{1,2}(?:\.\d{0,12})?))?")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]")


@dataclass(slots=True)
class IndexedFile:
    """A file of a nova, by its path within the folder."""

    path: str
    native_id: str | None = None
    ticket: str | None = None
    checksum: str | None = None
    hints: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class IndexedNova:
    """A nova, as the folder tells of it."""

    name: str
    aliases: list[str] = field(default_factory=list)
    position: SkyPlace | None = None
    object_type: str | None = None
    spectra: list[IndexedFile] = field(default_factory=list)
    photometry: list[IndexedFile] = field(default_factory=list)
    bibcodes: list[str] = field(default_factory=list)
    discovered: list[DiscoveryTold] = field(default_factory=list)
    findings: list[FileFinding] = field(default_factory=list)

    @property
    def names(self) -> Iterable[str]:
        return dict.fromkeys((self.name, *self.aliases))

    def tell(self, code: str, what: str, **details: Any) -> None:
        """Something is wrong with what the folder says of it."""
        self.findings.append(FileFinding(code, f"the local index says of {self.name[:100]} {what}", details))


@dataclass(slots=True)
class NovaIndex:
    """All that a folder tells of."""

    novae: list[IndexedNova] = field(default_factory=list)
    papers: dict[str, Paper] = field(default_factory=dict)
    "By their bibcodes."
    findings: list[FileFinding] = field(default_factory=list)
    "What is wrong with what is about no nova."
    by_name: dict[str, list[IndexedNova]] = field(default_factory=dict)

    def arrange(self) -> NovaIndex:
        """Let every nova be found by each of its names."""
        for nova in self.novae:
            for name in {normalize_name(each): None for each in nova.names}:
                self.by_name.setdefault(name, []).append(nova)
        return self

    def called(self, names: Iterable[str]) -> list[IndexedNova]:
        """The novae that are called one of these, each once."""
        found = {id(nova): nova for name in names for nova in self.by_name.get(normalize_name(name), ())}
        return list(found.values())


def safe_path(text: Any) -> str:
    """A path that stays within its folder as far as it can be told from its text; ValueError says what is wrong."""
    if not isinstance(text, str) or not text.strip() or len(text) > 500:
        raise ValueError(f"a file is named by 1 to 500 characters, and not {told_value(text)}")
    path = PurePosixPath(text.strip())
    if _UNSAFE.search(text) or path.is_absolute() or ".." in path.parts or ":" in path.parts[0] or not path.parts:
        raise ValueError(f"the path {text[:100]!r} is not within the folder; write it as spectra/file.fits")
    return str(path)


def within(folder: Path, path: str) -> Path:
    """The file at a path within a folder, links and all; ValueError if there is none, or it lies elsewhere."""
    root = folder.resolve()
    try:
        there = (root / safe_path(path)).resolve(strict=True)
    except (OSError, RuntimeError):
        raise ValueError(f"there is no file {path[:100]!r} in the folder") from None
    if not there.is_relative_to(root) or not there.is_file():
        raise ValueError(f"{path[:100]!r} is a link to elsewhere, or no file; put the file itself into the folder")
    return there


def is_within(folder: Path, path: str) -> bool:
    """Is there such a file within the folder?"""
    try:
        within(folder, path)
    except ValueError:
        return False
    return True


def read_place(ra: Any, dec: Any) -> SkyPlace | None:
    """A position in degrees, or in hours and degrees with colons; None if none is told, ValueError if it is wrong."""
    if ra in (None, "") and dec in (None, ""):
        return None
    return SkyPlace(_angle(ra, hours=True), _angle(dec, hours=False))


def _angle(told: Any, *, hours: bool) -> float:
    if isinstance(told, int | float) and not isinstance(told, bool) and abs(told) < 1e6:
        return float(told)
    text = told.strip() if isinstance(told, str) else told_value(told)
    found = _SEXAGESIMAL.fullmatch(text)
    if found is None:
        try:
            return float(text) if len(text) <= 40 and "_" not in text else float("nan")
        except ValueError:
            raise ValueError(f"{text[:40]!r} is no angle; write degrees, or 17:50:54.0 and -32:37:20") from None
    whole, minutes, seconds = float(found[2]), float(found[3]), float(found[4] or 0)
    if minutes >= 60 or seconds >= 60:
        raise ValueError(f"{text[:40]!r} is no angle: minutes and seconds are less than 60")
    angle = (whole + minutes / 60 + seconds / 3600) * (15 if hours else 1)
    return -angle if found[1] == "-" else angle
