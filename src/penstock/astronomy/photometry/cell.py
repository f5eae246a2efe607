"""Single cells of a table of photometry: brightnesses with their marks, flags of limits, uncertainties."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from penstock.astronomy.photometry.number import is_missing, number


class Mark(StrEnum):
    """What stands beside a number."""

    NONE = ""
    FAINTER = ">"
    "A number behind it is a magnitude that was not reached, or a flux that was exceeded."
    BELOW = "<"
    FLAGGED = "flagged"
    "A limit by a flag that says only that."
    UNCERTAIN = ":"


@dataclass(frozen=True, slots=True)
class MarkedNumber:
    """A number and what stands beside it."""

    value: float
    mark: Mark = Mark.NONE


_BEFORE = {"<=": Mark.BELOW, ">=": Mark.FAINTER, "≤": Mark.BELOW, "≥": Mark.FAINTER, "<": Mark.BELOW, ">": Mark.FAINTER}
_BEHIND = (":", "?", "*")
_NO = {"0", "0.0", "n", "no", "f", "false", "det", "detection", "=", "."}
_YES = {"1", "1.0", "y", "yes", "t", "true", "u", "ul", "l", "limit", "upper", "upperlimit", "nondetection"}
_PLUS_MINUS = ("+/-", "+or-", "+-", "±")


def marked_number(text: str) -> MarkedNumber | None:
    """The number of a cell such as `12.3`, `<15.0`, `>13.7` or `11.2:`; `None` if it holds none."""
    text, mark = text.strip(), Mark.NONE
    for sign, meaning in _BEFORE.items():
        if text.startswith(sign):
            text, mark = text[len(sign) :].strip(), meaning
            break
    if text.endswith(_BEHIND):
        text, mark = text.rstrip(":?*").strip(), mark or Mark.UNCERTAIN
    value = number(text)
    return None if value is None else MarkedNumber(value, mark)


def limit_mark(text: str) -> Mark | None:
    """What a flag says; `None` if nobody knows the flag."""
    key = text.strip().lower()
    if is_missing(key) or key in _NO:
        return Mark.NONE
    if key in _YES:
        return Mark.FLAGGED
    if key in (":", "::", "?"):
        return Mark.UNCERTAIN
    return _BEFORE.get(key)


def uncertainty(text: str) -> float | None:
    """The number of an uncertainty such as `0.02`, `+/-0.02` or `(0.02)`; `None` if it is none."""
    text = text.strip()
    for sign in _PLUS_MINUS:
        text = text.removeprefix(sign)
    return number(text.strip().strip("()").rstrip(":").strip())
