"""Times as tables write them, and the Julian dates they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from penstock.astronomy.photometry.number import number

EARLIEST = 2_300_000.0
"Of 1585: before the oldest nova that anybody has a light curve of."
LATEST = 2_500_000.0
"Of 2132."
MJD_ZERO = 2_400_000.5
CALENDAR = "CALENDAR"
EXCEL = "EXCEL"
SINCE_OUTBURST = "DAYS_SINCE_OUTBURST"

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ORDINAL_ZERO = 1_721_424.5
"The Julian date of midnight before day 0 of Python's count."
_CLOCK = r"(?:[T ]{1,2}([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]{1,9})?))?)?"
_ZONE = r"(?: ?(?:Z|UTC?|([+-])([0-9]{2}):?([0-9]{2})))?"
_ISO = re.compile(r"([0-9]{4})([-/. ])([0-9]{1,2})\2([0-9]{1,2})(\.[0-9]{1,9})?" + _CLOCK + _ZONE)
_YEAR_FIRST = re.compile(r"([0-9]{4})[- ]([A-Za-z]{3})[a-z]{0,6}\.?[- ]([0-9]{1,2})(\.[0-9]{1,9})?" + _CLOCK + _ZONE)
_DAY_FIRST = re.compile(
    r"([0-9]{1,2})(\.[0-9]{1,9})?[- ]([A-Za-z]{3})[a-z]{0,6}\.?[- ,]{1,2}([0-9]{4})" + _CLOCK + _ZONE
)
_US = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4}) ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?: ?([AaPp])[Mm])?")
_NAME = re.compile(
    r"(h|b|m|hm|bm|r|t)?jd[-–−]?(utc|tdb|tt|tai|tcb)?(mid|obs|start)?(?:[-–−+]?(24[0-9]{5}(?:\.[0-9])?)\+?)?(?:days?|d)?"
)
_LONG = {
    "juliandate": "jd",
    "julianday": "jd",
    "heliocentricjuliandate": "hjd",
    "heliocentricjd": "hjd",
    "barycentricjd": "bjd",
    "barycentricjuliandate": "bjd",
    "modifiedjuliandate": "mjd",
    "modifiedjd": "mjd",
    "jdhel": "hjd",
    "jdhelio": "hjd",
    "obsjd": "jd",
    "obsmjd": "mjd",
}
_ORIGINS = {
    "": 0.0,
    "h": 0.0,
    "b": 0.0,
    "m": MJD_ZERO,
    "hm": MJD_ZERO,
    "bm": MJD_ZERO,
    "r": 2_400_000.0,
    "t": 2_440_000.0,
}
SCALES = ("UTC", "TDB", "TT", "TAI", "TCB", "TCG", "UT1", "UT", "ET", "GPS")
"Time scales by their names; other words are none."
_CENTRES = {"h": "HJD", "hm": "HJD", "b": "BJD", "bm": "BJD"}


@dataclass(frozen=True, slots=True)
class TimeReading:
    """How the times of a column are turned into Julian dates."""

    system: str = "JD"
    "JD, HJD or BJD: where the clock stands."
    written: str = "JD"
    "What the column holds: JD, MJD, CALENDAR, DAYS_SINCE_OUTBURST, …"
    origin: float = 0.0
    "The Julian date of the number 0."
    days: float = 1.0
    "How many days the number 1 is."
    scale: str = ""
    "TDB, UTC, TT, if it is told."
    known: bool = True
    "Can a date be made of it? A name may plainly say that it cannot, such as `time (s)` or `date (local time)`."

    @property
    def name(self) -> str:
        """The system with its scale, such as BJD_TDB; without, where none is told."""
        return f"{self.system}_{self.scale}" if self.scale else self.system

    @property
    def is_calendar(self) -> bool:
        return self.written in (CALENDAR, EXCEL)

    def moment(self, text: str) -> float | None:
        """The Julian date that a cell means; `None` if it is none."""
        if self.written == CALENDAR:
            return calendar_date(text)
        if self.written == EXCEL:
            return _us_date(text)
        value = number(text)
        return None if value is None else self.origin + value * self.days


_NOT_DAYS = {
    *("s", "sec", "secs", "second", "seconds", "ms", "ks", "h", "hr", "hrs", "hour", "hours", "m", "min", "mins"),
    *("minute", "minutes", "week", "weeks", "wk", "month", "months", "yr", "yrs", "year", "years", "a"),
}
_NOT_UNIVERSAL = re.compile(r".*\b(?:local|sidereal|lst|lt|[ecmp][sd]t|cet|cest|bst|ist|jst|aest|nzst|msk)\b")


def is_no_date(unit: str) -> bool:
    """Does a unit plainly say that numbers are no days, or that times are not universal?"""
    word = " ".join(unit.lower().replace(".", " ").split())[:60]
    return word in _NOT_DAYS or _NOT_UNIVERSAL.match(word) is not None


def time_in(name: str, unit: str, told: TimeReading | None) -> TimeReading | None:
    """The reading that a column's name and unit ask for, `told` by its name: none can be made of some units."""
    if is_no_date(unit):
        return TimeReading(told.system if told else "JD", f"{name} ({unit})"[:60], known=False)
    return named_time(unit) or told


def plausible(moment: float) -> bool:
    """Whether anybody can have measured a nova then."""
    return EARLIEST <= moment <= LATEST


def named_time(name: str) -> TimeReading | None:
    """The reading that a name such as `HJD`, `MJD` or `JD-2450000` asks for; `None` if it is no such name."""
    key = "".join(each for each in name.lower() if each not in " _()[]#,:")
    match = _NAME.fullmatch(_LONG.get(key, key)) if len(key) < 40 else None
    if match is None:
        return None
    kind, scale, offset = match[1] or "", (match[2] or "").upper(), match[4]
    origin = float(offset) if offset else _ORIGINS[kind]
    written = f"{kind.upper()}JD" + (f"-{offset}" if offset else "")
    return TimeReading(_CENTRES.get(kind, "JD"), written, origin, 1.0, scale)


def calendar_date(text: str) -> float | None:
    """The Julian date of a date as people write it, in universal time; `None` if it is none."""
    text = text.strip()
    if len(text) > 40:
        return None
    if match := _ISO.fullmatch(text):
        return _joined(match[1], match[3], match[4], match[5], match.groups()[5:])
    if match := _YEAR_FIRST.fullmatch(text):
        return _joined(match[1], _month(match[2]), match[3], match[4], match.groups()[4:])
    if match := _DAY_FIRST.fullmatch(text):
        return _joined(match[4], _month(match[3]), match[1], match[2], match.groups()[4:])
    return None


def has_time_of_day(text: str) -> bool:
    """Whether a date tells more than the day."""
    return ":" in text or re.search(r"[0-9]\.[0-9]+$", text.strip()) is not None


def moment_of(text: str) -> float | None:
    """The Julian date of one moment, written as Julian date, modified Julian date or calendar date."""
    value = number(text)
    if value is None:
        return calendar_date(text)
    return next((each for each in (value, value + MJD_ZERO) if plausible(each)), None)


def _month(word: str) -> str:
    return str(_MONTHS.index(word.lower()) + 1) if word.lower() in _MONTHS else "0"


def _joined(year: str, month: str, day: str, part: str | None, rest: tuple[str | None, ...]) -> float | None:
    hours, minutes, seconds, sign, zone_hours, zone_minutes = rest
    if part is not None and hours is not None:
        return None
    clock = _of_day(hours, minutes, seconds)
    try:
        whole = date(int(year), int(month), int(day)).toordinal() + _ORDINAL_ZERO
    except ValueError:
        return None
    if clock is None:
        return None
    zone = (int(zone_hours or 0) + int(zone_minutes or 0) / 60) / 24 * (-1 if sign == "-" else 1)
    return whole + float(part or 0) + clock - zone


def _of_day(hours: str | None, minutes: str | None, seconds: str | None) -> float | None:
    if int(hours or 0) > 23 or int(minutes or 0) > 59 or float(seconds or 0) >= 61:
        return None
    return timedelta(hours=int(hours or 0), minutes=int(minutes or 0), seconds=float(seconds or 0)) / timedelta(days=1)


def _us_date(text: str) -> float | None:
    """Month first, as a spreadsheet writes it that AAVSO takes."""
    match = _US.fullmatch(text.strip()) if len(text) < 40 else None
    if match is None:
        return None
    hours = int(match[4])
    if match[7] is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if match[7] in "Pp" else 0)
    return _joined(match[3], match[1], match[2], None, (str(hours), match[5], match[6], None, None, None))
