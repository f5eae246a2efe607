"""What is told elsewhere of a text table of a spectrum: a ticket, and a row of the metadata that it points to."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

MOST_ROWS = 10_000
_NOTHING = {"", "na", "n/a", "none", "nan"}
_TICKET_LINE = re.compile(r"\s*([A-Z][A-Z _/-]{0,60}?)\s*:\s*(.{0,500}?)\s*$")


@dataclass(frozen=True, slots=True)
class SpectraTicket:
    """The lines of a ticket by their names, in capitals."""

    lines: Mapping[str, str]

    def said(self, name: str) -> str | None:
        """What a line says, None where it says nothing."""
        text = self.lines.get(name, "").strip()
        return text if text.lower() not in _NOTHING else None

    def column(self, name: str) -> int | None:
        """A column of the metadata, counted from 0."""
        text = self.said(f"{name} COLUMN") or ""
        return int(text) if text.isdigit() and len(text) < 4 else None


@dataclass(frozen=True, slots=True)
class SpectrumDescription:
    """What a person wrote down of a text table."""

    wavelength_column: int
    "Counted from 0."
    flux_column: int
    error_column: int | None = None
    wavelength_unit: str | None = None
    flux_unit: str | None = None
    julian_date: str | None = None
    "As it was written: how many digits it has is how well it is known."
    target: str | None = None
    telescope: str | None = None
    instrument: str | None = None
    observer: str | None = None
    reference: str | None = None
    bibcode: str | None = None
    dereddened: bool | None = None
    wavelength_range: tuple[float, float] | None = None
    regime: str | None = None
    "optical, infrared, ultraviolet, …"

    def observation(self) -> dict[str, object]:
        """What is told of the observation, under the names that FITS files have it under."""
        names = ("target", "telescope", "instrument", "observer", "reference", "bibcode", "dereddened")
        return {name: told for name in names if (told := getattr(self, name)) is not None}


def parse_spectra_ticket(text: str) -> SpectraTicket:
    """A ticket, line by line."""
    found = (_TICKET_LINE.match(line) for line in text[:100_000].splitlines())
    return SpectraTicket({match[1].strip(): match[2] for match in found if match})


def parse_descriptions(text: str, ticket: SpectraTicket) -> dict[str, SpectrumDescription]:
    """File names of a metadata table, each with its description; rows that lack a column are left out."""
    told: dict[str, SpectrumDescription] = {}
    name_column = ticket.column("FILENAME")
    if name_column is None:
        return told
    for number, row in enumerate(csv.reader(io.StringIO(text))):
        if number > MOST_ROWS:
            break
        if row and not row[0].startswith("#") and (description := _described(row, ticket)):
            told[_cell(row, name_column) or ""] = description
    told.pop("", None)
    return told


def _described(row: list[str], ticket: SpectraTicket) -> SpectrumDescription | None:
    def said(name: str) -> str | None:
        return _cell(row, ticket.column(name))

    wave, flux, error = (_number(said(name)) for name in ("WAVELENGTH", "FLUX", "FLUX ERROR"))
    if wave is None or flux is None:
        return None
    dereddened = (ticket.said("DEREDDENED FLAG") or "").lower()
    return SpectrumDescription(
        wave,
        flux,
        error,
        flux_unit=said("FLUX UNITS") or ticket.said("FLUX UNITS"),
        julian_date=said("DATE") if (ticket.said("TIME SYSTEM") or "JD") == "JD" else None,
        target=(ticket.said("OBJECT NAME") or "").replace("_", " ") or None,
        telescope=said("TELESCOPE"),
        instrument=said("INSTRUMENT"),
        observer=said("OBSERVER"),
        reference=ticket.said("REFERENCE"),
        bibcode=ticket.said("BIBCODE"),
        dereddened={"true": True, "false": False}.get(dereddened),
        wavelength_range=_range(row, ticket.said("WAVELENGTH RANGE COLUMN")),
        regime=(ticket.said("WAVELENGTH REGIME") or "").lower() or None,
    )


def _cell(row: list[str], column: int | None) -> str | None:
    if column is None or column >= len(row):
        return None
    text = row[column].strip()[:200]
    return text if text.lower() not in _NOTHING else None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() and len(text) < 4 else None


def _range(row: list[str], columns: str | None) -> tuple[float, float] | None:
    numbers = [int(word) for word in (columns or "").split(",") if word.strip().isdigit()]
    try:
        low, high = (float(_cell(row, number) or "") for number in numbers[:2])
    except ValueError:
        return None
    return low, high
