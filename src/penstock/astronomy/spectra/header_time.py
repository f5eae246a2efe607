"""When a header says that an observation was made: dates, clocks, counts of days, as each card has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.astronomy.leap_seconds import in_utc
from penstock.astronomy.spectra.cards import HeaderCards

_DATES = ("DATE-OBS", "DATE_OBS", "DATEOBS", "DATE-BEG", "UT-DATE", "UTDATE", "LDATEOBS", "SDATEOBS", "TDATEOBS")
_CLOCKS = (
    *("UTSTART", "UT-START", "UT-STR", "UT-TIME", "UTC-OBS", "TIME-OBS", "TIME_OBS", "TIME-BEG", "EXPSTART"),
    *("UT", "UTC", "UTOBS", "UT-OBS", "LTIMEOBS", "STIMEOBS", "TTIMEOBS", "UTMIDDLE"),
)
_MODIFIED = ("MJD-OBS", "MJD_OBS", "MJD-BEG", "MJD-STR", "EXPSTART", "MJD-AVG", "MJD")
_JULIAN = ("JD-OBS", "JD_OBS", "LJD-OBS", "SJD-OBS", "JD")
_CENTRED = {"HJD": "HELIOCENTER", "HJD-OBS": "HELIOCENTER", "BJD": "BARYCENTER", "BJD-OBS": "BARYCENTER"}
_TAI = ("TAI-BEG", "TAI")
"Seconds since the zero of modified Julian dates, as SDSS counts them."
_UNIX = ("TUNIX", "ESO OBS TUNIX")
_MIDDLES = ("UTMIDDLE", "MJD-AVG", "DATE-AVG")
_STARTS = ("UTSTART", "UT-START", "UT-STR", "TIME-BEG", "EXPSTART", "DATE-BEG", "MJD-BEG", "MJD-STR", "TAI-BEG")
_MIDDLE = re.compile(r"\bmid|\baverage|\bmean time")
_START = re.compile(r"\bstart|\bbegin|\bopen|\bouverture|\bdebut")
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}):(\d{2}(?:\.\d{0,9})?))?")
_OLD = re.compile(r"(\d{2})/(\d{2})/(\d{2})$")
_CLOCK = re.compile(r"(?:\d{4}-\d{2}-\d{2}T)?(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{0,9})?)$")
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{0,15})?$")
_SECONDS = re.compile(r"\bsec|\[s\]")
_ZERO = datetime(1858, 11, 17, tzinfo=UTC)
_EARLIEST, _LATEST = -18_000.0, 100_000.0
"Modified Julian dates of 1809 and 2132; other numbers are slips, such as an MJD that is a Julian date and more."
_JD_OF_MJD, _MJD_OF_UNIX = 2_400_000.5, 40_587


@dataclass(frozen=True, slots=True)
class ToldTime:
    """A moment as one card or two tell it."""

    mjd: float
    "As a modified Julian date, by the clock and at the place that the cards have it for."
    cards: str
    scale: str = "UTC"
    place: str = "TOPOCENTER"
    means: str = ""
    "start or middle, where that is told."
    text: str = ""
    "Date and time as they were written, if that is how they were."
    day_only: bool = False


def told_time(*headers: HeaderCards) -> dict[str, Any]:
    """When it was observed, in UTC, what tells it, and whether that is the start or the middle; empty if none does."""
    found = [moment for cards in headers for moment in _moments(cards)]
    if not found:
        return {}
    best = next((each for each in found if not each.day_only and each.place == "TOPOCENTER"), None)
    exact = best or next((each for each in found if not each.day_only), None)
    if exact is None:
        return {"observed_at": _day(found[0].mjd), "observed_at_from": found[0].cards} | _nights(headers)
    told = _told(exact) | _nights(headers)
    day = next((each for each in found if each.day_only and each.cards in _DATES), None)
    if day is not None and abs(exact.mjd - day.mjd - 0.5) > 1.5:
        told["observed_at_contradicted"] = f"{day.cards} says {_day(day.mjd)}"
    return told


def _nights(headers: tuple[HeaderCards, ...]) -> dict[str, Any]:
    """The nights that SDSS put together to one spectrum, if there were several."""
    nights = next((said.split() for cards in headers if (said := cards.said("MJDLIST"))), [])
    return {"observed_nights": " ".join(nights[:20])} if len(set(nights)) > 1 else {}


def _told(exact: ToldTime) -> dict[str, Any]:
    mjd = in_utc(exact.mjd, scale=exact.scale)
    told: dict[str, Any] = {"observed_at": exact.text or _moment(mjd), "observed_at_from": exact.cards}
    if exact.scale not in ("UTC", ""):
        told["time_scale_told"] = exact.scale
    if exact.place != "TOPOCENTER":
        # Up to 8.3 minutes of light travel: the day is known, the time of day only where the Sun is.
        told["observed_at"] = _day(mjd)
        told["time_reference"] = exact.place
    if exact.means:
        told["observed_at_is"] = exact.means
    return told | {"observed_mjd": round(mjd, 9)}


def _moments(cards: HeaderCards) -> Iterator[ToldTime]:
    """All that the cards say, the most direct first."""
    scale = _scale(cards.said("TIMESYS") or "")
    for key in _DATES:
        if (day := _date(cards, key)) is not None:
            yield from _dated(cards, key, day, scale)
    yield from _counted(cards, scale)


def _scale(word: str) -> str:
    """The clock by its name; one that is not known keeps it, for whoever reads on."""
    name = word.strip().upper()[:20]
    return "UTC" if name in ("", "UT", "UT1", "UTC") else name


def _date(cards: HeaderCards, key: str) -> str | None:
    text = cards.said(key) or ""
    if _ISO.match(text):
        return text
    found = _OLD.match(text)
    # Two digits of a year: the FITS standard had them for the twentieth century.
    return f"19{found[3]}-{found[2]}-{found[1]}" if found else None


def _dated(cards: HeaderCards, key: str, text: str, scale: str) -> Iterator[ToldTime]:
    found = _ISO.match(text)
    assert found is not None
    own = "TAI" if re.search(r"\btai\b", cards.comment(key)) else scale
    if found[4] and (whole := _mjd(found[0])) is not None:
        written = f"{found[0][:10]}T{found[0][11:]}Z" if own == "UTC" else ""
        yield ToldTime(whole, key, own, means=_means(cards, key), text=written)
        return
    day = _mjd(found[0][:10])
    if day is None:
        return
    yield from _with_clock(cards, key, found[0][:10], day)
    yield ToldTime(day, key, day_only=True)


def _with_clock(cards: HeaderCards, key: str, date: str, day: float) -> Iterator[ToldTime]:
    for clock in _CLOCKS:
        said = cards.said(clock) or ""
        if found := _CLOCK.match(said):
            text = f"{date}T{int(found[1]):02}:{found[2]}:{found[3]}"
            if (whole := _mjd(text)) is not None:
                yield ToldTime(whole, f"{key}, {clock}", means=_means(cards, clock), text=f"{text}Z")
                return
        elif clock in ("UT", "UTC", "UTSTART", "UT-START") and (part := _part_of_day(said, cards.comment(clock))):
            yield ToldTime(day + part, f"{key}, {clock}", means=_means(cards, clock))
            return


def _part_of_day(said: str, comment: str) -> float | None:
    """Of a clock that is told as a number: seconds if its comment says so or it is large, else hours."""
    value = float(said) if _NUMBER.match(said) else -1.0
    if not 0 <= value < 86_401:
        return None
    return value / 86_400 if value > 24 or _SECONDS.search(comment) else value / 24


def _counted(cards: HeaderCards, scale: str) -> Iterator[ToldTime]:
    """Counts of days or seconds."""
    for key in _MODIFIED:
        if (days := _number(cards, key)) is not None:
            # A whole number is the number of a night, not a moment.
            yield ToldTime(days, key, scale, means=_means(cards, key), day_only=days % 1 == 0)
    for key in _JULIAN:
        if (days := _number(cards, key, zero=_JD_OF_MJD)) is not None:
            yield ToldTime(days, key, scale, means=_means(cards, key), day_only=days % 1 == 0.5)
    for key in _TAI:
        if (days := _number(cards, key, seconds=True)) is not None:
            # The mean of several nights is a moment in daylight: only the day is told by it.
            yield ToldTime(days, key, "TAI", means=_means(cards, key), day_only=bool(_nights((cards,))))
    for key in _UNIX:
        if (days := _number(cards, key, zero=-_MJD_OF_UNIX, seconds=True)) is not None:
            yield ToldTime(days, key, means=_means(cards, key))
    for key, place in _CENTRED.items():
        if (days := _number(cards, key, zero=_JD_OF_MJD)) is not None:
            yield ToldTime(days, key, scale, place, _means(cards, key))


def _number(cards: HeaderCards, key: str, *, zero: float = 0.0, seconds: bool = False) -> float | None:
    text = cards.said(key) or ""
    if not _NUMBER.match(text):
        return None
    days = (float(text) / 86_400 if seconds else float(text)) - zero
    return days if _EARLIEST < days < _LATEST and float(text) > 0 else None


def _means(cards: HeaderCards, key: str) -> str:
    comment = cards.comment(key)
    if key in _MIDDLES or _MIDDLE.search(comment):
        return "middle"
    return "start" if key in _STARTS or _START.search(comment) else ""


def _mjd(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text[:26].rstrip("."))
    except ValueError:
        return None
    return (moment.replace(tzinfo=UTC) - _ZERO) / timedelta(days=1)


def _moment(mjd: float) -> str:
    """To the hundredth of a second: counts of days are told to no more."""
    moment = _ZERO + timedelta(milliseconds=10 * round(mjd * 8_640_000))
    text = moment.replace(tzinfo=None).isoformat(timespec="milliseconds")
    return f"{text[:-1].removesuffix('.00')}Z"


def _day(mjd: float) -> str:
    return (_ZERO + timedelta(days=mjd)).date().isoformat()
