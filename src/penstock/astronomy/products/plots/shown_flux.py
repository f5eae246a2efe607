"""A spectrum as its picture has it: flux per Ångström, and gaps where nothing was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock.astronomy.fill_values import fill_values
from penstock.astronomy.spectrum import Floats, Spectrum

_PER_LENGTH = {"nm-1": ("nm", 1e1), "um-1": ("µm", 1e4)}
"How many Ångström the lengths have that fluxes are told per."


def as_shown(spectrum: Spectrum) -> tuple[Spectrum, list[str]]:
    """The spectrum to draw, and what was done to it; the numbers that are stored and written stay as they were."""
    shown, notes = _per_angstrom(spectrum)
    missing = fill_values(spectrum.flux, spectrum.uncertainty)
    count = int(np.count_nonzero(missing))
    if not count:
        return shown, notes
    gaps = "points is a gap" if count == 1 else "points are gaps"
    notes.append(f"{count:,} of {missing.size:,} {gaps}: a flux of exactly 0 stands for nothing measured")
    return replace(shown, flux=np.where(missing, np.nan, shown.flux)), notes


def _per_angstrom(spectrum: Spectrum) -> tuple[Spectrum, list[str]]:
    parts = spectrum.flux_unit.split()
    found = [part for part in parts if part in _PER_LENGTH]
    if len(found) != 1 or "Angstrom-1" in parts:
        return spectrum, []
    name, length = _PER_LENGTH[found[0]]
    unit = " ".join("Angstrom-1" if part == found[0] else part for part in parts)
    error = None if spectrum.uncertainty is None else _divided(spectrum.uncertainty, length)
    shown = replace(spectrum, flux=_divided(spectrum.flux, length), uncertainty=error, flux_unit=unit)
    return shown, [f"flux shown per Å; the file tells it per {name} (1 {name} = {length:,.0f} Å)"]


def _divided(values: Floats, length: float) -> Floats:
    return np.asarray(values, dtype=np.float64) / length
