"""How long a text is when it is spoken, told from its characters alone, before anything is said.

Numbers and signs are read out in full: "7777777777" is a sentence of seven seconds, and one ㊼ may be two. The figures
are those of the voice that comes with the package, measured; each is for one character, whatever stands beside it, so
that the time to tell grows with the text and with nothing else.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

_SMALL = frozenset(".,;:!?'\"’‘“”()[]-–—…")
"Marks that are pauses, or nothing."
_MOST = {"L": 0.1, "Lu": 0.45, "Nd": 0.8, "Nl": 0.9, "No": 2.0, "Z": 0.3, "Cc": 0.45, "P": 1.0, "S": 1.3}
"Seconds of a character by its category, as long as it gets; a letter by itself may be spelled out."
_LETTER, _DIGIT = 0.03, 0.17
"As short as they get, in words and in numbers that mean something."
_OTHER = 0.3


@dataclass(frozen=True, slots=True)
class Length:
    """Seconds that a text takes: surely more than ``least``, and hardly more than ``most``."""

    least: float
    most: float

    def within(self, limit: int) -> int:
        """The whole seconds to set aside for it, if it is stopped at a limit."""
        return min(limit, math.ceil(self.most))


def length_of(text: str) -> Length:
    """How long a text will be."""
    counts = Counter(text)
    least = sum(_least(sign) * number for sign, number in counts.items())
    most = sum(_most(sign) * number for sign, number in counts.items())
    return Length(least, most + 1)


@lru_cache(maxsize=4096)
def breath(sign: str) -> int:
    """For how many characters one counts that takes long."""
    seconds = _most(sign)
    return 1 if seconds <= _OTHER or sign.isspace() else round(seconds * 5)


@lru_cache(maxsize=4096)
def _most(sign: str) -> float:
    if sign in _SMALL:
        return _OTHER
    kind = unicodedata.category(sign)
    return _MOST.get(kind) or _MOST.get(kind[0], _OTHER)


@lru_cache(maxsize=4096)
def _least(sign: str) -> float:
    if sign.isalpha():
        return _LETTER
    # Of a million the noughts are not said.
    return _DIGIT if unicodedata.digit(sign, 0) else 0.0
