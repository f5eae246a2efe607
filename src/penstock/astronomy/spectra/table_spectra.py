"""Spectra that lie in tables: which column is which, and whether rows are points or spectra."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.astronomy.spectra.axis_name import counts_what_its_name_says
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.fits_contents import FitsTable, TableColumn
from penstock.astronomy.spectra.flux_units import error_fits
from penstock.astronomy.spectra.image_spectra import INVERSES, VARIANCES, as_deviation
from penstock.astronomy.spectra.medium_and_frame import place
from penstock.astronomy.spectra.observation import observation
from penstock.astronomy.spectra.quality_flags import QualityFlags, quality_column, quality_flags
from penstock.astronomy.spectra.reading import MOST_SPECTRA, SpectrumDraft, SpectrumReading
from penstock.astronomy.spectra.spectral_units import spectral_unit
from penstock.astronomy.spectrum import Floats, Medium


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WAVES = _words(
    "WAVELENGTH WAVE LAMBDA LAM WAV WLEN WL WAVELEN WAVELENGTHS AWAV WAVE_AIR WAVE_VAC WAVELENGTH_AIR "
    "WAVELENGTH_VAC LAMBDA_AIR LAMBDA_VAC LOGLAM LOG_LAMBDA LOGLAMBDA LOGWAVE LOG_WAVE LOG10LAM SPECTRAL_AXIS "
    "OPT_WAVE BOX_WAVE WAVELENGTH_A WAVE_GRID_MID WVL FREQUENCY FREQ NU ENERGY WAVENUMBER WAVENUM"
)
FLUXES = _words(
    "FLUX FLUX_REDUCED FLUX_CAL FLUX_DENSITY FLUXDENSITY FLAM F_LAMBDA FLUX_LAMBDA FNU F_NU ABS_CAL OPT_FLAM "
    "FLUX_NORM NORM_FLUX SPEC SPECTRUM INTENSITY NET OPT_COUNTS COUNTS BOX_FLAM BOX_COUNTS DATA FLUX_COUNTS "
    "BGFLUX"
)
_FLUX_STEMS = ("FLUX", "EXTRACTED_", "SPEC")
DEVIATIONS = _words(
    "ERR_FLUX FLUX_ERR FLUX_ERROR FLUXERR FLUXERROR ERR_REDUCED ERR ERROR ERRORS SIGMA SIG STATERROR "
    "STAT_ERROR E_FLUX EFLUX FLUX_SIGMA UNC UNCERTAINTY STDDEV STD NOISE OPT_FLAM_SIG OPT_COUNTS_SIG ERR_CAL "
    "ERRS FLUX_UNC SIGMA_FLUX ERROR_FLUX"
)
_LABELS = ("SPORDER", "ORDER", "SEGMENT", "APERTURE", "TARGETID", "TARGET", "OBJECT", "FIBER", "FIBERID", "CHIP")
_ABOUT_FLUX = re.compile(r"ERR|SIG|UNC|IVAR|VAR|MASK|DQ|QUAL|FLAG|SKY|BACK|CONT|MODEL|TELL")
_UNIT_IN_NAME = re.compile(r".*[_\s(\[](A|ANG|ANGSTROMS?|NM|UM|MICRONS?|HZ|GHZ|KEV|EV)[)\]]?$")


@dataclass(frozen=True, slots=True)
class SpectrumColumns:
    """The columns of a spectrum."""

    wave: TableColumn
    flux: TableColumn
    error: TableColumn | None


def spectrum_columns(table: FitsTable) -> SpectrumColumns | None:
    """The columns by their names; None where there are no wavelengths, or no fluxes."""
    wave = _numeric(table, WAVES)
    flux = _numeric(table, FLUXES) or _by_stem(table, wave)
    if wave is None or flux is None:
        return None
    return SpectrumColumns(wave, flux, _error_column(table, flux))


def _numeric(table: FitsTable, names: Sequence[str]) -> TableColumn | None:
    column = table.named(*names)
    return column if column is not None and column.is_number else None


def _by_stem(table: FitsTable, wave: TableColumn | None) -> TableColumn | None:
    """The only column whose name begins like one of fluxes."""
    found = [
        column
        for column in table.columns
        if column.is_number
        and column != wave
        and column.name.upper().startswith(_FLUX_STEMS)
        and not _ABOUT_FLUX.search(column.name.upper())
    ]
    if len(found) > 1:
        names = [column.name for column in found[:9]]
        message = f"the columns {', '.join(names)} may all be the flux, and nothing tells which of them is"
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", message, columns=names)
    return found[0] if found else None


def _error_column(table: FitsTable, flux: TableColumn) -> TableColumn | None:
    own = (f"{flux.name}_ERR", f"{flux.name}_ERROR", f"ERR_{flux.name}", f"{flux.name}_SIG", f"{flux.name}_IVAR")
    return _numeric(table, (*own, *DEVIATIONS, *VARIANCES, *INVERSES))


def table_drafts(
    reading: SpectrumReading, index: int, columns: SpectrumColumns, *, unit_told: tuple[str, str | None] | None = None
) -> list[SpectrumDraft]:
    """The spectra of a table: one whose points are rows, or one for each row that holds arrays."""
    table = reading.contents.table(index)
    wave, flux = table.numbers(columns.wave), table.numbers(columns.flux)
    unit, assumed = reading.axis_unit(*_units_told(columns.wave), *((unit_told,) if unit_told else ()))
    counts_what_its_name_says(columns.wave.name, unit, assumed=assumed)
    told = columns.flux.unit or reading.cards(index).text("BUNIT") or reading.primary.text("BUNIT")
    flux_text = reading.flux_unit(told, where=f"TUNIT{columns.flux.number + 1}")
    errors = _errors(reading, table, columns, flux_text)
    flagged = quality_column(table, columns.flux)
    flags = table.numbers(flagged) if flagged is not None else None
    drafts = []
    for label, row in _rows(table, columns, wave, flux):
        axis, values, error, quality = (_part(array, row) for array in (wave, flux, errors, flags))
        assert axis is not None
        assert values is not None
        draft = SpectrumDraft(axis, unit, values, flux_text, error, label, _medium(columns.wave))
        draft.unit_assumed = assumed
        if quality is not None:
            draft.quality = quality_flags(quality, profile=reading.profile.name, cards=reading.cards(index))
        draft.metadata = observation(reading.cards(index), reading.primary)
        place(reading, draft, reading.cards(index), reading.primary)
        drafts.append(draft)
    return _cut(table, drafts)


def _units_told(wave: TableColumn) -> Iterator[tuple[str, str | None]]:
    """What the unit of a column of wavelengths is, by its card or by its name."""
    name, told = wave.name.upper(), wave.unit
    if name.startswith("LOG"):
        plain = spectral_unit(told) if told else None
        yield f"TTYPE{wave.number + 1}", f"log10({plain.name if plain and not plain.log10 else 'Angstrom'})"
        if told and plain is None and told.lower() not in ("", "log", "dex", "none"):
            yield f"TUNIT{wave.number + 1}", told
        return
    yield f"TUNIT{wave.number + 1}", told
    if not told and (found := _UNIT_IN_NAME.match(name)):
        yield f"TTYPE{wave.number + 1}", found[1]


def _medium(wave: TableColumn) -> Medium:
    name, ucd = wave.name.upper(), wave.ucd.lower()
    if name.endswith("_AIR") or name == "AWAV" or "obs.atmos" in ucd:
        return Medium.AIR
    return Medium.VACUUM if name.endswith("_VAC") else Medium.UNKNOWN


def _errors(
    reading: SpectrumReading, table: FitsTable, columns: SpectrumColumns, flux_text: str
) -> Floats | list[Floats] | None:
    column = columns.error
    if column is None:
        return None
    deviation = column.name.upper() not in VARIANCES + INVERSES and not column.name.upper().endswith("_IVAR")
    if not error_fits(column.unit, flux_text, deviation=deviation):
        reading.assume(
            "uncertainty", "left out", f"column {column.name} is in {column.unit}, another unit than the flux"
        )
        return None
    name = "IVAR" if column.name.upper().endswith("IVAR") else column.name.upper()
    values = table.numbers(column)
    return [as_deviation(row, name) for row in values] if isinstance(values, list) else as_deviation(values, name)


def _rows(
    table: FitsTable, columns: SpectrumColumns, wave: Floats | list[Floats], flux: Floats | list[Floats]
) -> Iterator[tuple[str, int | None]]:
    """Labels and rows; no row: the rows are the points."""
    points = [not isinstance(array, list) and array.shape[1] == 1 for array in (wave, flux)]
    if all(points) and table.rows > 1:
        yield "", None
        return
    if any(points) and not all(points):
        message = f"{columns.wave.name} and {columns.flux.name} do not have the same number of values in a row"
        raise UnusableSpectrum("LENGTH_MISMATCH", message, columns=[columns.wave.name, columns.flux.name])
    if table.rows > MOST_SPECTRA:
        message = (
            f"the table has {table.rows} spectra, and {MOST_SPECTRA} are taken from one file: say which as aperture"
        )
        raise UnusableSpectrum("TOO_MANY_SPECTRA", message, spectra=table.rows)
    labels = _labels(table)
    for row in range(table.rows):
        yield labels[row] if table.rows > 1 else "", row


def _labels(table: FitsTable) -> list[str]:
    column = table.named(*_LABELS)
    if column is None or (column.repeat > 1 and column.code != "A"):
        return [f"row {row + 1}" for row in range(table.rows)]
    return [f"{column.name.lower()} {text.strip('[]').strip()}" for text in table.texts(column)]


def _part(array: Floats | list[Floats] | None, row: int | None) -> Floats | None:
    if array is None:
        return None
    if row is not None:
        return array[row]
    return array[0] if isinstance(array, list) else array[:, 0]


def _cut(table: FitsTable, drafts: list[SpectrumDraft]) -> list[SpectrumDraft]:
    """Rows of which NELEM says how many values are meant end there."""
    column = table.named("NELEM")
    if column is None or not column.is_number or column.repeat != 1 or len(drafts) != table.rows:
        return drafts
    counts = table.numbers(column)
    for draft, count in zip(drafts, counts, strict=True):
        many = float(count[0])
        if not 0 < many <= len(draft.axis) or many % 1:
            message = f"NELEM says {many:g}, of {len(draft.axis)} values that are there"
            raise UnusableSpectrum("LENGTH_MISMATCH", message, column="NELEM")
        draft.axis, draft.flux = draft.axis[: int(many)], draft.flux[: int(many)]
        draft.uncertainty = None if draft.uncertainty is None else draft.uncertainty[: int(many)]
        if draft.quality is not None:
            flags, bad = draft.quality.flags[: int(many)], draft.quality.bad[: int(many)]
            draft.quality = QualityFlags(flags, bad, draft.quality.rule)
    return drafts
