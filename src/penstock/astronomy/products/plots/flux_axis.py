"""The flux axis of a picture: its range, its power of ten, its words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.products.plots.plot_range import flux_range, padded, shown_exponent
from penstock.astronomy.products.plots.plot_words import flux_words, power_of_ten
from penstock.astronomy.spectrum import Floats, Spectrum

_FAR_APART = 100.0
"Fluxes of a wide spectrum that differ by more than this are shown on a logarithmic axis."

_LARGE, _UNSURE, _FEW = 5.0, 0.3, 0.25
"An error is large if it is so many times the median and such a part of its flux, and if few are."
_STRETCH = 25


@dataclass(frozen=True, slots=True)
class FluxAxis:
    """From where to where it goes, after division by the power of ten."""

    low: float
    high: float
    exponent: int
    words: str
    logarithmic: bool = False

    def scaled(self, values: Floats) -> Floats:
        """Values as they are drawn; what is not finite, or not positive on a logarithmic axis, is a gap."""
        with np.errstate(over="ignore", invalid="ignore"):
            drawn = np.asarray(values, dtype=np.float64) / 10.0**self.exponent
            good = np.isfinite(drawn) & (drawn > 0 if self.logarithmic else True)
        return np.where(good, drawn, np.nan)

    def drawable(self) -> tuple[float, float]:
        """How far outside the frame a line is followed: far enough to leave it, near enough for the renderer."""
        if self.logarithmic:
            return self.low / 10, self.high * 10
        room = self.high - self.low
        return self.low - 3 * room, self.high + 3 * room

    def decades(self) -> tuple[list[float], list[str]]:
        """The powers of ten inside, and how they are written; not more than nine."""
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        exponents = range(first, last + 1, max(1, -(-(last - first + 1) // 9)))
        return [10.0**n for n in exponents], [power_of_ten(n) for n in exponents]


def flux_axis(spectrum: Spectrum, *, wide: bool) -> FluxAxis:
    """The axis for a spectrum; logarithmic if it is wide and steep."""
    flux, error = np.asarray(spectrum.flux, dtype=np.float64), is_error(spectrum)
    if wide and (found := _decades_apart(flux)):
        words = f"{flux_words(spectrum.flux_unit, 0, error=error)}, logarithmic"
        return FluxAxis(found[0] / 2, found[1] * 2, 0, words, True)
    sure = np.where(_doubtful(flux, spectrum.uncertainty), np.nan, flux)
    low, high = flux_range(np.asarray(spectrum.wavelength, dtype=np.float64), sure) or (0.0, 1.0)
    exponent = shown_exponent(low, high)
    low, high = padded(low / 10.0**exponent, high / 10.0**exponent, above=0.08)
    return FluxAxis(low, high, exponent, flux_words(spectrum.flux_unit, exponent, error=error))


def is_error(spectrum: Spectrum) -> bool:
    """Whether these are errors of fluxes that are in another file."""
    return spectrum.metadata.get("quantity") == "uncertainty"


def _doubtful(flux: Floats, error: Floats | None) -> NDArray[np.bool_]:
    """Stretches whose errors are large, beside their values and beside most others: the ends of a detector.

    Stretches and not points: of noise, the points that are high by chance have the smallest part in errors.
    """
    nothing = np.zeros(flux.shape, dtype=bool)
    known = nothing if error is None else np.isfinite(error) & (error > 0)
    if error is None or not known.any():
        return nothing
    errors, fluxes = _stretched(np.where(known, error, np.nan)), np.abs(_stretched(flux))
    with np.errstate(invalid="ignore", over="ignore"):
        large = (errors > _LARGE * np.median(error[known])) & (errors > _UNSURE * fluxes)
    return large if np.count_nonzero(large) < _FEW * flux.size else nothing


def _stretched(values: Floats) -> Floats:
    """The (lower) median of each stretch, in place of its values; NaN where a stretch has none that is finite."""
    length = max(1, min(_STRETCH, values.size // 20))
    finite = np.pad(np.where(np.isfinite(values), values, np.nan), (0, -values.size % length), mode="edge")
    ordered = np.sort(finite.reshape(-1, length), axis=1)  # what is NaN comes last
    known = np.count_nonzero(np.isfinite(ordered), axis=1)
    medians = ordered[np.arange(known.size), np.maximum(known - 1, 0) // 2]
    return np.asarray(np.repeat(medians, length)[: values.size])


def _decades_apart(flux: Floats) -> tuple[float, float] | None:
    """The range of fluxes that are nearly all positive and differ by orders of magnitude; None if they do not."""
    finite = flux[np.isfinite(flux)]
    positive = finite[finite > 0]
    if positive.size < 0.98 * finite.size or positive.size < 10:
        return None
    low, high = np.percentile(positive, (0.5, 99.9))
    return (float(low), float(high)) if high > _FAR_APART * low > 1e-300 else None
