"""The ticket that comes with a table of photometry or with spectra, and says which column holds what.

A ticket is a text of lines `NAME: value`. Columns are counted from 0; `NA` or nothing is "there is none".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from penstock.astronomy.judgement import Finding

MOST_TEXT = 64 * 1024
"Characters of a ticket; real ones have about seven hundred."
MOST_COLUMN = 999

_NOTHING = {"", "na", "n/a", "none", "-", "--"}
_TRUE = {"true", "yes", "y", "1", "t"}
_FALSE = {"false", "no", "n", "0", "f"}
_LINE = re.compile(r"([A-Z][A-Z /]{0,60}):(.*)", re.IGNORECASE)

_PHOTOMETRY = {
    "OBJECT NAME": "object_name",
    "TIME UNITS": "time_units",
    "FLUX UNITS": "flux_units",
    "FLUX ERROR UNITS": "flux_error_units",
    "FILTER SYSTEM": "filter_system",
    "MAGNITUDE SYSTEM": "magnitude_system",
    "WAVELENGTH REGIME": "wavelength_regime",
    "TIME SYSTEM": "time_system",
    "ASSUMED DATE OF OUTBURST": "outburst",
    "TELESCOPE": "telescope",
    "OBSERVER": "observer",
    "REFERENCE": "reference",
    "BIBCODE": "bibcode",
    "DATA FILENAME": "data_filename",
    "TICKET STATUS": "status",
}
_PHOTOMETRY_COLUMNS = {
    "TIME COLUMN NUMBER": "time_column",
    "FLUX COLUMN NUMBER": "flux_column",
    "FLUX ERROR COLUMN NUMBER": "flux_error_column",
    "FILTER/FREQUENCY/ENERGY RANGE COLUMN NUMBER": "band_column",
    "UPPER LIMIT FLAG COLUMN NUMBER": "limit_column",
    "TELESCOPE COLUMN NUMBER": "telescope_column",
    "OBSERVER COLUMN NUMBER": "observer_column",
    "FILTER SYSTEM COLUMN NUMBER": "filter_system_column",
}
_SPECTRA = {
    "OBJECT NAME": "object_name",
    "FLUX UNITS": "flux_units",
    "FLUX ERROR UNITS": "flux_error_units",
    "WAVELENGTH REGIME": "wavelength_regime",
    "TIME SYSTEM": "time_system",
    "ASSUMED DATE OF OUTBURST": "outburst",
    "REFERENCE": "reference",
    "BIBCODE": "bibcode",
    "METADATA FILENAME": "metadata_filename",
    "TICKET STATUS": "status",
}
_SPECTRA_COLUMNS = {
    "FILENAME COLUMN": "filename_column",
    "WAVELENGTH COLUMN": "wavelength_column",
    "FLUX COLUMN": "flux_column",
    "FLUX ERROR COLUMN": "flux_error_column",
    "FLUX UNITS COLUMN": "flux_units_column",
    "DATE COLUMN": "date_column",
    "TELESCOPE COLUMN": "telescope_column",
    "INSTRUMENT COLUMN": "instrument_column",
    "OBSERVER COLUMN": "observer_column",
    "SNR COLUMN": "snr_column",
    "DISPERSION COLUMN": "dispersion_column",
    "RESOLUTION COLUMN": "resolution_column",
}
_RANGE = "WAVELENGTH RANGE COLUMN"
_DEREDDENED = "DEREDDENED FLAG"
_BAND = "FILTER/FREQUENCY/ENERGY RANGE COLUMN NUMBER"


@dataclass(frozen=True, slots=True)
class PhotometryTicket:
    """What a ticket says of a table of photometry. `None` is what it does not say."""

    object_name: str | None = None
    time_units: str | None = None
    flux_units: str | None = None
    flux_error_units: str | None = None
    filter_system: str | None = None
    magnitude_system: str | None = None
    wavelength_regime: str | None = None
    time_system: str | None = None
    outburst: str | None = None
    "The assumed date of outburst, as written; times may be counted from it."
    telescope: str | None = None
    observer: str | None = None
    reference: str | None = None
    bibcode: str | None = None
    data_filename: str | None = None
    status: str | None = None
    time_column: int | None = None
    flux_column: int | None = None
    flux_error_column: int | None = None
    band_column: int | None = None
    limit_column: int | None = None
    telescope_column: int | None = None
    observer_column: int | None = None
    filter_system_column: int | None = None
    band: str | None = None
    "The one band of all rows: what the ticket says in place of a column's number."
    unknown: dict[str, str] = field(default_factory=dict)
    "Lines under names that no ticket has."

    @property
    def complete(self) -> bool:
        """Whether a table can be read by it: it tells at least the columns of time and brightness."""
        return self.time_column is not None and self.flux_column is not None


@dataclass(frozen=True, slots=True)
class SpectraTicket:
    """What a ticket says of a set of spectra: in which column of the file of metadata stands what."""

    object_name: str | None = None
    flux_units: str | None = None
    flux_error_units: str | None = None
    wavelength_regime: str | None = None
    time_system: str | None = None
    outburst: str | None = None
    reference: str | None = None
    bibcode: str | None = None
    metadata_filename: str | None = None
    status: str | None = None
    dereddened: bool | None = None
    filename_column: int | None = None
    wavelength_column: int | None = None
    flux_column: int | None = None
    flux_error_column: int | None = None
    flux_units_column: int | None = None
    date_column: int | None = None
    telescope_column: int | None = None
    instrument_column: int | None = None
    observer_column: int | None = None
    snr_column: int | None = None
    dispersion_column: int | None = None
    resolution_column: int | None = None
    wavelength_range_columns: tuple[int, int] | None = None
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether spectra can be read by it."""
        return None not in (self.filename_column, self.wavelength_column, self.flux_column)


AnyTicket: TypeAlias = PhotometryTicket | SpectraTicket


class _Unfit(Exception):
    """A ticket's line that cannot be understood; it never leaves this module."""

    def __init__(self, name: str, value: str, wanted: str) -> None:
        super().__init__(name)
        self.finding = Finding(
            "BAD_TICKET",
            f"The ticket's line {name!r} says {_cut(value)!r}; it should be {wanted}. Correct the ticket.",
            {"line": name, "value": _cut(value)},
        )


def read_ticket(text: str) -> AnyTicket | Finding:
    """What a ticket says, or why it is none. A pending ticket is read as well: what is blank in it is `None`."""
    if len(text) > MOST_TEXT:
        said = f"The ticket has {len(text)} characters; at most {MOST_TEXT} are read. Is it the table itself?"
        return Finding("BAD_TICKET", said, {"characters": len(text)})
    try:
        lines = _lines(text)
        if "METADATA FILENAME" in lines or "FILENAME COLUMN" in lines:
            return _spectra(lines)
        if "DATA FILENAME" in lines or "TIME COLUMN NUMBER" in lines:
            return _photometry(lines)
    except _Unfit as unfit:
        return unfit.finding
    said = "This is no ticket: it has neither a line 'DATA FILENAME:' nor one 'METADATA FILENAME:'. Give the ticket."
    return Finding("BAD_TICKET", said, {"lines": len(lines)})


def ticket_record(ticket: PhotometryTicket) -> dict[str, Any]:
    """A ticket as JSON can say it, without what it does not say."""
    told = {each.name: getattr(ticket, each.name) for each in fields(ticket)}
    return {name: value for name, value in told.items() if value not in (None, {})}


def photometry_ticket_of(record: dict[str, Any]) -> PhotometryTicket:
    """The ticket that `ticket_record` wrote down."""
    return PhotometryTicket(**record)


def _lines(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None:
            continue
        name, value = " ".join(match[1].upper().split()), match[2].strip()
        if found.get(name, value) != value:
            raise _Unfit(name, value, f"said once, and it was {_cut(found[name])!r} before")
        found[name] = value
    return found


def _photometry(lines: dict[str, str]) -> PhotometryTicket:
    told = _told(lines, _PHOTOMETRY)
    band = lines.pop(_BAND, "")
    fixed = None if _absent(band) or _number(band) is not None else _one_word(_BAND, band)
    columns = _columns(lines | {_BAND: "" if fixed else band}, _PHOTOMETRY_COLUMNS)
    _differ(columns, ("time_column", "flux_column", "flux_error_column", "band_column", "limit_column"))
    rest = _rest(lines, _PHOTOMETRY.keys() | _PHOTOMETRY_COLUMNS.keys())
    return PhotometryTicket(**told, **columns, band=fixed, unknown=rest)


def _spectra(lines: dict[str, str]) -> SpectraTicket:
    told = _told(lines, _SPECTRA)
    columns = _columns(lines, _SPECTRA_COLUMNS)
    _differ(columns, ("filename_column", "wavelength_column", "flux_column", "flux_error_column"))
    rest = _rest(lines, _SPECTRA.keys() | _SPECTRA_COLUMNS.keys() | {_RANGE, _DEREDDENED})
    return SpectraTicket(
        **told,
        **columns,
        dereddened=_truth(lines.get(_DEREDDENED, "")),
        wavelength_range_columns=_pair(lines.get(_RANGE, "")),
        unknown=rest,
    )


def _told(lines: dict[str, str], names: dict[str, str]) -> dict[str, Any]:
    return {names[name]: value for name, value in lines.items() if name in names and not _absent(value)}


def _columns(lines: dict[str, str], names: dict[str, str]) -> dict[str, Any]:
    return {names[name]: _column(name, value) for name, value in lines.items() if name in names and not _absent(value)}


def _column(name: str, value: str) -> int:
    number = _number(value)
    if number is None or number > MOST_COLUMN:
        raise _Unfit(name, value, f"a column's number from 0 to {MOST_COLUMN}, or NA")
    return number


def _differ(columns: dict[str, Any], names: tuple[str, ...]) -> None:
    """One column cannot be two things: such a ticket was filled in wrongly."""
    seen: dict[int, str] = {}
    for name in names:
        number = columns.get(name)
        if number is not None and seen.setdefault(number, name) != name:
            raise _Unfit(name, str(number), f"another column than that of {seen[number]}")


def _pair(value: str) -> tuple[int, int] | None:
    if _absent(value):
        return None
    parts = [_column(_RANGE, part.strip()) for part in value.split(",", 2)]
    if len(parts) != 2:
        raise _Unfit(_RANGE, value, "two columns' numbers with a comma between, or NA")
    return parts[0], parts[1]


def _truth(value: str) -> bool | None:
    if _absent(value):
        return None
    if value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise _Unfit(_DEREDDENED, value, "True or False")


def _one_word(name: str, value: str) -> str:
    if len(value) > 40 or any(each in value for each in ",;"):
        raise _Unfit(name, value, "a column's number, the name of one band, or NA")
    return value


def _rest(lines: dict[str, str], known: set[str]) -> dict[str, str]:
    return {name: _cut(value) for name, value in lines.items() if name not in known}


def _absent(value: str) -> bool:
    return value.strip().lower() in _NOTHING


def _number(value: str) -> int | None:
    return int(value) if re.fullmatch(r"[0-9]{1,6}", value.strip()) else None


def _cut(value: str) -> str:
    return value if len(value) <= 80 else value[:79] + "…"
