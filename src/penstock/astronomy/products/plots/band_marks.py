"""How the points of each band look: colours that colour-blind readers tell apart, and a sign beside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matplotlib.lines import Line2D

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b8860b", "#000000", "#7f3fbf")
"Okabe and Ito's, but for their yellow, which is too pale on white."
_SIGNS = ("o", "s", "D", "^", "p", "X", "*", "h", "P", "<", ">")
_USUAL = {
    "U": ("#7f3fbf", "p"), "B": ("#0072b2", "s"), "V": ("#009e73", "o"), "R": ("#d55e00", "D"),
    "I": ("#8b1a1a", "^"), "J": ("#b8860b", "P"), "H": ("#cc79a7", "X"), "K": ("#56b4e9", "h"), "VIS": ("#444444", "."),
}  # fmt: skip
"Bands that look the same in every picture, by the letter they begin with."


@dataclass(frozen=True, slots=True)
class BandMark:
    """A colour and a sign."""

    colour: str
    sign: str

    @classmethod
    def nothing(cls) -> BandMark:
        """No sign at all, for a line of words in a legend."""
        return cls("#ffffff", "")

    @classmethod
    def any_limit(cls) -> BandMark:
        """The sign of upper limits, whichever band they are in."""
        return cls("#333333", "v")

    def seen(self, *, crowded: bool = False) -> dict[str, Any]:
        """How a measured point is drawn."""
        size = {".": 6.0, "*": 7.0}.get(self.sign, 4.8) * (0.8 if crowded else 1.0)
        rim = 0.0 if crowded else 0.3
        return {**_PLAIN, "color": self.colour, "marker": self.sign, "markersize": size, "markeredgewidth": rim,
                "markeredgecolor": "white", "markerfacecolor": self.colour}  # fmt: skip

    def limit(self) -> dict[str, Any]:
        """How an upper limit is drawn: an open triangle that points to where the object may be."""
        return {**_PLAIN, "color": self.colour, "marker": "v", "markersize": 7, "markeredgewidth": 1.1,
                "markeredgecolor": self.colour, "markerfacecolor": "none"}  # fmt: skip

    def handle(self, label: str, *, limit: bool = False) -> Line2D:
        """Its line in a legend."""
        look = self.limit() if limit else {**self.seen(), "markersize": 7}
        return Line2D([], [], label=label, **look)


_PLAIN: dict[str, Any] = {"linestyle": "", "fillstyle": "full"}


def band_marks(names: Iterable[str]) -> dict[str, BandMark]:
    """A mark for each band, in the order they come; no two are alike as long as there are fewer than eighty."""
    marks: dict[str, BandMark] = {}
    for name in names:
        if name not in marks:
            marks[name] = _usual(name, marks) or _free(marks)
    return marks


def _usual(name: str, taken: dict[str, BandMark]) -> BandMark | None:
    look = _USUAL.get(name.upper().rstrip(".")) or _USUAL.get(name[:1])
    mark = BandMark(*look) if look else None
    return mark if mark not in taken.values() else None


def _free(taken: dict[str, BandMark]) -> BandMark:
    used = set(taken.values())
    every = (BandMark(_COLOURS[i % len(_COLOURS)], _SIGNS[i % len(_SIGNS)]) for i in range(88))
    return next((mark for mark in every if mark not in used), BandMark("#777777", "o"))
