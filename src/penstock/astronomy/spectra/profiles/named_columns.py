"""Tables that name no instrument, yet say by their columns what they are: merged spectra, arrays in rows."""

from __future__ import annotations

from penstock.astronomy.spectra.facts import SpectrumFacts
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.profiles.plain import read_tables
from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading
from penstock.astronomy.spectra.table_spectra import FLUXES, WAVES


def _named(facts: SpectrumFacts, *, vectors: bool) -> list[str]:
    for table in facts.tables:
        wave = next((name for name in WAVES if table.has_columns(name)), None)
        flux = next((name for name in FLUXES if table.has_columns(name)), None)
        if wave and flux and table.is_vector_table == vectors:
            return [f"columns {wave} and {flux} are there"]
    return []


@spectrum_profile("merged_table", version=1, priority=50, recognises=lambda facts: _named(facts, vectors=False))
def read_merged(reading: SpectrumReading) -> list[SpectrumDraft]:
    """A row for each wavelength."""
    return read_tables(reading)


@spectrum_profile("row_arrays", version=1, priority=50, recognises=lambda facts: _named(facts, vectors=True))
def read_row_arrays(reading: SpectrumReading) -> list[SpectrumDraft]:
    """Arrays in each row, which is a spectrum: of an order, a target or an aperture."""
    return read_tables(reading)
