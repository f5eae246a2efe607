"""What is known of an observation, in one line below the object's name."""

from __future__ import annotations

import math
from typing import Any

from penstock.astronomy.light_curve import LightCurve
from penstock.astronomy.products.plots.calendar_axis import FIRST_JD, LAST_JD, calendar_day
from penstock.astronomy.spectrum import Spectrum


def spectrum_words(spectrum: Spectrum) -> str:
    """Telescope and instrument · date (UT) · exposure, as far as they are known."""
    told = spectrum.metadata
    parts = [_instrument(told), _date(told.get("observed_at")), _exposure(told.get("exposure_seconds"))]
    known = [part for part in parts if part] or [_text(told.get("reference"))]
    return " · ".join(filter(None, [*known, spectrum.label]))


def curve_words(curve: LightCurve) -> str:
    """Reference · telescope · from when to when, as far as they are known."""
    told = [_text(curve.source.get(name)) for name in ("reference", "telescope")]
    return " · ".join(filter(None, [*told, _dates(curve)]))


def _instrument(told: dict[str, Any]) -> str:
    names = [_text(told.get(name)) for name in ("telescope", "instrument")]
    return ", ".join(name for name in names if name and name.lower() not in ("unknown", "none", "test"))


def _date(told: object) -> str:
    """A date as people write it, to the minute; what is no date is told as it stands."""
    text = _text(told)
    if len(text) < 16 or text[10] not in "T ":
        return f"{text} UT" if text[:4].isdigit() else text
    return f"{text[:10]} {text[11:16]} UT"


def _exposure(told: object) -> str:
    if not isinstance(told, int | float) or not math.isfinite(told) or told <= 0:
        return ""
    return f"{told:,.0f} s" if told >= 10 else f"{told:.3g} s"


def _dates(curve: LightCurve) -> str:
    days = [one.jd for one in curve.measurements if FIRST_JD <= one.jd <= LAST_JD]
    if not days:
        return ""
    first, last = calendar_day(min(days)), calendar_day(max(days))
    return f"{first} to {last} UT" if first != last else f"{first} UT"


def _text(value: object) -> str:
    return " ".join(value.split())[:120] if isinstance(value, str) else ""
