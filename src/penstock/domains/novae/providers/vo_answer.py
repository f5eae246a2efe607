"""An answer of the Virtual Observatory: rows of plain values, whatever was sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

_FIRST_DAY = datetime(1858, 11, 17, tzinfo=UTC)
_MOST_DAYS = 200_000
_IN_ANGSTROM = {"m": 1e10, "um": 1e4, "nm": 10.0, "angstrom": 1.0, "a": 1.0}
_LONGEST_TEXT = 2000


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
