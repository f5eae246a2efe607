"""Flags that files keep beside their fluxes, and which of them say that a point is bad."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.fits_contents import FitsTable, TableColumn
from penstock.astronomy.spectrum import Flags, Floats

_NAMES = ("QUALITY", "AND_MASK", "DQ", "QUAL", "FLAGS", "MASK", "DATA_QUALITY")
_KEPT_ONLY = "kept; the file does not say which of them are bad"
_NONZERO = "bad: any but 0"
_RULES: dict[str, tuple[int | None, str]] = {
    # Which bits are bad; None: any bit.
    "iue_mx": (None, f"IUE's QUALITY, {_NONZERO}"),
    "sdss_spec": (None, f"SDSS's and_mask, set in every exposure, {_NONZERO}"),
    "eso_sdp": (None, f"ESO's QUAL, {_NONZERO}"),
    "desi": (None, f"DESI's mask, {_NONZERO}"),
    "hst_x1d": (None, f"HST's DQ, {_NONZERO}"),
    # The other bits tell how a pixel was treated, not that it is spoilt.
    "jwst_x1d": (1, "JWST's DQ, bad: DO_NOT_USE, which is bit 0"),
}
_MOST = 2**53


@dataclass(frozen=True, slots=True)
class QualityFlags:
    """The flags of one spectrum, where they are bad, and by which rule."""

    flags: Flags
    bad: NDArray[np.bool_]
    rule: str


def quality_column(table: FitsTable, flux: TableColumn) -> TableColumn | None:
    """The column of flags that belongs to a column of fluxes: whole numbers, as many in a row."""
    for name in _NAMES:
        found = [column for column in table.columns if column.name.upper() == name]
        if len(found) == 1 and found[0].code in "BIJK" and found[0].repeat == flux.repeat:
            return found[0]
    return None


def quality_flags(values: Floats, *, profile: str, cards: HeaderCards | None = None) -> QualityFlags | None:
    """Flags as whole numbers, judged by what the profile's documentation says of them; None where they are none."""
    whole = np.isfinite(values) & (np.abs(values) < _MOST)
    if not whole.all():
        return None
    flags = values.astype(np.int64)
    bits, rule = _RULES.get(profile, (0, _KEPT_ONLY))
    if profile == "hst_x1d" and cards is not None:
        bits, rule = _serious(cards, rule)
    bad = flags != 0 if bits is None else (flags & bits) != 0
    return QualityFlags(flags, bad, rule)


def _serious(cards: HeaderCards, rule: str) -> tuple[int | None, str]:
    """HST's own word for the flags that are serious."""
    value = cards.first("SDQFLAGS")
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value, f"HST's DQ, bad: those of SDQFLAGS = {value}"
    return None, rule
