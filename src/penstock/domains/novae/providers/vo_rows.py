"""The rows of an answer of the Virtual Observatory, as plain values. Import this late: it loads astropy and pyvo."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

from astropy.io.votable import parse
from pyvo.dal import DALFormatError, DALQuery, DALQueryError, DALResults

from penstock.domains.novae.providers.votable_screen import USUAL_VOTABLE, VotableLimits, screen, unusable
from penstock.net.words import excerpt

_FIRST_DAY = datetime(1858, 11, 17, tzinfo=UTC)
_MOST_DAYS = 200_000
_IN_ANGSTROM = {"m": 1e10, "um": 1e4, "nm": 10.0, "angstrom": 1.0, "a": 1.0}
_LONGEST_TEXT = 2000


class _NoSession:
    """Nothing can be fetched by it."""


class ScreenedResults(DALResults):  # type: ignore[misc] # pyvo has no types
    """Results of which an overflow is told, and not printed."""

    def _handle_overflow_warning(self, client_set_maxrec: int | None = None) -> None:
        """It is in ``status``."""


@dataclass(frozen=True, slots=True)
class VoRow:
    """One row: values by the names of their columns and by their utypes, in small letters without a prefix."""

    number: int
    values: dict[str, Any]
    units: dict[str, str] = field(default_factory=dict)

    def text(self, *names: str) -> str | None:
        """The first of these that is told, as text."""
        for name in names:
            value = self.values.get(name)
            if value is not None and not isinstance(value, list):
                return str(value)[:_LONGEST_TEXT]
        return None

    def number_of(self, *names: str) -> float | None:
        """The first of these that is a number."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, int | float) and isfinite(value):
                return float(value)
        return None

    def pair(self, *names: str) -> tuple[float, float] | None:
        """The first of these that is two numbers."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, list) and len(value) == 2 and all(isinstance(each, int | float) for each in value):
                return float(value[0]), float(value[1])
        return None

    def angstrom(self, *names: str) -> float | None:
        """A length in Ångström; metres, if its column has no unit."""
        for name in names:
            length = self.number_of(name)
            factor = _IN_ANGSTROM.get(self.units.get(name, "m").lower())
            if length is not None and factor is not None and length > 0:
                return length * factor
        return None

    def moment(self, *names: str) -> str | None:
        """A modified Julian date as ISO 8601, in UTC."""
        day = self.number_of(*names)
        if day is None or not -_MOST_DAYS < day < _MOST_DAYS:
            return None
        return (_FIRST_DAY + timedelta(days=day)).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class VoAnswer:
    """What a service answered."""

    rows: list[VoRow]
    overflow: bool


def ask(query: DALQuery, *, host: str, limits: VotableLimits = USUAL_VOTABLE) -> VoAnswer:
    """The answer to a query, asked by GET; UnusableAnswer if it cannot be read, or the service says that it failed."""
    return read_answer(DALQuery.submit(query).content, host=host, limits=limits)


def read_answer(content: bytes, *, host: str, limits: VotableLimits = USUAL_VOTABLE) -> VoAnswer:
    """The rows of a VOTable; UnusableAnswer if it cannot be read, or says that something failed."""
    screen(content, host=host, limits=limits)
    try:
        # The session is any that is none: pyvo would make one of its own, and nothing is fetched by it.
        results = ScreenedResults(parse(io.BytesIO(content), verify="ignore", invalid="mask"), session=_NoSession())
        rows = list(_rows(results, limits.rows))
    except DALQueryError as error:
        words = excerpt(str(error.reason or ""))
        raise unusable("SERVICE_REPORTS_ERROR", host, f"says that the query failed: {words}", said=words) from None
    except DALFormatError as wrong:
        raise unusable(
            "ANSWER_MALFORMED", host, f"answered with a VOTable without a table: {excerpt(str(wrong))}"
        ) from None
    except Exception as wrong:
        # Whatever astropy stumbles over is wrong with the answer: that it is XML, and small, was seen before.
        what = f"answered with a VOTable that cannot be read: {excerpt(str(wrong))}"
        raise unusable("ANSWER_MALFORMED", host, what, error=type(wrong).__name__) from None
    return VoAnswer(rows, overflow=str(results.status[0]).lower() == "overflow")


def _rows(results: DALResults, most: int) -> Iterator[VoRow]:
    table = results.resultstable
    names = [_names(each) for each in table.fields]
    units = {
        name: str(each.unit) for each, known in zip(table.fields, names, strict=True) for name in known if each.unit
    }
    data, masks = table.array.data, table.array.mask
    for number in range(min(len(data), most)):
        values: dict[str, Any] = {}
        for known, value, masked in zip(names, data[number], masks[number], strict=True):
            plain = _plain(value, masked)
            for name in known:
                values.setdefault(name, plain)
        yield VoRow(number + 1, values, units)


def _names(field: Any) -> list[str]:
    utype = str(field.utype or "").rpartition(":")[2].lower()
    return [each for each in (utype, str(field.name or "").lower()) if each]


def _plain(value: Any, masked: Any) -> Any:
    """What Python itself has for it; None for what is not told."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list) and (masked is True or getattr(masked, "tolist", lambda: masked)() is True):
        return None
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
