"""The numbers that stored ones stand for: null, scale and zero, with no digit lost that a float64 can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.astronomy.spectrum import Floats

_SIGN = 2**63
"The zero of whole numbers without a sign that are stored with one, in 64 bits."


def true_numbers(raw: Any, null: float | None, scale: float | None, zero: float | None) -> Floats:
    """An array as float64. What is null is so as it is stored, before anything is scaled."""
    stored = np.asarray(raw)
    missing = stored == null if null is not None else None
    numbers = _shifted(stored, zero) if scale is None or scale == 1.0 else _scaled(stored, scale, zero)
    if missing is not None:
        numbers[missing] = np.nan
    return numbers


def _scaled(stored: Any, scale: float, zero: float | None) -> Floats:
    numbers: Floats = np.array(stored, dtype=np.float64) * scale
    return numbers + zero if zero else numbers


def _shifted(stored: Any, zero: float | None) -> Floats:
    """Whole numbers of 64 bits are added as such: near their zero a float64 has steps of a thousand."""
    if not zero or stored.dtype.kind != "i" or stored.dtype.itemsize < 8 or zero % 1 or not stored.size:
        numbers = np.array(stored, dtype=np.float64)
        return numbers + zero if zero else numbers
    if zero == _SIGN:
        return np.asarray(stored.astype(np.uint64) ^ np.uint64(_SIGN), dtype=np.float64)
    reach = max(abs(int(stored.min())), abs(int(stored.max()))) + abs(int(zero))
    if reach < _SIGN:
        return np.asarray(stored.astype(np.int64) + int(zero), dtype=np.float64)
    return np.array(stored, dtype=np.float64) + zero
