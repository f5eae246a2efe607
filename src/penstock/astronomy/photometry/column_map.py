"""Which column of a table says what."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from penstock.astronomy.photometry.time_reading import TimeReading


@dataclass(frozen=True, slots=True)
class BrightnessColumn:
    """A column of brightnesses, and those that belong to it."""

    value: int
    error: int | None = None
    limit: int | None = None
    band: str = ""
    "The band of the whole column, as the source writes it; empty if rows tell their own or nobody does."
    unit: str = ""
    "As handed on; empty if it is not known."
    error_unit: str = ""
    "As handed on; empty: the same."


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Where in a row stands what. Columns are counted from 0."""

    time: int | None
    brightness: tuple[BrightnessColumn, ...]
    time_reading: TimeReading | None = None
    "What the source says of its times; `None` if nothing."
    band: int | None = None
    telescope: int | None = None
    observer: int | None = None
    filter_system: int | None = None
    unit: int | None = None
    "Rows tell their own unit there."
    target: int | None = None
    "The name of the object."
    method: int | None = None
    "AAVSO's word whether a magnitude is standard or differential."
    validation: int | None = None

    @property
    def last(self) -> int:
        """The highest column that is needed."""
        numbers = [self.time, self.band, self.telescope, self.observer, self.filter_system, self.unit, self.target]
        for each in self.brightness:
            numbers += [each.value, each.error, each.limit]
        return max(number for number in (*numbers, self.method, self.validation, 0) if number is not None)

    def record(self) -> dict[str, Any]:
        """What JSON can say of it, without what is not there."""
        told = asdict(self)
        told["brightness"] = [{k: v for k, v in each.items() if v not in (None, "")} for each in told["brightness"]]
        return {name: value for name, value in told.items() if value is not None}
