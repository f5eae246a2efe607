"""What a person says of a table that it does not say itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from penstock.astronomy.judgement import Finding
from penstock.astronomy.photometry.raw_table import DELIMITERS
from penstock.astronomy.photometry.time_reading import CALENDAR, SINCE_OUTBURST, moment_of, named_time
from penstock.astronomy.photometry.unit import named_unit
from penstock.astronomy.ticket import MOST_COLUMN

COLUMNS = ("time", "brightness", "error", "band", "limit", "telescope", "observer", "filter_system", "target")
"What a hint may give a column's number for."


@dataclass(frozen=True, slots=True)
class PhotometryHints:
    """What a person says of a table. It goes before what a ticket or the table says."""

    columns: dict[str, int] = field(default_factory=dict)
    "Which column, counted from 0, is time, brightness, error, band, limit, …"
    delimiter: str | None = None
    time_system: str | None = None
    "JD, HJD, BJD, MJD, JD-2450000, CALENDAR or DAYS_SINCE_OUTBURST."
    time_offset: float | None = None
    "Days that are added to the numbers to have Julian dates."
    epoch: str | None = None
    "The moment of all rows, for a table without times."
    outburst: str | None = None
    unit: str | None = None
    band: str | None = None
    target: str | None = None
    "The object whose rows are read, of several in one table."
    table: int | None = None
    "Which table of a VOTable, counted from 1."

    def record(self) -> dict[str, Any]:
        """What JSON can say of it, without what is not said."""
        return {name: value for name, value in asdict(self).items() if value not in (None, {})}


_TEXTS = ("delimiter", "time_system", "epoch", "outburst", "unit", "band", "target")


def hints_of(record: Mapping[str, Any]) -> PhotometryHints | Finding:
    """The hints that JSON tells, or what is wrong with them."""
    unknown = sorted(str(name)[:40] for name in record if name not in PhotometryHints.__dataclass_fields__)
    if unknown:
        return _bad(unknown[0], "is no hint", f"known are {', '.join(PhotometryHints.__dataclass_fields__)}")
    told = {name: value for name, value in record.items() if value is not None}
    for name in _TEXTS:
        if not isinstance(told.get(name, ""), str) or len(told.get(name, "")) > 80:
            return _bad(name, f"is {_shown(told[name])}", "it should be a short text")
    return _columns_wrong(told) or _number_wrong(told) or _word_wrong(told) or PhotometryHints(**told)


def _columns_wrong(told: Mapping[str, Any]) -> Finding | None:
    columns = told.get("columns", {})
    if not isinstance(columns, Mapping):
        return _bad("columns", f"is {_shown(columns)}", "it should say which column is what")
    for name, value in columns.items():
        if name not in COLUMNS or type(value) is not int or not 0 <= value <= MOST_COLUMN:
            known = f"known are {', '.join(COLUMNS)}, each with a number from 0 to {MOST_COLUMN}"
            return _bad("columns", f"has {_shown(name)}: {_shown(value)}", known)
    return None


def _number_wrong(told: Mapping[str, Any]) -> Finding | None:
    table, offset = told.get("table", 1), told.get("time_offset", 0.0)
    if type(table) is not int or table < 1:
        return _bad("table", f"is {_shown(table)}", "it should be a number from 1 on")
    if type(offset) not in (int, float) or not abs(offset) < 1e9:
        return _bad("time_offset", f"is {_shown(offset)}", "it should be a number of days")
    return None


def _word_wrong(told: Mapping[str, Any]) -> Finding | None:
    word = told.get("time_system")
    if word is not None and word not in (CALENDAR, SINCE_OUTBURST) and named_time(word) is None:
        return _bad(
            "time_system", f"is {word!r}", f"known are JD, HJD, BJD, MJD, JD-2450000, {CALENDAR}, {SINCE_OUTBURST}"
        )
    if told.get("delimiter", ",") not in DELIMITERS:
        return _bad("delimiter", f"is {told['delimiter']!r}", f"known are {', '.join(map(repr, DELIMITERS))}")
    if "unit" in told and named_unit(told["unit"]) is None:
        return _bad("unit", f"is {told['unit']!r}", "say mag, mJy, Jy, erg s-1 cm-2 Angstrom-1, …")
    for name in ("epoch", "outburst"):
        if name in told and moment_of(told[name]) is None:
            return _bad(name, f"is {told[name]!r}", "say a Julian date or a date such as 1999-05-22.5")
    return None


def _bad(name: str, what: str, wanted: str) -> Finding:
    return Finding("BAD_HINT", f"The hint {name!r} {what}; {wanted}.", {"hint": name})


def _shown(value: object) -> str:
    return repr(value)[:60]
