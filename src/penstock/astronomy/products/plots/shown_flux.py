"""A spectrum as its picture has it: flux per Ångström, and gaps where nothing was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.fill_values import fill_values
from penstock.astronomy.spectrum import Floats, Spectrum

_PER_LENGTH = {"nm-1": ("nm", 1e1), "um-1": ("µm", 1e4)}
"How many Ångström the lengths have that fluxes are told per."

_MOST_HIDDEN = 0.5


def as_shown(spectrum: Spectrum) -> tuple[Spectrum, list[str]]:
    """The spectrum to draw, and what was done to it; the numbers that are stored and written stay as they were."""
    shown, notes = _per_angstrom(spectrum)
    missing = fill_values(spectrum.flux, spectrum.uncertainty)
    if count := int(np.count_nonzero(missing)):
        notes.append(f"{_gaps(count, missing.size)}: a flux of exactly 0 stands for nothing measured")
    bad = _bad(spectrum, notes)
    hidden = missing if bad is None else missing | bad
    return (replace(shown, flux=np.where(hidden, np.nan, shown.flux)) if hidden.any() else shown), notes


def _bad(spectrum: Spectrum, notes: list[str]) -> NDArray[np.bool_] | None:
    """Points that the file flags as bad, unless they are so many that little would be left."""
    count = 0 if spectrum.bad is None else int(np.count_nonzero(spectrum.bad))
    if spectrum.bad is None or not count:
        return None
    if count > _MOST_HIDDEN * spectrum.bad.size:
        notes.append(
            f"{count:,} of {spectrum.bad.size:,} points are flagged as bad by the file, and shown all the same"
        )
        return None
    notes.append(f"{_gaps(count, spectrum.bad.size)}: the file flags them as bad")
    return spectrum.bad


def _gaps(count: int, size: int) -> str:
    return f"{count:,} of {size:,} {'points is a gap' if count == 1 else 'points are gaps'}"


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
