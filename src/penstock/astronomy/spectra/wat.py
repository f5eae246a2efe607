"""The attributes that IRAF keeps in WATn_nnn cards: one text, cut into cards of 68 characters."""

from __future__ import annotations

import re

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum, no_card

_CARD = 68
_ATTRIBUTE = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s"]+))')


def wat_text(cards: HeaderCards, axis: int) -> str:
    """The joined text of an axis. FITS drops blanks at the end of a card that belong into the middle of the text."""
    keys = [key for key in cards if key.startswith(f"WAT{axis}_") and key[5:].isdigit() and len(key) == 8]
    wanted = [f"WAT{axis}_{number:03}" for number in range(1, len(keys) + 1)]
    for key in wanted:
        if key not in cards:
            raise no_card(key, why="others of its row are there")
    texts = [str(cards.one(key) or "") for key in wanted]
    return "".join([*(text.ljust(_CARD) for text in texts[:-1]), *texts[-1:]])


def wat_attributes(cards: HeaderCards, axis: int) -> dict[str, str]:
    """Names and values of an axis, names in small letters."""
    text = wat_text(cards, axis)
    if text.count('"') % 2:
        message = f"the WAT{axis} cards end inside a quoted text: some are missing or changed"
        raise UnusableSpectrum("MALFORMED_DISPERSION", message, card=f"WAT{axis}_001")
    return {found[1].lower(): found[2] if found[2] is not None else found[3] for found in _ATTRIBUTE.finditer(text)}


def wat_unit(cards: HeaderCards, axis: int = 1) -> str | None:
    """The unit of an axis that is labelled in WAT cards."""
    if not any(key.startswith(f"WAT{axis}_") for key in cards):
        return None
    attributes = wat_attributes(cards, axis)
    return attributes.get("units")
