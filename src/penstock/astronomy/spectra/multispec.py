"""Dispersion functions of IRAF's multispec format: linear, log-linear, Chebyshev, Legendre and two splines."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectrum import Floats

MOST_PIECES = 2000
_LINEAR, _LOG, _NONLINEAR = 0, 1, 2
_CHEBYSHEV, _LEGENDRE, _CUBIC, _SPLINE = 1, 2, 3, 4
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[EeDd][+-]?\d{1,3})?$")


@dataclass(frozen=True, slots=True)
class ApertureAxis:
    """The wavelengths of one aperture."""

    aperture: int
    beam: int
    points: int
    "As many of its pixels are valid."
    wavelengths: Floats
    doppler: float
    "The redshift that was taken out of them."


def aperture_axis(text: str, *, length: int, shift: float, step: float) -> ApertureAxis:
    """Read `ap beam dtype w1 dw nw z aplow aphigh [functions]`; the pixel of a place is `(place - shift) / step`."""
    numbers = _Numbers(text)
    aperture, beam, kind = numbers.whole("aperture"), numbers.whole("beam"), numbers.whole("dispersion type")
    first, width, points, doppler = (numbers.next(name) for name in ("w1", "dw", "nw", "z"))
    numbers.next("aplow")
    numbers.next("aphigh")
    trimmed = shift != 0.0 or step != 1.0
    if not (0 < points < 1e9 and points == int(points) and (trimmed or points <= length)) or doppler <= -1:
        raise _malformed(f"nw is {points} and z {doppler}, for {length} pixels")
    pixels = (np.arange(1, length + 1, dtype=np.float64) - shift) / step
    wavelengths = _wavelengths(kind, first, width, pixels, numbers)
    numbers.end()
    return ApertureAxis(aperture, beam, min(int(points), length), wavelengths / (1.0 + doppler), doppler)


class _Numbers:
    """The numbers of a specification, taken one by one."""

    def __init__(self, text: str) -> None:
        self._words = text.split()
        self._at = 0

    def next(self, what: str) -> float:
        if self._at >= len(self._words):
            raise _malformed(f"it ends before {what}")
        word = self._words[self._at]
        self._at += 1
        if not _NUMBER.match(word):
            raise _malformed(f"{what} is no number: {word[:40]!r}")
        return float(word.upper().replace("D", "E"))

    def whole(self, what: str) -> int:
        number = self.next(what)
        if number != int(number):
            raise _malformed(f"{what} is no whole number: {number}")
        return int(number)

    @property
    def more(self) -> bool:
        return self._at < len(self._words)

    def end(self) -> None:
        if self.more:
            raise _malformed(f"{len(self._words) - self._at} numbers are left over")


def _wavelengths(kind: int, first: float, width: float, pixels: Floats, numbers: _Numbers) -> Floats:
    if kind == _LINEAR:
        return first + (pixels - 1.0) * width
    if kind == _LOG:
        return np.asarray(np.power(10.0, first + (pixels - 1.0) * width))
    if kind == _NONLINEAR:
        return _functions(pixels, numbers)
    if kind == -1:
        raise UnusableSpectrum("NO_WAVELENGTH", "the aperture says itself that it is not calibrated (type -1)")
    raise _malformed(f"dispersion type {kind} is none of 0, 1 and 2")


def _functions(pixels: Floats, numbers: _Numbers) -> Floats:
    """The weighted sum of all functions, each with its shift."""
    total = np.zeros_like(pixels)
    count = 0
    while numbers.more or count == 0:
        weight, offset, kind = numbers.next("weight"), numbers.next("zero point"), numbers.whole("function type")
        total += weight * (offset + _function(kind, pixels, numbers))
        count += 1
        if count > 20:
            raise _malformed("it has more than 20 functions")
    return total


def _function(kind: int, pixels: Floats, numbers: _Numbers) -> Floats:
    if kind not in (_CHEBYSHEV, _LEGENDRE, _CUBIC, _SPLINE):
        raise _malformed(f"function type {kind} is not known")
    order = numbers.whole("order")
    low, high = numbers.next("pmin"), numbers.next("pmax")
    if not (1 <= order <= MOST_PIECES and low < high):
        raise _malformed(f"its order is {order}, between pixels {low} and {high}")
    extra = {_CUBIC: 3, _SPLINE: 1}.get(kind, 0)
    coefficients = np.array([numbers.next("a coefficient") for _ in range(order + extra)])
    if kind in (_CUBIC, _SPLINE):
        return _spline((pixels - low) / (high - low) * order, order, coefficients, cubic=kind == _CUBIC)
    place = (pixels - (high + low) / 2.0) / ((high - low) / 2.0)
    return _polynomial(place, coefficients, legendre=kind == _LEGENDRE)


def _polynomial(place: Floats, coefficients: Floats, *, legendre: bool) -> Floats:
    """Terms follow from the two before: T(i) = 2nT(i-1) - T(i-2), and so for Legendre with its weights."""
    before, term = np.ones_like(place), place
    total: Floats = coefficients[0] * before
    for number in range(1, len(coefficients)):
        total = total + coefficients[number] * term
        lead, lag = ((2 * number + 1) / (number + 1), number / (number + 1)) if legendre else (2.0, 1.0)
        before, term = term, lead * place * term - lag * before
    return total


def _spline(place: Floats, pieces: int, coefficients: Floats, *, cubic: bool) -> Floats:
    """Between knots at whole numbers, out of two or four coefficients; beyond the ends the last piece goes on."""
    piece = np.clip(np.floor(place).astype(np.int64), 0, pieces - 1)
    b = place - piece
    a = 1.0 - b
    if not cubic:
        return np.asarray(coefficients[piece] * a + coefficients[piece + 1] * b)
    terms = (a**3, 1.0 + 3.0 * a * (1.0 + a * b), 1.0 + 3.0 * b * (1.0 + a * b), b**3)
    total: Floats = np.zeros_like(place)
    for number, term in enumerate(terms):
        total = total + coefficients[piece + number] * term
    return total


def _malformed(why: str) -> UnusableSpectrum:
    return UnusableSpectrum("MALFORMED_DISPERSION", f"the multispec dispersion cannot be read: {why}", why=why)
