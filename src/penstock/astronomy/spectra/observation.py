"""What a header tells of an observation, under fixed names."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.astronomy.spectra.cards import HeaderCards

_TEXTS = {
    "target": ("OBJECT", "TARGNAME", "TARGET", "OBJNAME", "TARGETID", "ESO OBS TARG NAME"),
    "telescope": ("TELESCOP",),
    "instrument": ("INSTRUME", "INSTR"),
    "observer": ("OBSERVER",),
    "reference": ("REFERENC", "BIBCODE"),
    "program": ("PROG_ID", "PROPID", "PROPOSID"),
}
_NUMBERS = {
    "exposure_seconds": ("EXPTIME", "EXPOSURE", "TEXPTIME", "LEXPTIME", "EXP_TIME"),
    "heliocentric_velocity": ("VHELIO", "HELIO_RV", "HELIOVEL"),
    "airmass": ("AIRMASS",),
    "right_ascension": ("RA", "RA_TARG", "PLUG_RA"),
    "declination": ("DEC", "DEC_TARG", "PLUG_DEC"),
}
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2}(?:\.\d{0,9})?))?")
_OLD_DATE = re.compile(r"(\d{2})/(\d{2})/(\d{2})$")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{0,9})?)$")
_NO_MEASURE = 1e30
"Nothing that a header tells of an observation is so large: not infinite, and no stand-in for what is not known."
_MJD_ZERO = datetime(1858, 11, 17, tzinfo=UTC)


def observation(*headers: HeaderCards) -> dict[str, Any]:
    """The first answer that any of the headers has, for each name that it has one for."""
    told: dict[str, Any] = {}
    for cards in headers:
        for name, keys in _TEXTS.items():
            told.setdefault(name, next((said for key in keys if (said := cards.said(key))), None))
        for name, keys in _NUMBERS.items():
            told.setdefault(name, _number(cards, keys))
        told = {name: value for name, value in told.items() if value is not None}
    observed = next((moment for cards in headers if (moment := _observed_at(cards))), None)
    return {**told, "observed_at": observed} if observed else told


def _number(cards: HeaderCards, keys: tuple[str, ...]) -> float | None:
    for key in keys:
        value = cards.first(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _NO_MEASURE:
            return float(value)
    return None


def _observed_at(cards: HeaderCards) -> str | None:
    """When it began: a date alone where no time of day is told."""
    date = cards.said("DATE-OBS") or cards.said("DATE_OBS") or cards.said("DATEOBS") or ""
    if found := _DATE.match(date):
        return _moment(found[0]) if found[4] else _with_clock(cards, found[0])
    if found := _OLD_DATE.match(date):
        # Two digits of a year: the FITS standard had them for the twentieth century.
        return _moment(f"19{found[3]}-{found[2]}-{found[1]}")
    days = _number(cards, ("MJD-OBS", "MJD_OBS", "MJD-BEG"))
    if days is None or not 15_000 < days < 100_000:
        return None
    return (_MJD_ZERO + timedelta(days=days)).isoformat(timespec="seconds").replace("+00:00", "Z")


def _with_clock(cards: HeaderCards, date: str) -> str | None:
    for key in ("UT", "UTSTART", "UTC", "TIME-OBS", "UTC-OBS", "UT-START"):
        if found := _CLOCK.match(cards.said(key) or ""):
            return _moment(f"{date}T{int(found[1]):02}:{found[2]}:{found[3]}") or _moment(date)
    return _moment(date)


def _moment(text: str) -> str | None:
    try:
        datetime.fromisoformat(text[:26].rstrip("."))
    except ValueError:
        return None
    return text if "T" not in text else f"{text}Z"
