"""The columns a spectrum has, whatever file they are written to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.fill_values import fill_values
from penstock.astronomy.spectrum import Floats, Medium, Spectrum
from penstock.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class SpectrumColumn:
    """One column, with what the Virtual Observatory calls it."""

    name: str
    values: Floats
    unit: str
    description: str
    ucd: str
    utype: str


def spectrum_columns(spectrum: Spectrum) -> list[SpectrumColumn]:
    """Wavelength, flux and, where it is known, uncertainty; refused if they have not one length.

    What was not measured is NaN, whatever number the file has in its place.
    """
    check_lengths(spectrum)
    unmeasured = fill_values(spectrum.flux, spectrum.uncertainty)
    air = ";obs.atmos" if spectrum.medium is Medium.AIR else ""
    flux = "phot.flux.density;em.wl" if spectrum.flux_unit else "arith.ratio;phot.flux.density;em.wl"
    data = "spec:Spectrum.Data."
    found = [
        ("wavelength", spectrum.wavelength, "Angstrom", "wavelength", f"em.wl{air}", f"{data}SpectralAxis.Value"),
        (
            "flux",
            np.where(unmeasured, np.nan, spectrum.flux),
            spectrum.flux_unit,
            "flux",
            flux,
            f"{data}FluxAxis.Value",
        ),
    ]
    if spectrum.uncertainty is not None:
        error = ("one standard deviation of the flux", f"stat.error;{flux}", f"{data}FluxAxis.Accuracy.StatError")
        known = np.where(unmeasured, np.nan, spectrum.uncertainty)
        found.append(("uncertainty", known, spectrum.flux_unit, *error))
    return [
        SpectrumColumn(name, np.ascontiguousarray(values, dtype=np.float64), *told) for name, values, *told in found
    ]


def usable_mask(spectrum: Spectrum) -> NDArray[np.bool_]:
    """True where a point is not to be used, as masks are written: not measured, or flagged as bad."""
    mask = fill_values(spectrum.flux, spectrum.uncertainty) | ~np.isfinite(spectrum.flux)
    return mask if spectrum.bad is None else np.asarray(mask | spectrum.bad)


def check_lengths(spectrum: Spectrum) -> None:
    """That all arrays are flat and have one length."""
    arrays: dict[str, NDArray[Any] | None]
    arrays = {"wavelength": spectrum.wavelength, "flux": spectrum.flux, "uncertainty": spectrum.uncertainty}
    arrays |= {"quality": spectrum.quality, "bad": spectrum.bad}
    shapes = {name: np.shape(values) for name, values in arrays.items() if values is not None}
    if len(set(shapes.values())) != 1 or len(shapes["wavelength"]) != 1:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise InvalidValue(f"the arrays of a spectrum have one length; these have the shapes {told}")
