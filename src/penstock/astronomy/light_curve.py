"""A light curve as everything here hands it on, whatever table it was in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.astronomy.judgement import Assumption


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured brightness, with its unit, its uncertainty and where it stands in its source."""

    jd: float
    "Julian date, in the time system of its light curve."
    value: float
    unit: str
    "mag, or a flux density as astropy's FITS format writes it."
    uncertainty: float | None
    band: str
    "As normalised: V, B, Rc, …; the source's own word is in its light curve's bands."
    row: int
    "The line of the file it was read from, counted from 1."
    upper_limit: bool = False
    "It was not seen, and is fainter than the value."
    telescope: str | None = None
    observer: str | None = None
    time_system: str | None = None
    "Of a light curve that was put together from several: the system that `jd` is in; None: that of its light curve."
    dataset: str | None = None
    "Of such a one: which of them it is from; `row` is counted there."
    told_jd: float | None = None
    "The Julian date as its source tells it, where `jd` was converted to another system."
    told_time_system: str | None = None


@dataclass(frozen=True, slots=True)
class UnreadRow:
    """A row that could not be read, and why. It is counted and shown, never dropped."""

    row: int
    text: str
    "The row itself, cut to 200 characters."
    why: str
    dataset: str | None = None
    "Which of several tables it is in."


@dataclass(frozen=True, slots=True)
class LightCurve:
    """The measurements of one table, in order of time."""

    measurements: tuple[Measurement, ...]
    unread: tuple[UnreadRow, ...] = ()
    time_system: str = "JD"
    "JD, HJD, BJD_TDB, … as the source says it, with the time scale if that is told; mixed, if rows have their own."
    bands: dict[str, str] = field(default_factory=dict)
    "The source's own words for bands, each with what it was taken for."
    source: dict[str, Any] = field(default_factory=dict)
    "Reference, bibcode, telescope, observer, filter and magnitude system, as far as they are told."
    assumptions: tuple[Assumption, ...] = ()
