"""FITS files read again, byte by byte and number by number, without anything of what is tested.

Cards are cut out of 80 characters, numbers are decimal, data is unpacked by `struct`: slow, plain and separate.
"""

from __future__ import annotations

import gzip
import math
import re
import struct
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

_FORMATS = {-32: "f", -64: "d", 16: "h", 32: "i", 8: "B", 64: "q"}
_CODES = {"E": ("f", 4), "D": ("d", 8), "I": ("h", 2), "J": ("i", 4), "K": ("q", 8), "B": ("B", 1), "A": ("s", 1)}


@dataclass(frozen=True)
class RawHdu:
    """The cards of a header, the first of each name, and its data."""

    cards: dict[str, str]
    data: bytes

    def text(self, key: str) -> str | None:
        """What stands between the quotes."""
        found = re.match(r"\s*'((?:[^']|'')*)'", self.cards.get(key, ""))
        return found[1].rstrip() if found else None

    def decimal(self, key: str) -> Decimal | None:
        """A number, with all of its digits."""
        word = self.cards.get(key, "").partition("/")[0].strip().upper().replace("D", "E")
        return Decimal(word) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(E[+-]?\d+)?", word) else None

    def whole(self, key: str) -> int:
        """A whole number."""
        number = self.decimal(key)
        assert number is not None, key
        return int(number)

    def numbers(self, count: int, *, skip: int = 0) -> list[float]:
        """The numbers of an image, in the order of the file."""
        letter = _FORMATS[self.whole("BITPIX")]
        width = struct.calcsize(letter)
        return list(struct.unpack(f">{count}{letter}", self.data[skip * width : (skip + count) * width]))

    def column(self, name: str | int) -> list[float]:
        """The numbers of a column, by its name or its number, all rows after each other."""
        at, width = 0, self.whole("NAXIS1")
        for number in range(1, self.whole("TFIELDS") + 1):
            count, code = re.match(r"(\d*)([A-Z])", self.text(f"TFORM{number}") or "").groups()  # type: ignore[union-attr]
            letter, size = _CODES[code]
            many = int(count or 1)
            if number == name or (self.text(f"TTYPE{number}") or "").upper() == str(name).upper():
                rows = range(self.whole("NAXIS2"))
                cells = (self.data[row * width + at : row * width + at + many * size] for row in rows)
                return [value for cell in cells for value in struct.unpack(f">{many}{letter}", cell)]
            at += many * size
        raise KeyError(name)


def raw_hdus(path: Path) -> list[RawHdu]:
    """All HDUs of a file."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return raw_parts(data)


def raw_parts(data: bytes) -> list[RawHdu]:
    """All HDUs of these bytes."""
    hdus, at = [], 0
    while at < len(data) and data[at : at + 8] in (b"SIMPLE  ", b"XTENSION"):
        cards, after = _cards(data, at)
        start = at + math.ceil((after - at) / 2880) * 2880
        size = _size(RawHdu(cards, b""))
        hdus.append(RawHdu(cards, data[start : start + size]))
        at = start + math.ceil(size / 2880) * 2880
    return hdus


def _cards(data: bytes, at: int) -> tuple[dict[str, str], int]:
    cards: dict[str, str] = {}
    while True:
        card = data[at : at + 80].decode("latin-1")
        at += 80
        if card[:8].rstrip() == "END" or not card:
            return cards, at
        if card[8:9] == "=":
            cards.setdefault(card[:8].rstrip(), card[9:])


def _size(hdu: RawHdu) -> int:
    axes = [hdu.whole(f"NAXIS{number}") for number in range(1, hdu.whole("NAXIS") + 1)]
    heap = int(hdu.decimal("PCOUNT") or 0) if "XTENSION" in hdu.cards else 0
    return abs(hdu.whole("BITPIX")) // 8 * (heap + math.prod(axes)) if axes else 0


def line(hdu: RawHdu) -> list[float]:
    """The axis of an image that is straight, or straight in the logarithm, in the unit of its cards."""
    start = hdu.decimal("CRVAL1")
    step = hdu.decimal("CD1_1") if hdu.decimal("CD1_1") is not None else hdu.decimal("CDELT1")
    pixel = hdu.decimal("CRPIX1")
    assert start is not None
    assert step is not None
    places = range(1, hdu.whole("NAXIS1") + 1)
    values = [start + (place - (pixel if pixel is not None else 1)) * step for place in places]
    if hdu.decimal("DC-FLAG") == 1 or (hdu.text("CTYPE1") or "") == "LOGLIN":
        return [float(Decimal(10) ** value) for value in values]
    return [float(value) for value in values]


def multispec(hdu: RawHdu, aperture: int = 1) -> list[float]:
    """The axis of an aperture, its function summed up term by term."""
    names = sorted(key for key in hdu.cards if re.fullmatch(r"WAT2_\d{3}", key))
    text = "".join((hdu.text(key) or "").ljust(68) for key in names)
    found = re.search(rf'spec{aperture}\s*=\s*"([^"]*)"', text)
    assert found is not None
    words = [float(word) for word in found[1].split()]
    places = range(1, hdu.whole("NAXIS1") + 1)
    shift, step = float(hdu.decimal("LTV1") or 0), float(hdu.decimal("LTM1_1") or 1)
    pixels = [(place - shift) / step for place in places][: int(words[5])]
    return [_dispersion(words, pixel) / (1.0 + words[6]) for pixel in pixels]


def _dispersion(words: list[float], pixel: float) -> float:
    if words[2] == 0:
        return words[3] + words[4] * (pixel - 1)
    if words[2] == 1:
        return math.pow(10.0, words[3] + words[4] * (pixel - 1))
    total, at = 0.0, 9
    while at < len(words):
        weight, offset, kind, order, low, high = words[at : at + 6]
        many = int(order) + {3: 3, 4: 1}.get(int(kind), 0)
        coefficients = words[at + 6 : at + 6 + many]
        total += weight * (offset + _value(int(kind), coefficients, int(order), (pixel - low) / (high - low)))
        at += 6 + many
    return total


def _value(kind: int, coefficients: list[float], order: int, share: float) -> float:
    x = 2.0 * share - 1.0
    if kind == 1:
        return sum(c * _chebyshev(n, x) for n, c in enumerate(coefficients))
    if kind == 2:
        return sum(c * _legendre(n, x) for n, c in enumerate(coefficients))
    at = share * order
    piece = min(max(math.floor(at), 0), order - 1)
    if kind == 4:
        return coefficients[piece] + (coefficients[piece + 1] - coefficients[piece]) * (at - piece)
    b = at - piece
    # The uniform cubic B-spline, six times as high as it is mostly written.
    basis = ((1 - b) ** 3, 3 * b**3 - 6 * b**2 + 4, -3 * b**3 + 3 * b**2 + 3 * b + 1, b**3)
    return sum(c * part for c, part in zip(coefficients[piece : piece + 4], basis, strict=True))


def _chebyshev(n: int, x: float) -> float:
    if abs(x) <= 1:
        return math.cos(n * math.acos(x))
    return math.copysign(1, x) ** n * math.cosh(n * math.acosh(abs(x)))


def _legendre(n: int, x: float) -> float:
    terms = ((-1) ** k * math.comb(n, k) * math.comb(2 * n - 2 * k, n) * x ** (n - 2 * k) for k in range(n // 2 + 1))
    return float(sum(terms)) * 0.5**n
