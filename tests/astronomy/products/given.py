"""Spectra and light curves that the tests of products begin with."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.spectrum import Floats, Frame, Medium, Spectrum

FLUX = "erg Angstrom-1 s-1 cm-2"


def a_spectrum(*, points: int = 900, error: bool = True, **changed: Any) -> Spectrum:
    """A noisy continuum from 4000 to 7000 Å with an Hα line, in the rest frame."""
    wavelength = np.linspace(4000.0, 7000.0, points)
    flux = 1e-13 * (1 + 4 * np.exp(-(((wavelength - 6562.8) / 25) ** 2)))
    flux = flux * (1 + 0.03 * np.random.default_rng(7).standard_normal(points))
    given: dict[str, Any] = {
        "wavelength": wavelength,
        "flux": flux,
        "flux_unit": FLUX,
        "uncertainty": np.full(points, 3e-15) if error else None,
        "medium": Medium.AIR,
        "frame": Frame.REST,
    }
    return Spectrum(**{**given, **changed})


def a_light_curve(*, points: int = 120, bands: str = "BVR", limits: int = 6, **changed: Any) -> LightCurve:
    """A nova that fades from magnitude 8, after some nights on which it was not seen."""
    noise = np.random.default_rng(3).standard_normal(points) * 0.05
    unseen = [Measurement(2456000.0 - 2 * i, 14.0, "mag", None, "V", i, upper_limit=True) for i in range(1, limits + 1)]
    seen = [
        Measurement(2456000.0 + i, 8 + 0.03 * i + float(noise[i]), "mag", 0.05, bands[i % len(bands)], 100 + i)
        for i in range(points)
    ]
    return LightCurve(tuple(sorted(unseen + seen, key=lambda one: one.jd)), **changed)


def floats(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)
