"""Which reading the times of a table get: what its source says, held against what its numbers can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.astronomy.judgement import Assumption, FileVerdict
from penstock.astronomy.photometry.content import TableRefusal, refused
from penstock.astronomy.photometry.number import number
from penstock.astronomy.photometry.photometry_hints import PhotometryHints
from penstock.astronomy.photometry.time_reading import (
    CALENDAR,
    EARLIEST,
    LATEST,
    MJD_ZERO,
    SINCE_OUTBURST,
    TimeReading,
    calendar_date,
    moment_of,
    named_time,
    plausible,
)

_MODIFIED = (15_000.0, 80_000.0)
"Modified Julian dates of 1899 to 2077: so large is no number of days since an outburst."
_LONGEST = 60_000.0
"Days after an outburst; nobody has followed a nova for longer."


@dataclass(frozen=True, slots=True)
class TimeDecision:
    """The reading that was chosen, and what had to be assumed for it."""

    reading: TimeReading
    assumptions: tuple[Assumption, ...] = ()


def decided_time(
    declared: TimeReading | None, cells: Sequence[str], *, outburst: str | None, hints: PhotometryHints
) -> TimeDecision | TableRefusal:
    """How the cells of a column of times are read.

    What its source declares holds while more than half of the numbers are plausible with it. What nobody declares is
    decided by the range of the numbers, and flagged; what fits two readings waits for a person.
    """
    start = moment_of(hints.outburst or outburst or "")
    if hints.time_offset is not None:
        system = declared.system if declared else "JD"
        return _checked(TimeReading(system, f"number{hints.time_offset:+}", float(hints.time_offset)), cells)
    if hints.time_system is not None:
        declared = _by_hint(hints.time_system, declared)
    if declared is not None and not declared.known:
        said = f"Times are called {declared.written!r}, of which no date can be made. Hint time_system or time_offset."
        return refused(FileVerdict.QUARANTINED, "UNKNOWN_TIME", said, value=_example(cells), named=declared.written)
    if declared is not None and declared.written == SINCE_OUTBURST:
        return _since(declared, start, cells)
    if declared is None or not declared.is_calendar:
        dates = sum(calendar_date(cell) is not None for cell in cells)
        if dates > len(cells) / 2:
            return TimeDecision(TimeReading("JD", CALENDAR), _said_otherwise(declared))
    return _undeclared(cells, start) if declared is None else _declared(declared, cells, start)


def _by_hint(word: str, declared: TimeReading | None) -> TimeReading:
    system = declared.system if declared else "JD"
    return named_time(word) or TimeReading(system, word)


def _declared(declared: TimeReading, cells: Sequence[str], start: float | None) -> TimeDecision | TableRefusal:
    if _fits(declared, cells):
        return TimeDecision(declared)
    plain = TimeReading(declared.system, declared.system, scale=declared.scale)
    if not declared.is_calendar and _fits(plain, cells):
        why = f"the source says {declared.written}, and its numbers are Julian dates already"
        return TimeDecision(plain, (Assumption("time_system", plain.written, why),))
    if start is not None and not declared.is_calendar and _most(cells, -_LONGEST, _MODIFIED[0]):
        why = f"the source says {declared.written}; its numbers are small, and a date of outburst is told"
        assumed = Assumption("time_system", SINCE_OUTBURST, why)
        return TimeDecision(TimeReading(declared.system, SINCE_OUTBURST, start), (assumed,))
    if _most(cells, *_MODIFIED):
        return _ambiguous(declared.written, cells)
    return _implausible(declared.written, cells)


def _undeclared(cells: Sequence[str], start: float | None) -> TimeDecision | TableRefusal:
    if _fits(TimeReading(), cells):
        why = "the source does not say what its times are; its numbers are plausible Julian dates"
        return TimeDecision(TimeReading(), (Assumption("time_system", "JD", why),))
    if _most(cells, *_MODIFIED):
        why = "the source does not say what its times are; its numbers are plausible modified Julian dates"
        return TimeDecision(TimeReading("JD", "MJD", MJD_ZERO), (Assumption("time_system", "MJD", why),))
    if start is not None and _most(cells, -_LONGEST, _MODIFIED[0]):
        why = "the source does not say what its times are; its numbers are small, and a date of outburst is told"
        reading = TimeReading("JD", SINCE_OUTBURST, start)
        return TimeDecision(reading, (Assumption("time_system", SINCE_OUTBURST, why),))
    said = f"Nothing says what the times are, and {_example(cells)} is no date that is known. Hint time_system."
    return refused(FileVerdict.QUARANTINED, "UNKNOWN_TIME", said, value=_example(cells))


def _since(declared: TimeReading, start: float | None, cells: Sequence[str]) -> TimeDecision | TableRefusal:
    if start is None:
        said = "Times are counted from the outburst, and no date of it is told. Give it in the ticket or as a hint."
        return refused(FileVerdict.QUARANTINED, "NO_OUTBURST_DATE", said)
    return _checked(replace(declared, origin=start), cells)


def _checked(reading: TimeReading, cells: Sequence[str]) -> TimeDecision | TableRefusal:
    return TimeDecision(reading) if _fits(reading, cells) else _implausible(reading.written, cells)


def _fits(reading: TimeReading, cells: Sequence[str]) -> bool:
    moments = (reading.moment(cell) for cell in cells)
    return sum(moment is not None and plausible(moment) for moment in moments) > len(cells) / 2


def _most(cells: Sequence[str], low: float, high: float) -> bool:
    numbers = (number(cell) for cell in cells)
    return sum(value is not None and low <= value <= high for value in numbers) > len(cells) / 2


def _said_otherwise(declared: TimeReading | None) -> tuple[Assumption, ...]:
    if declared is None:
        return ()
    why = f"the source says {declared.written}, and its times are dates of the calendar"
    return (Assumption("time_system", CALENDAR, why),)


def _ambiguous(written: str, cells: Sequence[str]) -> TableRefusal:
    said = (
        f"Times are called {written}, and {_example(cells)} may be a modified Julian date or one less 2400000, half a"
        " day apart. Hint time_system MJD or JD-2400000."
    )
    return refused(
        FileVerdict.QUARANTINED, "AMBIGUOUS_TIME", said, value=_example(cells), candidates=["MJD", "JD-2400000"]
    )


def _implausible(written: str, cells: Sequence[str]) -> TableRefusal:
    said = (
        f"Times are called {written}, and most are no plausible ones, such as {_example(cells)}: Julian dates lie from"
        f" {EARLIEST:.0f} to {LATEST:.0f}. Correct the table, or hint time_system or time_offset."
    )
    return refused(FileVerdict.QUARANTINED, "IMPLAUSIBLE_TIME", said, value=_example(cells))


def _example(cells: Sequence[str]) -> str:
    return repr(cells[0][:40]) if cells else "nothing"
