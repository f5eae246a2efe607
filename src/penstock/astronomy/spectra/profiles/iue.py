"""The International Ultraviolet Explorer: extracted spectra of its final archive."""

from __future__ import annotations

import numpy as np

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.facts import SpectrumFacts
from penstock.astronomy.spectra.fits_contents import FitsTable
from penstock.astronomy.spectra.medium_and_frame import place
from penstock.astronomy.spectra.observation import observation
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.quality_flags import quality_column, quality_flags
from penstock.astronomy.spectra.reading import MOST_SPECTRA, SpectrumDraft, SpectrumReading
from penstock.astronomy.spectrum import Floats


def _mxlo(facts: SpectrumFacts) -> list[str]:
    for table in facts.tables:
        if table.has_columns("NPOINTS", "WAVELENGTH", "DELTAW"):
            telescope = ["TELESCOP says IUE"] if facts.said("TELESCOP") == "IUE" else []
            return ["columns NPOINTS, WAVELENGTH and DELTAW are there", *telescope]
    return []


@spectrum_profile(
    "iue_mx",
    version=1,
    priority=95,
    recognises=_mxlo,
    plausible=(1000.0, 3500.0),
    assumed=(1000.0, 3500.0),
    providers=("iue", "mast"),
)
def read_mx(reading: SpectrumReading) -> list[SpectrumDraft]:
    """A row for each aperture or order: where it begins, how far apart its points are, and arrays of fluxes."""
    index = _index(reading)
    table = reading.contents.table(index)
    if table.rows > MOST_SPECTRA:
        raise UnusableSpectrum("TOO_MANY_SPECTRA", f"the table has {table.rows} rows, and {MOST_SPECTRA} are taken")
    return [_row(reading, index, row) for row in range(table.rows)]


def _index(reading: SpectrumReading) -> int:
    for index in reading.tables():
        if reading.contents.table(index).named("DELTAW"):
            return index
    raise UnusableSpectrum("AMBIGUOUS_COLUMNS", "no table has a column DELTAW that can be read")


def _row(reading: SpectrumReading, index: int, row: int) -> SpectrumDraft:
    table = reading.contents.table(index)
    count, start, step = (_scalar(table, name, row) for name in ("NPOINTS", "WAVELENGTH", "DELTAW"))
    begin = _scalar(table, "STARTPIX", row) if table.named("STARTPIX") else 1.0
    wave, flux = table.named("WAVELENGTH"), table.named("FLUX", "ABS_CAL", "NET")
    if wave is None or flux is None:
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", "there is none of the columns FLUX, ABS_CAL and NET")
    if not (count > 0 and count % 1 == 0 and begin >= 1 and begin % 1 == 0 and begin - 1 + count <= flux.repeat):
        message = f"NPOINTS says {count:g} from point {begin:g}, and {flux.name} has {flux.repeat}"
        raise UnusableSpectrum("LENGTH_MISMATCH", message, column="NPOINTS")
    part = slice(int(begin) - 1, int(begin) - 1 + int(count))
    unit, assumed = reading.axis_unit((f"TUNIT{wave.number + 1}", wave.unit))
    flux_unit = reading.flux_unit(flux.unit, where=f"TUNIT{flux.number + 1}")
    sigma = table.named("SIGMA") if flux.name.upper() == "FLUX" else None
    error = _array(table, "SIGMA", row)[part].copy() if sigma is not None and sigma.repeat == flux.repeat else None
    axis = start + np.arange(int(count), dtype=np.float64) * step
    draft = SpectrumDraft(axis, unit, _array(table, flux.name, row)[part].copy(), flux_unit, error, _label(table, row))
    draft.unit_assumed = assumed
    flagged = quality_column(table, flux)
    if flagged is not None:
        draft.quality = quality_flags(_array(table, flagged.name, row)[part], profile=reading.profile.name)
    draft.metadata = observation(reading.cards(index), reading.primary)
    place(reading, draft, reading.cards(index), reading.primary)
    return draft


def _scalar(table: FitsTable, name: str, row: int) -> float:
    values = _array(table, name, row)
    if len(values) != 1:
        raise UnusableSpectrum("LENGTH_MISMATCH", f"column {name} must have one value in a row and has {len(values)}")
    return float(values[0])


def _array(table: FitsTable, name: str, row: int) -> Floats:
    column = table.named(name)
    if column is None or not column.is_number:
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", f"column {name} is not there, or holds no numbers", column=name)
    return table.row_numbers(column, row)


def _label(table: FitsTable, row: int) -> str:
    column = table.named("APERTURE", "ORDER")
    if table.rows == 1 or column is None:
        return ""
    return f"{column.name.lower()} {table.texts(column)[row]}"
