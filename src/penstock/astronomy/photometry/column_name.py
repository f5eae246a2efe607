"""What the name of a column tells: time, brightness, uncertainty, band, limit, or something that is not used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from penstock.astronomy.photometry.band import named_band
from penstock.astronomy.photometry.time_reading import TimeReading, is_no_date, named_time, time_in
from penstock.astronomy.photometry.unit import MAGNITUDE, error_unit, named_unit

MOST_NAME = 80


class ColumnRole(StrEnum):
    """What a column is for."""

    TIME = "time"
    BRIGHTNESS = "brightness"
    ERROR = "error"
    LIMIT = "limit"
    BAND = "band"
    TELESCOPE = "telescope"
    OBSERVER = "observer"
    FILTER_SYSTEM = "filter_system"
    UNIT = "unit"
    TARGET = "target"
    METHOD = "method"
    VALIDATION = "validation"
    COUNT = "count"
    "How many observations a row is the mean of."
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """What a column's name was taken for."""

    role: ColumnRole
    time: TimeReading | None = None
    band: str = ""
    "The band in the name: V of Vmag and of e_Vmag."
    unit: str = ""
    generic: bool = False
    "The name would suit many things: date, time, flux."
    relative: bool = False
    "Days since something: a time only where a table has no other."


_WORDS: dict[str, ColumnRole] = {
    **dict.fromkeys(("mag", "mags", "magnitude", "magnitudes", "calmag", "appmag", "magpsf"), ColumnRole.BRIGHTNESS),
    **dict.fromkeys(("flux", "fluxdensity", "fnu", "flambda", "fluxes"), ColumnRole.BRIGHTNESS),
    **dict.fromkeys(("photometrymeasurement",), ColumnRole.BRIGHTNESS),
    **dict.fromkeys(
        ("err", "error", "emag", "magerr", "magerror", "magnitudeerror", "magnitudeerr", "uncertainty", "unc"),
        ColumnRole.ERROR,
    ),
    **dict.fromkeys(("merr", "sigma", "sig", "dmag", "sigmamag", "magsigma", "maguncertainty"), ColumnRole.ERROR),
    **dict.fromkeys(("magunc", "errmag", "stddev", "sigmapsf", "eflux", "fluxerr", "fluxerror"), ColumnRole.ERROR),
    **dict.fromkeys(("dflux", "errflux", "fluxunc", "fluxuncertainty", "sigmaflux", "mager"), ColumnRole.ERROR),
    **dict.fromkeys(("band", "filter", "filt", "bandpass", "passband", "fil", "bands"), ColumnRole.BAND),
    **dict.fromkeys(("filtername", "bandname", "photband", "observedpassband"), ColumnRole.BAND),
    **dict.fromkeys(("lmag", "lflux", "limit", "upperlimit", "uplim", "ul", "fainterthan"), ColumnRole.LIMIT),
    **dict.fromkeys(("isupperlimit", "limitflag", "ulflag", "upperlimitflag", "islimit", "lim"), ColumnRole.LIMIT),
    **dict.fromkeys(("upper", "nondetection", "upperlim"), ColumnRole.LIMIT),
    **dict.fromkeys(("telescope", "tel", "instrument", "facility", "observatory", "site"), ColumnRole.TELESCOPE),
    **dict.fromkeys(("observer", "observercode", "obscode", "by", "observers", "source"), ColumnRole.OBSERVER),
    **dict.fromkeys(("filtersystem", "photometricsystem", "photsys", "magsys"), ColumnRole.FILTER_SYSTEM),
    **dict.fromkeys(("magnitudesystem",), ColumnRole.FILTER_SYSTEM),
    **dict.fromkeys(("unit", "units", "fluxunit", "fluxunits", "xmag", "xflux"), ColumnRole.UNIT),
    **dict.fromkeys(("name", "nova", "star", "starname", "object", "objectname", "target"), ColumnRole.TARGET),
    **dict.fromkeys(("targetname",), ColumnRole.TARGET),
    **dict.fromkeys(("mtype", "measurementmethod"), ColumnRole.METHOD),
    **dict.fromkeys(("val", "validation", "validationflag", "valflag"), ColumnRole.VALIDATION),
}
_FLUXES = ("flux", "fluxdensity", "fnu", "flambda", "fluxes", "photometrymeasurement")
_TIMES = (
    "date",
    "time",
    "dateobs",
    "obsdate",
    "datetime",
    "epoch",
    "utdate",
    "ut",
    "utc",
    "obstime",
    "dateut",
    "times",
)
_DAYS = ("t", "days", "day", "dayssinceoutburst", "daysafteroutburst", "phase", "tdays", "age", "dt")
_UNIT = re.compile(r"(.{1,60}?) ?[\[(]([^\[\]()]{1,40})[\])]")
_NOT_READ = re.compile(r"[nfrqw]_.*", re.IGNORECASE)
"The catalogues' prefixes: notes, flags, references, quality, weight."
_GAPS = re.compile(r"[ _.\-]")
_COUNT = re.compile(r"o_.*|nobs", re.IGNORECASE)
_ERRORS = re.compile(
    r"(?:e_|err_?|mag_?err_?|sigma_?|d_|unc_?)(.{1,12})|(.{1,12}?)[_ ]?(?:err|error|unc|sigma|_e)", re.IGNORECASE
)
_LIMITS = re.compile(r"l_(.{1,12})", re.IGNORECASE)
_IN_BAND = re.compile(r"(.{1,12}?)[_ -]?(?:mag|magnitude)s?|(?:mag|magnitude|m)[_ ](.{1,12})", re.IGNORECASE)
_ABSOLUTE = re.compile(
    r"M[_ (\[](?:[UBVRIJHKG]c?|pg|vis|bol|[ugriz]'?)[)\]]?(?:[_ ]mag)?$"
    r"|(?i:abs(?:olute)?[_. -]?m|.{1,12}[_ ]abs(?:olute)?$)"
)
SMALL = {"b": "B", "v": "V"}
"In a column's name, small letters that are taken for Johnson's."


def named_column(name: str, *, unit: str = "") -> NamedColumn:
    """What a column's name, and its unit if it is told, say that it holds."""
    bare = name.strip().lstrip("#").strip().strip("\"'").strip()
    if bare == "" or len(bare) > MOST_NAME:
        return NamedColumn(ColumnRole.OTHER)
    if time := named_time(bare):
        return NamedColumn(ColumnRole.TIME, time if not unit or not is_no_date(unit) else time_in(bare, unit, time))
    if is_absolute(bare):
        return NamedColumn(ColumnRole.OTHER)
    if match := _UNIT.fullmatch(bare):
        bare, unit = match[1].strip(), unit or match[2]
    if time := named_time(bare):
        return NamedColumn(ColumnRole.TIME, time_in(bare, unit, time))
    return _by_word(bare, unit)


def unit_in_name(name: str) -> str:
    """What stands in brackets behind a name."""
    match = _UNIT.fullmatch(name.strip())
    return match[2] if match else ""


def is_absolute(name: str) -> bool:
    """Is it the name of an absolute magnitude, which is no measurement: M_V, M(V), absolute mag?"""
    return _ABSOLUTE.match(name.strip().lstrip("#").strip()) is not None


def _by_word(bare: str, unit: str) -> NamedColumn:
    key = _GAPS.sub("", bare.lower())
    if key in _TIMES or key in _DAYS:
        return NamedColumn(ColumnRole.TIME, time_in(bare, unit, None), generic=True, relative=key in _DAYS)
    if _COUNT.fullmatch(bare):
        return NamedColumn(ColumnRole.COUNT)
    if _NOT_READ.fullmatch(bare):
        return NamedColumn(ColumnRole.OTHER)
    role = _WORDS.get(key)
    if role in (ColumnRole.BRIGHTNESS, ColumnRole.ERROR):
        if role is ColumnRole.ERROR:
            return NamedColumn(role, unit=error_unit(unit))
        implied = MAGNITUDE if not unit and key not in _FLUXES else ""
        return NamedColumn(role, unit=named_unit(unit) or implied, generic=key in _FLUXES)
    if role is not None:
        return NamedColumn(role)
    return _by_band(bare, unit)


def _by_band(bare: str, unit: str) -> NamedColumn:
    """Names with a band in them: Vmag, e_Vmag, mag_V, V, V_err."""
    told = named_unit(unit) or "" if unit else MAGNITUDE
    matches = (
        (_LIMITS.fullmatch(bare), ColumnRole.LIMIT),
        (_ERRORS.fullmatch(bare), ColumnRole.ERROR),
        (_IN_BAND.fullmatch(bare), ColumnRole.BRIGHTNESS),
    )
    for match, role in matches:
        band = _band_in(next(each for each in match.groups() if each)) if match else ""
        if band:
            return NamedColumn(role, band=band, unit=told if role is ColumnRole.BRIGHTNESS else error_unit(unit))
    band = _band_in(bare)
    return NamedColumn(ColumnRole.BRIGHTNESS, band=band, unit=told) if band else NamedColumn(ColumnRole.OTHER)


def _band_in(text: str) -> str:
    match = _IN_BAND.fullmatch(text)
    word = next((each for each in match.groups() if each), "") if match else text
    found = named_band(SMALL.get(word, word))
    return found.band if found.known else ""
