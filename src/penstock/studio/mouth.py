"""What a mouth does: how far it is open and how wide it is, moment by moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mouth:
    """A shape of the mouth."""

    open: float
    "From 0, closed, to 1."
    wide: float
    "From 0, round as for a W, to 1, wide as for an EE."


CLOSED = Mouth(0.0, 0.5)

SHAPES: dict[str, Mouth] = {
    "closed": CLOSED,
    "lip on teeth": Mouth(0.14, 0.6),
    "teeth": Mouth(0.22, 0.75),
    "wide": Mouth(0.36, 1.0),
    "half open": Mouth(0.5, 0.6),
    "open": Mouth(1.0, 0.7),
    "tall": Mouth(0.85, 0.35),
    "round": Mouth(0.6, 0.12),
    "small round": Mouth(0.32, 0.0),
}
"The shapes that phones are spoken with."

_SPOKEN = {
    "closed": "SIL M B P +SPN+ +NSN+",
    "lip on teeth": "F V",
    "teeth": "S Z T D N L TH DH SH ZH CH JH NG K G Y HH",
    "wide": "IY IH EY",
    "half open": "EH ER AH",
    "open": "AA AE AY AW",
    "tall": "AO OY",
    "round": "OW",
    "small round": "W UW UH R",
}
PHONES: dict[str, Mouth] = {phone: SHAPES[shape] for shape, phones in _SPOKEN.items() for phone in phones.split()}


def smoothed(mouths: Sequence[Mouth]) -> list[Mouth]:
    """Lips are quick and not instant: each moment has something of the one before. Closed stays closed."""
    softened: list[Mouth] = []
    before = CLOSED
    for mouth in mouths:
        if mouth.open:
            mouth = Mouth(0.7 * mouth.open + 0.3 * before.open, 0.6 * mouth.wide + 0.4 * before.wide)
        softened.append(mouth)
        before = mouth
    return softened
