"""What a header tells of an observation, under fixed names."""

from __future__ import annotations

from typing import Any

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.header_position import told_position
from penstock.astronomy.spectra.header_time import told_time

_TEXTS = {
    # OBJECT of files that ESO's pipelines write is the name of a step as often as that of a star.
    "target": ("ESO OBS TARG NAME", "OBJECT", "TARGNAME", "TARGET", "OBJNAME", "TARGETID", "LTARGET", "STARGET"),
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
}
_NO_MEASURE = 1e30
"Nothing that a header tells of an observation is so large: not infinite, and no stand-in for what is not known."


def observation(*headers: HeaderCards) -> dict[str, Any]:
    """The first answer that any of the headers has, for each name that it has one for."""
    told: dict[str, Any] = {}
    for cards in headers:
        for name, keys in _TEXTS.items():
            told.setdefault(name, next((said for key in keys if (said := cards.said(key))), None))
        for name, keys in _NUMBERS.items():
            told.setdefault(name, _number(cards, keys))
        told = {name: value for name, value in told.items() if value is not None}
    return told | told_position(*headers) | told_time(*headers)


def _number(cards: HeaderCards, keys: tuple[str, ...]) -> float | None:
    for key in keys:
        value = cards.first(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _NO_MEASURE:
            return float(value)
    return None
