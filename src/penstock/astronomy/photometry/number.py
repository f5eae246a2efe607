"""Numbers as tables write them, and the many ways to write that there is none."""

from __future__ import annotations

import math
import re
from decimal import Decimal

MOST_DIGITS = 40
"Characters of a number; longer ones are none."

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eEdD][+-]?[0-9]{1,3})?")
_MISSING = {"", "-", "--", "---", "----", "...", "…", "na", "n/a", "nan", "-nan", "+nan", "null", "none", "nil", "\\n"}
_NINES = re.compile(r"[+-]?9{2,5}(?:\.(?:9+|0+))?|-9\.9+")
"99.99, 999, -99.9: what stands for no magnitude, as none is so faint."


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value."""
    return text.strip().lower() in _MISSING


def is_missing_magnitude(text: str) -> bool:
    """Whether a cell says that there is no magnitude, also by a row of nines."""
    return is_missing(text) or _NINES.fullmatch(text.strip()) is not None


def number(text: str) -> float | None:
    """The number that is written, exactly as Python reads it; `None` if it is no finite number.

    A comma is taken for a decimal point where a cell holds one; only tables that are not split at commas have such.
    """
    text = text.strip()
    if len(text) > MOST_DIGITS:
        return None
    if text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text.replace("d", "e").replace("D", "e"))
    return value if math.isfinite(value) else None


def last_digit(text: str) -> float:
    """What a one in the last digit of a written number is worth: 100 for 2.4473e+06."""
    text = text.strip().replace(",", ".").replace("d", "e").replace("D", "e")
    exponent = Decimal(text).as_tuple().exponent
    return 10.0 ** min(int(exponent), 300)
