"""Candidates: what those who know names say an object is, put together, and judged without asking anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from penstock.astronomy.sky_position import Position, SkyMatch, match_of, separation
from penstock.domains.novae.nova_names import LONGEST_NAME, further
from penstock.domains.novae.nova_table import normalize_name
from penstock.domains.novae.providers.provider import ClassicalNova, ResolvedObject
from penstock.domains.novae.run_bookkeeping import Doubtful
from penstock.domains.novae.states import DiscoverySource

MOST_ALIASES = 200
"Names of one object that are taken from those who know it."
_SHOWN = 20
"Objects that a person is shown, where a name may mean more."


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date on which an object is said to have been discovered."""

    date: str
    source: DiscoverySource
    about: str
    "Who says so."
    derived: bool = False
    "They have concluded it from other data: it is shown, and not taken."


@dataclass(frozen=True, slots=True)
class Candidate:
    """An object that a name may mean, as all who know it say together."""

    name: str
    names: tuple[str, ...]
    position: Position | None
    kinds: frozenset[ClassicalNova]
    sources: tuple[str, ...]
    object_type: str | None = None
    dates: tuple[FoundDate, ...] = ()

    def told(self) -> dict[str, Any]:
        """As it is kept."""
        at = self.position
        return {
            "name": self.name,
            "names": list(self.names),
            "position": None if at is None else [at.ra_degrees, at.dec_degrees],
            "kinds": sorted(kind.value for kind in self.kinds),
            "sources": list(self.sources),
            "object_type": self.object_type,
            "dates": [asdict(each) for each in self.dates],
        }


def candidate_told(told: Mapping[str, Any]) -> Candidate:
    """A candidate as it was kept."""
    at = told.get("position")
    return Candidate(
        name=told["name"],
        names=tuple(told.get("names", ())),
        position=None if at is None else Position(float(at[0]), float(at[1])),
        kinds=frozenset(map(ClassicalNova, told.get("kinds", ()))),
        sources=tuple(told.get("sources", ())),
        object_type=told.get("object_type"),
        dates=tuple(FoundDate(**{**each, "source": DiscoverySource(each["source"])}) for each in told.get("dates", ())),
    )


def candidate_of(found: ResolvedObject) -> Candidate:
    """One object, as one source has it."""
    at = found.position
    usable = [name for name in found.aliases if name.strip() and len(name) <= LONGEST_NAME and name.isprintable()]
    return Candidate(
        name=found.canonical_name,
        names=tuple(further([found.canonical_name, *usable[:MOST_ALIASES]], [])),
        position=None if at is None else Position(at.ra, at.dec),
        kinds=frozenset([found.is_classical_nova]),
        sources=(found.source,),
        object_type=found.object_type,
        dates=tuple(
            FoundDate(each.date, DiscoverySource.INDEX, found.source, each.derived) for each in found.discovered
        ),
    )


def put_together(found: Iterable[Candidate]) -> list[Candidate]:
    """Objects that share a name, or lie within two arcseconds, are one; in the order in which they were told of."""
    objects: list[Candidate] = []
    for each in found:
        alike = [one for one in objects if _is_same(one, each)]
        rest = [one for one in objects if one not in alike]
        for one in reversed(alike):
            each = _joined(one, each)
        objects = [*rest, each]
    return objects


def _is_same(one: Candidate, other: Candidate) -> bool:
    shared = set(map(normalize_name, one.names)) & set(map(normalize_name, other.names))
    away = apart(one.position, other.position)
    return bool(shared) or (away is not None and match_of(away) is SkyMatch.SAME)


def _joined(one: Candidate, other: Candidate) -> Candidate:
    away = apart(one.position, other.position)
    if (code := contradiction(away)) is not None and away is not None:
        raise Doubtful(
            code,
            f"{one.name} is at {away:.1f} arcseconds from where another source has it",
            details={"matches": [one.told(), other.told()], "arcsec": round(away, 3)},
            asks=[],
        )
    return Candidate(
        name=one.name,
        names=(*one.names, *further(other.names, one.names)),
        position=one.position or other.position,
        kinds=one.kinds | other.kinds,
        sources=tuple(dict.fromkeys([*one.sources, *other.sources])),
        object_type=one.object_type or other.object_type,
        dates=tuple(dict.fromkeys([*one.dates, *other.dates])),
    )


def apart(one: Position | None, other: Position | None) -> float | None:
    """Arcseconds between two places; None where one of them is not known."""
    return None if one is None or other is None else separation(one, other)


def contradiction(arcsec: float | None) -> str | None:
    """Why two of one name may be two, so far apart; None where nothing speaks against it."""
    if arcsec is None or match_of(arcsec) is SkyMatch.SAME:
        return None
    return "COORDINATE_AMBIGUITY" if match_of(arcsec) is SkyMatch.AMBIGUOUS else "COORDINATE_CONFLICT"


NOT_FOUND, NOT_A_NOVA = "NOT_FOUND", "NOT_A_CLASSICAL_NOVA"


def judged(name: str, objects: Sequence[Candidate]) -> Candidate | str:
    """The classical nova that a name means, or the outcome that there is none; Doubtful where nobody can know."""
    if not objects:
        return NOT_FOUND
    if all(each.kinds == {ClassicalNova.NO} for each in objects):
        return NOT_A_NOVA
    matches = [each.told() for each in objects[:_SHOWN]]
    if len(objects) > 1:
        raise Doubtful(
            "AMBIGUOUS_NAME", f"{name} may mean {len(objects)} objects", details={"matches": matches}, asks=[]
        )
    (one,) = objects
    if {ClassicalNova.YES, ClassicalNova.NO} <= one.kinds:
        raise Doubtful(
            "CONTRADICTORY_TYPES",
            f"{one.name} is a classical nova to one source, and none to another",
            details={"matches": matches},
            asks=[],
        )
    if ClassicalNova.YES not in one.kinds:
        what = one.object_type or "an object of no known type"
        raise Doubtful(
            "UNKNOWN_OBJECT_TYPE",
            f"nobody says whether {one.name} is a classical nova; it is {what}",
            details={"matches": matches},
            asks=[],
        )
    return one
