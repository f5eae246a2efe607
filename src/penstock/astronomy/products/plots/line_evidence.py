"""Whether a spectrum has a peak or a dip near a wavelength, against what is to both sides of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.spectrum import Floats

NEAR = 0.004
"How far from its wavelength a peak may be, as a part of it: 1200 km/s, the winds of a nova."
FAR, _STRONG = 0.007, 4.5
"The same, 2100 km/s, for one that stands out so many times the noise."
_WIDE, _AROUND = 2 * NEAR, 0.025
_NARROW = 0.0095
"How far from its middle a line has fallen to half its height, as a part of its wavelength; what is wider is no line."
_EVIDENT = 3.5
"How many times the noise a peak must stand out."
_MOST, _FEWEST = 1000, 6
"So many values around a line are looked at, and so many are needed."


@dataclass(frozen=True, slots=True)
class SeenFeature:
    """A peak or a dip: how many times the noise it stands out, and where."""

    strength: float
    place: float


def evidence(wavelength: Floats, flux: Floats, line: float) -> float:
    """How many times the noise a peak or a dip at a line stands out; 0 if there is none."""
    found = feature(wavelength, flux, line)
    return 0.0 if found is None else found.strength


def feature(wavelength: Floats, flux: Floats, line: float, *, near: float = NEAR) -> SeenFeature | None:
    """The peak or dip at a line that stands out of the noise and falls to half its height on both sides."""
    inside = slice(*np.searchsorted(wavelength, [line * (1 - _AROUND), line * (1 + _AROUND)]))
    away, values = _fewer(wavelength[inside] / line - 1, flux[inside])
    beside = np.abs(away) > _WIDE
    if np.count_nonzero(beside) < _FEWEST or not (np.abs(away) <= near).any():
        return None
    level, noise = _continuum(away, values, beside)
    smooth = _smoothed(values)
    standing = smooth - level
    at = int(np.where(np.abs(away) <= near, np.abs(standing), 0.0).argmax())
    if noise <= 0 or abs(standing[at]) < _EVIDENT * noise or not _is_top(away, smooth, at, float(standing[at])):
        return None
    return SeenFeature(float(abs(standing[at]) / noise), line * (1 + float(away[at])))


def strong_feature(wavelength: Floats, flux: Floats, line: float) -> SeenFeature | None:
    """One that stands out very far, somewhat further from a line; looked at again around its own place."""
    first = feature(wavelength, flux, line, near=FAR)
    again = None if first is None else feature(wavelength, flux, first.place)
    return again if again is not None and again.strength > _STRONG and abs(again.place / line - 1) <= FAR else None


def _is_top(away: Floats, values: Floats, at: int, height: float) -> bool:
    """Whether nothing higher adjoins, and the flux itself falls on both sides, soon to half of how far it falls."""
    heights = values * np.sign(height)
    here = np.abs(away - away[at])
    if heights[here <= NEAR / 2].max() > heights[at]:
        return False
    left, right = heights[:at], heights[at + 1 :]
    if not (left.size and right.size):
        return False
    fall = heights[at] - max(float(left.min()), float(right.min()))
    low = np.flatnonzero(heights < heights[at] - fall / 2)
    before, after = low[low < at], low[low > at]
    if fall < abs(height) / 2 or not (before.size and after.size):
        return False
    return bool(away[after[0]] - away[before[-1]] <= 2 * _NARROW)


def _fewer(away: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The finite values; of very many, the means of neighbours, so that no line costs more than others."""
    good = np.isfinite(away) & np.isfinite(values)
    away, values = away[good], values[good]
    length = values.size // _MOST
    if length < 2:
        return away, values
    whole = values.size // length * length
    return away[:whole].reshape(-1, length).mean(axis=1), values[:whole].reshape(-1, length).mean(axis=1)


def _continuum(away: Floats, values: Floats, beside: NDArray[np.bool_]) -> tuple[Floats, float]:
    """A straight level from the median on one side to that on the other, and the noise around it."""
    sides = [(float(np.median(away[side])), float(np.median(values[side])))
             for side in (beside & (away < 0), beside & (away > 0)) if side.any()]  # fmt: skip
    level = np.interp(away, [place for place, _ in sides], [height for _, height in sides])
    return level, 1.4826 * float(np.median(np.abs(values - level)[beside]))


def _smoothed(values: Floats) -> Floats:
    """Medians of three: one bad pixel is no line."""
    if values.size < 3:
        return values
    ends = np.concatenate([values[:1], values, values[-1:]])
    return np.asarray(np.median(np.stack([ends[:-2], ends[1:-1], ends[2:]]), axis=0))
