"""Names by a resolver that speaks the JSON of MAST: several catalogues' answers to one name, in one list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from penstock.astronomy.judgement import Finding
from penstock.domains.novae.model import normalize_name
from penstock.domains.novae.providers.found_spectra import separation
from penstock.domains.novae.providers.json_answer import json_object
from penstock.domains.novae.providers.object_kinds import kind_of_object
from penstock.domains.novae.providers.provider import ClassicalNova, Resolution, ResolvedObject, SkyPlace
from penstock.domains.novae.providers.told_value import told_value
from penstock.errors import InvalidValue
from penstock.generation.provider_http import ProviderService, Unknown

_MOST = 200
_SAME = 2 / 3600
"Degrees within which two catalogues mean the same star."
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class MastResolver:
    """A resolver elsewhere; ``url`` is what a name is asked of."""

    url: str
    service: ProviderService

    def resolve(self, name: str) -> Resolution:
        """What the catalogues behind it say that a name means; what they agree on is one match."""
        if not name.strip() or len(name) > _LONGEST_NAME:
            raise InvalidValue(f"a name has 1 to {_LONGEST_NAME} characters, and not {len(name)}")
        asked = urlencode({"name": normalize_name(name), "outputFormat": "json", "resolveAll": "true"})
        try:
            answer = json_object(self.service, f"{self.url}{'&' if '?' in self.url else '?'}{asked}")
        except Unknown:
            return Resolution()
        return read_resolution(answer, name, host=self.service.host)


def read_resolution(answer: Mapping[str, Any], name: str, *, host: str) -> Resolution:
    """What an answer says about a name; rows about other names are not of it."""
    rows = answer.get("resolvedCoordinate")
    if not isinstance(rows, list):
        if answer.get("status") in ("", "OK", None) and rows is None and answer:
            return Resolution()
        message = f"{host} answered without the list resolvedCoordinate; look at NC_RESOLVER"
        return Resolution((), (Finding("ANSWER_MALFORMED", message, {"host": host}),))
    wanted = normalize_name(name)
    matches: list[ResolvedObject] = []
    findings: list[Finding] = []
    if len(rows) > _MOST:
        findings.append(Finding("OVERFLOW", f"{host} answered with {len(rows)} rows; {_MOST} are read", {"host": host}))
    for number, row in enumerate(rows[:_MOST], 1):
        searched = row.get("searchString") if isinstance(row, dict) else None
        if isinstance(searched, str) and normalize_name(searched) != wanted:
            continue
        read = _object(row, number, host)
        (matches if isinstance(read, ResolvedObject) else findings).append(read)  # type: ignore[arg-type] # as just asked
    return Resolution(merged(matches), tuple(findings))


def _object(row: Any, number: int, host: str) -> ResolvedObject | Finding:
    told = row if isinstance(row, dict) else {}
    name, ra, dec = told.get("canonicalName"), told.get("ra"), told.get("decl", told.get("dec"))
    if not isinstance(name, str) or not name.strip():
        return _finding("ANSWER_MALFORMED", number, host, "has no canonicalName", {})
    place: SkyPlace | None = None
    if ra is not None or dec is not None:
        try:
            place = SkyPlace(float(ra), float(dec))  # type: ignore[arg-type] # what is no number is told
        except (TypeError, ValueError, OverflowError):
            place_told = {"ra": told_value(ra), "dec": told_value(dec)}
            what = f"has no place on the sky: {place_told['ra']}, {place_told['dec']}"
            return _finding("INVALID_COORDINATES", number, host, what, place_told)
    kind = told.get("objectType") if isinstance(told.get("objectType"), str) else None
    source = told["resolver"][:40] if isinstance(told.get("resolver"), str) else host
    called = " ".join(name.split())[:_LONGEST_NAME]
    plain = called.removeprefix("NAME ").removeprefix("V* ")
    aliases = (called,) if called != plain else ()
    return ResolvedObject(plain, aliases, place, kind, kind_of_object(kind), source)


def _finding(code: str, number: int, host: str, what: str, details: dict[str, Any]) -> Finding:
    return Finding(code, f"row {number} of {host} {what}; it is left out", {"host": host, "row": number, **details})


def merged(found: Iterable[ResolvedObject]) -> tuple[ResolvedObject, ...]:
    """Those of the same name or the same place are one; the first that knows of a nova says so."""
    objects: list[ResolvedObject] = []
    for each in found:
        for index, known in enumerate(objects):
            if _same(known, each):
                objects[index] = joined(known, each)
                break
        else:
            objects.append(each)
    return tuple(objects)


def _same(one: ResolvedObject, other: ResolvedObject) -> bool:
    if one.position is None or other.position is None:
        return normalize_name(one.canonical_name) == normalize_name(other.canonical_name)
    return separation(one.position, other.position) < _SAME


def joined(known: ResolvedObject, more: ResolvedObject) -> ResolvedObject:
    """One object of which two catalogues tell; where they contradict each other, nobody knows what it is."""
    names = dict.fromkeys((*known.aliases, more.canonical_name, *more.aliases))
    aliases = tuple(name for name in names if normalize_name(name) != normalize_name(known.canonical_name))
    kinds = {known.is_classical_nova, more.is_classical_nova} - {ClassicalNova.UNKNOWN}
    types = dict.fromkeys(kind for kind in (known.object_type, more.object_type) if kind)
    return replace(
        known,
        aliases=aliases,
        position=known.position or more.position,
        object_type=" / ".join(types) or None,
        is_classical_nova=kinds.pop() if len(kinds) == 1 else ClassicalNova.UNKNOWN,
        source=", ".join(dict.fromkeys((*known.source.split(", "), more.source))),
    )
