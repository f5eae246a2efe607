"""The band of a spectrum's uncertainty: how large it is, and whether it can be seen."""

from __future__ import annotations

import numpy as np

from penstock.astronomy.products.plots.flux_axis import FluxAxis
from penstock.astronomy.spectrum import Floats

_SEEN = 4.5
"Pixels that a band must be high to be seen on both sides of a line."
_ENOUGH = 0.1
"The part of the points at which it must be as high."


def typical_error(flux: Floats, error: Floats) -> float | None:
    """The median of errors as parts of their fluxes; None if there is none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        parts = error / np.abs(flux)
    known = parts[np.isfinite(parts) & (error > 0)]
    return float(np.median(known)) if known.size else None


def percent(part: float) -> str:
    """A part in hundredths, with two digits at most."""
    hundredths = 100 * part
    if hundredths >= 1000:
        return "more than 1000 %"
    if hundredths >= 9.95:
        return f"{hundredths:.0f} %"
    return f"{hundredths:.1g} %" if hundredths < 0.95 else f"{hundredths:.2g} %"


def band_is_seen(flux: Floats, error: Floats, axis: FluxAxis, *, height: float) -> bool:
    """Whether the band is higher than the line it surrounds, at least here and there, in a frame of so many pixels."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if axis.logarithmic:
            lower = np.maximum(flux - error, axis.low)
            part = np.log10((flux + error) / lower) / np.log10(axis.high / axis.low)
        else:
            part = 2 * error / (axis.high - axis.low)
    known = part[np.isfinite(part)]
    return bool(known.size) and float(np.mean(known * height > _SEEN)) > _ENOUGH
