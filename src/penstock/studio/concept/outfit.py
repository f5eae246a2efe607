"""How somebody is dressed, and what is worn and held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Outfit:
    """How somebody of a trade looks."""

    words: str
    clothes: str = "shirt"
    "Shirt, jacket, tuxedo, hoodie, sweater, skirt, robe, armour, dress, coat, suit, gi, wraps, bones, bare or fur."
    hat: str = ""
    hair: str = "short|long|curly|bun|ponytail|spiky"
    worn: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    face: str = ""
    "Mask, skull, patch, snout, fangs or helmet; none is the usual one."
    ears: str = ""
    "Pointed or none; none is the usual ones."
    beard: float = 0.0
    beast: str = ""
    "Of which animal the head is, if it is one's."
    build: Mapping[str, float] = field(default_factory=dict)
    inks: Mapping[str, str] = field(default_factory=dict)
