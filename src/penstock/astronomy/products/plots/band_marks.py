"""How the points of each band look: colours that colour-blind readers tell apart, and a sign beside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matplotlib.lines import Line2D

_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b8860b", "#000000", "#7f3fbf"),
    *("#8c564b", "#e377c2", "#17808f", "#9a9a00", "#4d4dff", "#ff7f50", "#2f4f4f", "#c71585"),
)
"Okabe and Ito's, but for their yellow, which is too pale on white; then others, for tables of many bands."
LIMIT_SIZE = 4.0
_SIGNS = ("o", "s", "D", "^", "p", "X", "*", "h", "P", "<", ">")
_USUAL = {
    "U": ("#7f3fbf", "p"), "B": ("#0072b2", "s"), "V": ("#009e73", "o"), "R": ("#d7191c", "D"),
    "I": ("#b5117f", "^"), "J": ("#a07800", "P"), "H": ("#8c564b", "X"), "K": ("#3fa9e0", "h"), "VIS": ("#555555", "o"),
    "RC": ("#ff7f0e", "<"), "RJ": ("#8b1a1a", ">"), "IC": ("#7a0f3c", "*"), "IJ": ("#e377c2", "h"),
    "KS": ("#17808f", "*"), "CR": ("#a03a2c", "s"), "CV": ("#3a7d5c", "D"), "TB": ("#4d6dff", "X"),
    "TG": ("#2e8b2e", "P"), "TR": ("#ff5a5a", "X"),
    "U'": ("#5a3d99", "h"), "G'": ("#17a07a", "p"), "R'": ("#c8553d", "X"), "I'": ("#8a2be2", "P"),
}  # fmt: skip
"Bands that look the same in every picture, by their name or the letter it begins with."
_SIZES = {"o": 4.6, "s": 4.2, "D": 3.8, "^": 5.0, "<": 5.0, ">": 5.0, "p": 5.0, "h": 5.0, "P": 5.2, "X": 5.2, "*": 6.8}
"Signs of one weight: none hides another by being larger."


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
        size = _SIZES.get(self.sign, 4.6) * (0.75 if crowded else 1.0)
        rim = 0.0 if crowded else 0.3
        return {**_PLAIN, "color": self.colour, "marker": self.sign, "markersize": size, "markeredgewidth": rim,
                "markeredgecolor": "white", "markerfacecolor": self.colour}  # fmt: skip

    def limit(self) -> dict[str, Any]:
        """How an upper limit is drawn: a small open triangle that points to where the object may be, light and thin."""
        return {**_PLAIN, "color": self.colour, "marker": "v", "markersize": LIMIT_SIZE, "markeredgewidth": 0.6,
                "markeredgecolor": self.colour, "markerfacecolor": "none", "alpha": 0.55}  # fmt: skip

    def handle(self, label: str, *, limit: bool = False) -> Line2D:
        """Its line in a legend."""
        look = {**self.limit(), "alpha": 1.0, "markeredgewidth": 0.9} if limit else self.seen()
        look["markersize"] = 1.35 * look["markersize"]
        return Line2D([], [], label=label, **look)


_PLAIN: dict[str, Any] = {"linestyle": "", "fillstyle": "full"}


def band_marks(names: Iterable[str]) -> dict[str, BandMark]:
    """A mark for each band, in the order they come; no two have one colour as long as there are few of them."""
    marks: dict[str, BandMark] = {}
    for name in names:
        if name not in marks:
            marks[name] = _usual(name, marks) or _free(marks)
    return marks


def _usual(name: str, taken: dict[str, BandMark]) -> BandMark | None:
    look = _USUAL.get(name.upper().rstrip(".")) or _USUAL.get(name[:1])
    mark = BandMark(*look) if look else None
    return mark if mark is not None and mark.colour not in {each.colour for each in taken.values()} else None


def _free(taken: dict[str, BandMark]) -> BandMark:
    used = set(taken.values())
    colours, signs = {one.colour for one in used}, {one.sign for one in used}
    every = [BandMark(_COLOURS[i % len(_COLOURS)], _SIGNS[i % len(_SIGNS)]) for i in range(176)]
    fresh = [mark for mark in every if mark.colour not in colours]
    other = next((mark for mark in fresh if mark.sign not in signs), fresh[0] if fresh else None)
    return other or next((mark for mark in every if mark not in used), BandMark("#777777", "o"))
