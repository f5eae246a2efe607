"""The cards of one FITS header, read one by one, so that a bad one spoils no other.

Astropy mends and warns where a card is not quite right; here it must be known that it was not right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from penstock.astronomy.spectra.codes import UnusableSpectrum

_WIDTH = 80
_STRING = re.compile(r"\s*'((?:[^']|'')*)'")
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[EeDd][+-]?\d{1,4})?$")
_WORDS = {"T": True, "F": False}

CardValue = str | int | float | bool


class GarbledCard:
    """Stands for a value that is none of those that FITS knows."""

    def __init__(self, text: str) -> None:
        self.text = text


class HeaderCards:
    """Values by keyword. A keyword that comes again with another value is one that nobody can trust."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at: dict[str, list[int]] = {}
        self._read: dict[str, list[CardValue | GarbledCard]] = {}
        for start in range(0, len(raw) - _WIDTH + 1, _WIDTH):
            key = raw[start : start + 8].rstrip()
            if key == b"HIERARCH":
                key = raw[start + 8 : start + _WIDTH].split(b"=", 1)[0].strip()
            self._at.setdefault(key.decode("latin-1"), []).append(start)

    def __contains__(self, key: str) -> bool:
        return key in self._at

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def lines(self, most: int) -> list[str]:
        """The first cards as they stand in the file."""
        cut = (self._raw[at : at + _WIDTH] for at in range(0, min(len(self._raw), most * _WIDTH), _WIDTH))
        return [line for card in cut if (line := card.decode("latin-1").rstrip())]

    def images(self, key: str) -> list[bytes]:
        """The cards of a keyword, 80 bytes each."""
        return [self._raw[at : at + _WIDTH].ljust(_WIDTH) for at in self._at.get(key, ())]

    def values(self, key: str) -> list[CardValue | GarbledCard]:
        """All values of a keyword; cards without a value are left out."""
        if key not in self._at:
            return []
        if key not in self._read:  # a keyword may come ten thousand times, and is asked for as often
            found = (self._value(at) for at in self._at[key])
            self._read[key] = [value for value in found if value is not None]
        return self._read[key]

    def first(self, key: str) -> CardValue | None:
        """The value of a keyword where it first comes, None also where it cannot be read."""
        values = self.values(key)
        return values[0] if values and not isinstance(values[0], GarbledCard) else None

    def one(self, key: str) -> CardValue | None:
        """The value of a keyword, of which all its cards say the same."""
        values = self.values(key)
        for value in values:
            if isinstance(value, GarbledCard):
                raise UnusableSpectrum("BAD_CARD", f"{key} has no value that can be read: {value.text!r}", card=key)
            if value != values[0]:
                message = f"{key} is there twice, with {values[0]!r} and {value!r}"
                raise UnusableSpectrum("CONTRADICTORY_CARDS", message, card=key)
        return values[0] if values and not isinstance(values[0], GarbledCard) else None

    def number(self, key: str) -> float | None:
        """A finite number, or None where there is no such card."""
        value = self.one(key)
        if value is None:
            return None
        if isinstance(value, (bool, str)) or not math.isfinite(value):
            raise UnusableSpectrum("BAD_CARD", f"{key} must be a number and is {value!r}", card=key, value=str(value))
        return float(value)

    def text(self, key: str) -> str | None:
        """A text without blanks around it; None where there is none, or it is blank."""
        value = self.one(key)
        if value is not None and not isinstance(value, str):
            raise UnusableSpectrum("BAD_CARD", f"{key} must be a text and is {value!r}", card=key, value=str(value))
        return value.strip() or None if value else None

    def said(self, key: str) -> str | None:
        """A text for people: the first one of this keyword, whatever it is."""
        value = self.first(key)
        return str(value).strip()[:200] or None if value is not None else None

    def comment(self, key: str) -> str:
        """What stands after the value of a keyword where it first comes, in small letters."""
        if key not in self._at:
            return ""
        at = self._at[key][0]
        field = self._raw[at : at + _WIDTH].decode("latin-1").partition("=")[2]
        found = _STRING.match(field)
        return (field[found.end() :] if found else field).partition("/")[2].strip().lower()

    def _value(self, at: int) -> CardValue | GarbledCard | None:
        card = self._raw[at : at + _WIDTH].decode("latin-1")
        if card.startswith("HIERARCH"):
            _, equals, field = card.partition("=")
        else:
            equals, field = card[8:9], card[9:]
        if equals != "=":
            return None
        return self._string(field, at) if field.lstrip().startswith("'") else _bare_value(field)

    def _string(self, field: str, at: int) -> str | GarbledCard:
        found = _STRING.match(field)
        if found is None:
            return GarbledCard(field.strip())
        text = found[1].replace("''", "'").rstrip()
        following = self._raw[at + _WIDTH : at + 2 * _WIDTH]
        if text.endswith("&") and following.startswith(b"CONTINUE"):
            rest = self._string(following[10:].decode("latin-1"), at + _WIDTH)
            return rest if isinstance(rest, GarbledCard) else text[:-1] + rest
        return text


def _bare_value(field: str) -> CardValue | GarbledCard | None:
    """A value that does not stand in quotes."""
    text = field.partition("/")[0].strip()
    if not text:
        return None
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.match(text):
        return GarbledCard(text)
    if text.lstrip("+-").isdigit():
        return int(text)
    return float(text.upper().replace("D", "E"))
