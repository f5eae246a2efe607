"""The file of metadata that a spectra ticket names: one line for each spectrum, with its file and its columns."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field

from penstock.astronomy.judgement import Finding
from penstock.astronomy.light_curve import UnreadRow
from penstock.astronomy.ticket import SpectraTicket

MOST_TEXT = 4 * 1024 * 1024
MOST_LINE = 16 * 1024
_NOTHING = {"", "na", "n/a", "none", "-", "--", "nan"}


@dataclass(frozen=True, slots=True)
class SpectrumEntry:
    """One spectrum: its file, which of its columns are what, and what is told of it, as it is written."""

    filename: str
    row: int
    wavelength_column: int
    flux_column: int
    flux_error_column: int | None = None
    flux_units: str | None = None
    date: str | None = None
    "As written; 2.4473e+06 is a Julian date to the nearest hundred days."
    telescope: str | None = None
    instrument: str | None = None
    observer: str | None = None
    snr: str | None = None
    dispersion: str | None = None
    resolution: str | None = None
    wavelength_range: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class SpectraMetadata:
    """All spectra that a file of metadata tells of, and the lines that could not be read."""

    entries: tuple[SpectrumEntry, ...]
    unread: tuple[UnreadRow, ...] = field(default=())


def read_spectra_metadata(text: str, *, ticket: SpectraTicket) -> SpectraMetadata | Finding:
    """What a file of metadata says, with the columns that the ticket tells."""
    if not ticket.complete:
        said = "The ticket does not say which columns hold file name, wavelength and flux. Complete the ticket."
        return Finding("INCOMPLETE_TICKET", said, {"status": ticket.status})
    if len(text) > MOST_TEXT:
        said = f"The metadata has {len(text)} characters; at most {MOST_TEXT} are read. Is it a spectrum?"
        return Finding("BAD_METADATA", said, {"characters": len(text)})
    entries: list[SpectrumEntry] = []
    unread: list[UnreadRow] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        read = _entry(line, number, ticket)
        entries.append(read) if isinstance(read, SpectrumEntry) else unread.append(read)
    return SpectraMetadata(tuple(entries), tuple(unread))


def _entry(line: str, number: int, ticket: SpectraTicket) -> SpectrumEntry | UnreadRow:
    if len(line) > MOST_LINE or "\0" in line:
        return UnreadRow(number, line[:200], "it is no line of metadata: too long, or with NUL in it")
    cells = next(csv.reader([line]), [])
    filename = _cell(cells, ticket.filename_column)
    if filename is None or "/" in filename or "\\" in filename or filename.startswith("."):
        return UnreadRow(number, line[:200], "it names no file")
    wavelength, flux = _column(cells, ticket.wavelength_column), _column(cells, ticket.flux_column)
    if wavelength is None or flux is None:
        return UnreadRow(number, line[:200], "it does not tell the columns of wavelength and flux")
    return SpectrumEntry(
        filename,
        number,
        wavelength,
        flux,
        flux_error_column=_column(cells, ticket.flux_error_column),
        flux_units=_cell(cells, ticket.flux_units_column),
        date=_cell(cells, ticket.date_column),
        telescope=_cell(cells, ticket.telescope_column),
        instrument=_cell(cells, ticket.instrument_column),
        observer=_cell(cells, ticket.observer_column),
        snr=_cell(cells, ticket.snr_column),
        dispersion=_cell(cells, ticket.dispersion_column),
        resolution=_cell(cells, ticket.resolution_column),
        wavelength_range=_range(cells, ticket.wavelength_range_columns),
    )


def _cell(cells: list[str], column: int | None) -> str | None:
    if column is None or column >= len(cells):
        return None
    text = cells[column].strip()
    return None if text.lower() in _NOTHING else text


def _column(cells: list[str], column: int | None) -> int | None:
    text = _cell(cells, column)
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 4 else None


def _range(cells: list[str], columns: tuple[int, int] | None) -> tuple[str, str] | None:
    if columns is None:
        return None
    low, high = _cell(cells, columns[0]), _cell(cells, columns[1])
    return None if low is None or high is None else (low, high)
