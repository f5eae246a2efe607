"""Julian dates as days of the calendar, and ticks that fall on whole days, months or years."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

_EPOCH, _EPOCH_JD = date(2000, 1, 1), 2451544.5
_DAYS = (1, 2, 5, 10)
_MONTHS = (1, 2, 3, 6)
_YEARS = (1, 2, 5, 10, 20, 50, 100, 200)
FIRST_JD, LAST_JD = 2086302.5, 5373484.5
"The years 1000 to 9999; other numbers are no Julian dates that a telescope wrote."


def calendar_day(jd: float) -> date:
    """The day, in universal time, that a Julian date falls on."""
    return _EPOCH + timedelta(days=int((jd - _EPOCH_JD) // 1))


def julian_date(day: date) -> float:
    """When a day begins."""
    return _EPOCH_JD + (day - _EPOCH).days


def calendar_ticks(low: float, high: float, *, most: int) -> list[tuple[float, str]]:
    """Whole days, months or years between two Julian dates, each with its words; at most so many, evenly apart."""
    if not FIRST_JD <= low <= high <= LAST_JD:
        return []
    for ticks in _choices(calendar_day(low), calendar_day(high), most):
        inside = [(jd, words) for jd, words in ticks if low <= jd <= high]
        if len(inside) <= most:
            return inside
    return []


def _choices(first: date, last: date, most: int) -> Iterator[list[tuple[float, str]]]:
    """Finer ones first; those that would be far too many are not even made."""
    span = (last - first).days
    for days in _DAYS:
        if span / days <= 2 * most:
            yield [_tick(day, "%Y-%m-%d") for day in _days(first, last, days)]
    for months in _MONTHS:
        if span / (30 * months) <= 2 * most:
            yield [_tick(day, "%Y-%m") for day in _months(first, last, months)]
    for years in _YEARS:
        if span / (365 * years) <= 2 * most:
            yield [_tick(day, "%Y") for day in _years(first, last, years)]


def _tick(day: date, form: str) -> tuple[float, str]:
    return julian_date(day), day.strftime(form)


def _days(first: date, last: date, step: int) -> Iterator[date]:
    offset = first.toordinal() % step
    for ordinal in range(first.toordinal() - offset, last.toordinal() + 2, step):
        yield date.fromordinal(ordinal)


def _months(first: date, last: date, step: int) -> Iterator[date]:
    begin = (first.year * 12 + first.month - 1) // step * step
    for month in range(begin, last.year * 12 + last.month + 1, step):
        yield date(month // 12, month % 12 + 1, 1)


def _years(first: date, last: date, step: int) -> Iterator[date]:
    for year in range(first.year // step * step or step, min(last.year + 1, 9999) + 1, step):
        yield date(year, 1, 1)
