"""Which part of the values a picture shows: what is real, not what one bad pixel makes of it."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from penstock.astronomy.spectrum import Floats

_BLOCK = 101
_SPIKE = 1e-4
"How wide a spike may be, as a part of its wavelength: 30 km/s."
_LARGEST = 1e300
"Sums of a few of these can still be told."
_ENDS, _NOISY, _UNSURE = 8, 6.0, 0.3
"Parts of each end that are looked at; how many times the usual noise, and which part of the flux, is too much."
_EVIDENT = 5.0
"How many times its local noise a value must stand out to widen the range on its own."


def flux_range(wavelength: Floats, flux: Floats) -> tuple[float, float] | None:
    """From the least to the greatest flux that its neighbours bear out; None if there is no finite value.

    A spike of one or two pixels, or narrower than any line of a nova (a cosmic ray), does not widen it, and neither
    does noise at the ends of a detector; an emission line does, however high.
    """
    good = np.isfinite(flux) & np.isfinite(wavelength)
    if not good.any():
        return None
    good[np.flatnonzero(good)[_noisy_ends(flux[good])]] = False
    flux = np.clip(flux, -_LARGEST, _LARGEST)
    values = _blocks(flux[good], _pixels_of_a_spike(wavelength[good]))
    smooth, noise = _smoothed(values), _local_noise(values)
    usual = 3 * float(np.median(_local_noise(flux[good])))
    core = np.percentile(smooth, (1, 99)) + np.array([-usual, usual])
    away = smooth[np.abs(smooth - np.median(smooth)) > _EVIDENT * noise]
    shown = np.concatenate([core, away])
    return _with_tips(float(shown.min()), float(shown.max()), flux[good])


def _noisy_ends(values: Floats) -> NDArray[np.bool_]:
    """The ends of a spectrum, a sixth at most on each side, as far as their noise is many times that of the rest."""
    ends = np.zeros(values.size, dtype=bool)
    count = _ENDS * 6
    if values.size < 8 * count:
        return ends
    parts = np.array_split(np.arange(values.size), count)
    with np.errstate(over="ignore", invalid="ignore"):
        noise = np.array([float(np.median(np.abs(np.diff(values[part], n=2)))) for part in parts])
        level = np.array([abs(float(np.median(values[part]))) for part in parts])
    # Noisier than the rest, and not because there is more light: it is no small part of what is there.
    noisy = (noise > _NOISY * float(np.median(noise[_ENDS:-_ENDS]))) & (noise > _UNSURE * level)
    for order in (parts, parts[::-1]):
        quiet = np.flatnonzero(~(noisy if order is parts else noisy[::-1])[: _ENDS + 1])
        for part in order[: int(quiet[0]) if quiet.size else _ENDS]:
            ends[part] = True
    return ends


def _pixels_of_a_spike(wavelength: Floats) -> int:
    if wavelength.size < 2:
        return 1
    step, middle = np.median(np.diff(wavelength)), np.median(wavelength)
    return max(1, min(200, int(abs(middle) * _SPIKE / step))) if step > 0 else 1


def _blocks(values: Floats, length: int) -> Floats:
    """The median of each so many neighbours."""
    if length < 3 or values.size < 20 * length:
        return values
    whole = values[: values.size // length * length]
    found: Floats = np.median(whole.reshape(-1, length), axis=1)
    return found


def _with_tips(low: float, high: float, values: Floats) -> tuple[float, float]:
    """Wider, if that is all it takes to show everything, or a little: smoothing lowers the tips of real lines."""
    room = high - low
    least, greatest = float(values.min()), float(values.max())
    tips = values[(values >= low - 0.12 * room) & (values <= high + 0.12 * room)]
    bottom = least if least >= low - 0.6 * room else float(min(low, tips.min(initial=low)))
    top = greatest if greatest <= high + 0.6 * room else float(max(high, tips.max(initial=high)))
    return bottom, top


def _smoothed(values: Floats) -> Floats:
    if values.size < 15:
        return values
    around = sliding_window_view(np.pad(values, 2, mode="edge"), 5)
    smooth: Floats = np.median(around, axis=1)
    return smooth


def _local_noise(values: Floats) -> Floats:
    """One standard deviation of the noise near each value, from how neighbours differ."""
    if values.size < 2 * _BLOCK:
        blocks = [values]
    else:
        blocks = np.array_split(values, values.size // _BLOCK)
    with np.errstate(over="ignore"):
        noise = [float(np.median(np.abs(np.diff(block)))) / 0.954 if block.size > 1 else 0.0 for block in blocks]
    return np.repeat(np.array(noise), [block.size for block in blocks])


def padded(low: float, high: float, *, above: float = 0.06) -> tuple[float, float]:
    """A little more than a range, so that nothing lies on the frame; from zero, if that is not far."""
    if low == high:
        room = abs(low) * 0.1 or 1.0
        return low - room, high + room
    room = high - low
    floor = 0.0 if 0 <= low < 0.4 * high else low - 0.06 * room
    return floor, high + above * room


def shown_exponent(low: float, high: float) -> int:
    """The power of ten to divide by, so that the numbers along an axis are short; 0 where they are already."""
    largest = max(abs(low), abs(high))
    if largest == 0 or 0.01 <= largest < 10_000:
        return 0
    return max(-300, min(300, math.floor(math.log10(largest))))


def value_range(values: Floats) -> tuple[float, float] | None:
    """The range of measured brightnesses, without the few that lie far from all others; None if there are none."""
    ordered = np.sort(values[np.isfinite(values)])
    if ordered.size == 0:
        return None
    few = max(1, ordered.size // 50) if ordered.size > 3 else 0
    last = min((i for i in range(ordered.size - few, ordered.size) if _far(ordered[:i], ordered[i])), default=None)
    ordered = ordered[:last]
    first = max((i for i in range(few) if _far(ordered[i + 1 :], ordered[i])), default=-1)
    return float(ordered[first + 1]), float(ordered[-1])


def _far(others: Floats, value: float) -> bool:
    """Whether a value is further from all others than three times their own range; those that are missing are 99.99."""
    room = others[-1] - others[0]
    away = max(value - others[-1], others[0] - value)
    return bool(away > 3 * room > 0)
