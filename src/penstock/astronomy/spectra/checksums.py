"""Whether the checksums that a FITS file carries are those of its bytes."""

from __future__ import annotations

import re

import numpy as np

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.fits_contents import FitsContents
from penstock.astronomy.spectra.hdu_blocks import HduBlock

_ALL_ONES = 0xFFFFFFFF


def checked(contents: FitsContents) -> tuple[str | None, list[Assumption]]:
    """The first CHECKSUM or DATASUM of the file, if all of them hold; what is not believed is told.

    IRAF copies these cards and changes what they are about: behind its signature they prove nothing.
    """
    first, stale = None, False
    for number, block in enumerate(contents.blocks):
        wrong = _wrong_card(contents, block)
        if wrong is not None and not _by_iraf(contents, block):
            message = f"{wrong} of HDU {number} does not fit its bytes: fetch the file again, or ask who published it"
            raise UnusableSpectrum("CHECKSUM_MISMATCH", message, card=wrong, hdu=number)
        stale = stale or wrong is not None
        first = first or (None if wrong else _told(block, "CHECKSUM") or _told(block, "DATASUM"))
    why = "IRAF, which wrote the file, does not renew CHECKSUM and DATASUM"
    return first, [Assumption("checksum", "out of date", why)] if stale else []


def _wrong_card(contents: FitsContents, block: HduBlock) -> str | None:
    datasum = _told(block, "DATASUM")
    if datasum is not None and datasum.isdigit() and int(datasum) != _sum(contents, block.data_start, block.end):
        return "DATASUM"
    whole = _told(block, "CHECKSUM")
    # Sixteen zeros, or nothing, stand for a checksum that was not made.
    if whole and whole.strip("0") and _sum(contents, block.start, block.end) not in (0, _ALL_ONES):
        return "CHECKSUM"
    return None


def _by_iraf(contents: FitsContents, block: HduBlock) -> bool:
    origin = block.cards.said("ORIGIN") or contents.blocks[0].cards.said("ORIGIN") or ""
    return bool(re.search("IRAF", origin, re.IGNORECASE))


def _told(block: HduBlock, key: str) -> str | None:
    value = block.cards.first(key)
    return str(value).strip() if value is not None and not isinstance(value, bool) else None


def _sum(contents: FitsContents, start: int, end: int) -> int:
    """The ones' complement sum of 32-bit words, as the FITS checksum convention has it."""
    data = contents.part(start, end)
    data = data.ljust(-(-len(data) // 4) * 4, b"\0")
    total = int(np.frombuffer(data, ">u4").sum(dtype=np.uint64)) if data else 0
    while total > _ALL_ONES:
        total = (total & _ALL_ONES) + (total >> 32)
    return total
