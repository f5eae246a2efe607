"""Is the object of a file the nova that it was given to? What its header, its table or its ticket says, compared with
all that the nova goes by, and with where it is.

| the file says | |
|---|---|
| nothing, or a word that is no name | it goes on |
| a name of the nova, or a place within an arcminute of it | it goes on |
| a name that may be anything | it goes on, with a remark |
| plainly another object, or a place further away | `OBJECT_MISMATCH`: a person looks at it |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.sky_position import Position, separation
from penstock.domains.novae.object_names import goes_by, is_anothers, is_name

MISMATCH = "OBJECT_MISMATCH"
THIS = "this"
"What a person may say in place of the nova's name: it is this one."
NEAR = 60.0
"Arcseconds within which a telescope points at a nova."
NAMED_NEAR = 3600.0
"Arcseconds that a file may be off which has the nova's name: as much as half a century of precession makes."


@dataclass(frozen=True, slots=True)
class ToldObject:
    """What a file, and what comes with it, says of its object."""

    names: Sequence[tuple[str, str]] = ()
    "Each name, with who says it: the file, the table, the ticket."
    position: Position | None = None
    said: str | None = None
    "What a person says that it is; that counts, and nothing else."


@dataclass(frozen=True, slots=True)
class KnownNova:
    """What a nova goes by, and where it is."""

    names: Sequence[str]
    position: Position | None = None
    nova_id: str = ""

    @property
    def name(self) -> str:
        return self.names[0]


@dataclass(frozen=True, slots=True)
class ObjectMatch:
    """What came of the comparison."""

    finding: FileFinding | None = None
    remarks: list[str] = field(default_factory=list)


def matched(told: ToldObject, nova: KnownNova) -> ObjectMatch:
    """Whether a file is about a nova."""
    if told.said is not None:
        return _as_said(told.said, nova)
    names = [(name, who) for name, who in told.names if is_name(name)]
    away = None if told.position is None or nova.position is None else separation(told.position, nova.position)
    named = [pair for pair in names if goes_by(pair[0], nova.names)]
    others = [pair for pair in names if is_anothers(pair[0], nova.names)]
    if away is not None and away <= NEAR:
        return ObjectMatch(remarks=[_remark(*pair, nova) for pair in names if pair not in named])
    if others:
        return ObjectMatch(_another(*others[0], nova, away))
    if away is not None and away > NEAR:
        return _elsewhere(told, nova, away, named=bool(named))
    return ObjectMatch(remarks=[_remark(*pair, nova) for pair in names if pair not in named])


def _as_said(said: str, nova: KnownNova) -> ObjectMatch:
    if said.strip().lower() in (THIS, nova.nova_id.lower()) or goes_by(said, nova.names):
        return ObjectMatch()
    return ObjectMatch(_another(said, "the hint", nova, None))


def _another(name: str, who: str, nova: KnownNova, away: float | None) -> FileFinding:
    reason = (
        f"{who} says that the object is {_cut(name)!r}, and the nova is {nova.name}. If it is this nova, say so with "
        f"the hint object={THIS}, or add {_cut(name)!r} to its aliases and clear it; else reject it"
    )
    details: dict[str, object] = {"told": _cut(name), "told_by": who, "nova": nova.name, "names": list(nova.names[:20])}
    if away is not None:
        details["arcsec"] = round(away, 1)
    return FileFinding(MISMATCH, reason, details)


def _elsewhere(told: ToldObject, nova: KnownNova, away: float, *, named: bool) -> ObjectMatch:
    """A place that is not the nova's; of a file that has its name, only if nothing explains that."""
    assert told.position is not None, "there is something to compare"
    assert nova.position is not None, "there is something to compare"
    if named and (away <= NAMED_NEAR or _in_hours(told.position, nova.position)):
        return ObjectMatch(remarks=[f"the file points {_distance(away)} from {nova.name}"])
    reason = (
        f"the file says that its object is at RA {told.position.ra_degrees:.5f}° "
        f"Dec {told.position.dec_degrees:+.5f}°, which is {_distance(away)} from {nova.name} "
        f"at RA {nova.position.ra_degrees:.5f}° Dec {nova.position.dec_degrees:+.5f}°. "
        f"If it is this nova, say so with the hint object={THIS}; else reject it"
    )
    details = {
        "told": [told.position.ra_degrees, told.position.dec_degrees],
        "nova": nova.name,
        "position": [nova.position.ra_degrees, nova.position.dec_degrees],
        "arcsec": round(away, 1),
    }
    return ObjectMatch(FileFinding(MISMATCH, reason, details))


def _in_hours(told: Position, own: Position) -> bool:
    """Is it the same place, but for a right ascension that was written in hours?"""
    if told.ra_degrees >= 24:
        return False
    return separation(Position(told.ra_degrees * 15, told.dec_degrees), own) <= NAMED_NEAR


def _remark(name: str, who: str, nova: KnownNova) -> str:
    return f"{who} calls its object {_cut(name)!r}, which is no known name of {nova.name}"


def _distance(arcsec: float) -> str:
    if arcsec < 600:
        return f"{arcsec:.0f} arcseconds"
    return f"{arcsec / 60:.0f} arcminutes" if arcsec < 6 * 3600 else f"{arcsec / 3600:.1f} degrees"


def _cut(text: str) -> str:
    return " ".join(text.split())[:80]


def unique(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each name once, by whoever says it first."""
    first: dict[str, tuple[str, str]] = {}
    for name, who in pairs:
        if name.strip():
            first.setdefault(name.strip().lower(), (name.strip(), who))
    return list(first.values())
