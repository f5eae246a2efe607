"""Where the HDUs of a FITS file begin and end, found before anything is believed or allocated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum

BLOCK = 2880
MOST_HDUS = 1000
_MOST_HEADER = 1000 * BLOCK
_MOST_HEADERS = 16 * 1024 * 1024
"Bytes of all headers of a file: each card is looked at, and no file has so many to say something."
_BITPIX = {8, 16, 32, 64, -32, -64}
_END = b"END" + b" " * 5


@dataclass(frozen=True, slots=True)
class HduBlock:
    """One header and the data after it; the data is all there."""

    cards: HeaderCards
    start: int
    data_start: int
    data_size: int
    "Without the padding."
    kind: str
    "image, table, ascii table, packed image, groups or another."
    shape: tuple[int, ...]
    "As numpy tells it, the longest way first: NAXISn … NAXIS1."
    bitpix: int

    @property
    def end(self) -> int:
        """Where the padding after the data ends."""
        return self.data_start + -(-self.data_size // BLOCK) * BLOCK


def hdu_blocks(data: bytes) -> list[HduBlock]:
    """All HDUs of a file. What comes after the last is left out, unless it begins like one more."""
    if not data.startswith(b"SIMPLE"):
        raise UnusableSpectrum("NOT_A_SPECTRUM_FILE", "the file does not begin as FITS does, with SIMPLE")
    return list(_blocks(data))


def _blocks(data: bytes) -> Iterator[HduBlock]:
    at, count, headers = 0, 0, 0
    while at < len(data) and (at == 0 or data.startswith(b"XTENSION", at)):
        block = _block(data, at)
        yield block
        at, count, headers = block.end, count + 1, headers + block.data_start - block.start
        if headers > _MOST_HEADERS:
            raise UnusableSpectrum("TOO_LARGE", f"the headers of the file have more than {_MOST_HEADERS} bytes")
        if count > MOST_HDUS:
            raise UnusableSpectrum("TOO_LARGE", f"the file has more than {MOST_HDUS} HDUs")
    if b"XTENSION".startswith(rest := data[at : at + 8]) and rest:
        raise UnusableSpectrum("TRUNCATED", "the file ends inside the header of an extension: fetch it again")


def _block(data: bytes, start: int) -> HduBlock:
    header_end = _header_end(data, start)
    cards = HeaderCards(data[start:header_end])
    if len(cards.images("XTENSION")) != (start > 0):
        raise UnusableSpectrum("MALFORMED", "a header runs on into the next one: its END is damaged", card="END")
    kind, shape, bitpix = _kind(cards, first=start == 0), _shape(cards), _whole(cards, "BITPIX")
    if bitpix not in _BITPIX:
        raise UnusableSpectrum("MALFORMED", f"BITPIX must be one of {sorted(_BITPIX)} and is {bitpix}", card="BITPIX")
    size = _size(cards, kind, shape, abs(bitpix) // 8)
    data_start = start + -(-(header_end - start) // BLOCK) * BLOCK
    if size > len(data) - data_start:
        there = max(0, len(data) - data_start)
        message = f"the headers promise {size} bytes of data, and {there} are there: fetch the file again"
        raise UnusableSpectrum("TRUNCATED", message, promised=size, present=there)
    return HduBlock(cards, start, data_start, size, kind, shape, bitpix)


def _header_end(data: bytes, start: int) -> int:
    """Behind the card that says END."""
    at = data.find(_END, start, start + _MOST_HEADER)
    while at >= 0:
        if (at - start) % 80 == 0 and not data[at + 8 : at + 80].strip():
            return at + 80
        at = data.find(_END, at + 1, start + _MOST_HEADER)
    if len(data) - start > _MOST_HEADER:
        raise UnusableSpectrum("MALFORMED", f"a header has no END in its first {_MOST_HEADER} bytes")
    raise UnusableSpectrum("TRUNCATED", "the file ends inside a header, before END: fetch it again")


def _kind(cards: HeaderCards, *, first: bool) -> str:
    if first:
        if cards.first("SIMPLE") is not True:
            raise UnusableSpectrum("MALFORMED", "SIMPLE is not T: the file itself says that it is not standard FITS")
        return "groups" if cards.first("GROUPS") is True else "image"
    name = str(cards.first("XTENSION") or "").strip().upper()
    if name in ("BINTABLE", "A3DTABLE"):
        return "packed image" if cards.first("ZIMAGE") is True else "table"
    return {"IMAGE": "image", "IUEIMAGE": "image", "TABLE": "ascii table"}.get(name, f"{name.lower()} extension")


def _shape(cards: HeaderCards) -> tuple[int, ...]:
    axes = _whole(cards, "NAXIS")
    if not 0 <= axes <= 999:
        raise UnusableSpectrum("MALFORMED", f"NAXIS must be 0 to 999 and is {axes}", card="NAXIS")
    return tuple(_whole(cards, f"NAXIS{number}", least=0) for number in range(axes, 0, -1))


def _size(cards: HeaderCards, kind: str, shape: tuple[int, ...], width: int) -> int:
    """Bytes of data, as whole numbers that no claim can make overflow."""
    if not shape:
        return 0
    parameters = _whole(cards, "PCOUNT", least=0, otherwise=0)
    groups = _whole(cards, "GCOUNT", least=0, otherwise=1)
    lengths = shape[:-1] if kind == "groups" and shape[-1] == 0 else shape
    if len(lengths) < len(shape) or kind != "image":
        return width * groups * (parameters + math.prod(lengths))
    return width * math.prod(lengths)


def _whole(cards: HeaderCards, key: str, *, least: int | None = None, otherwise: int | None = None) -> int:
    values = cards.values(key)
    value = values[0] if values else otherwise
    if any(other != value for other in values) or isinstance(value, bool) or not isinstance(value, int):
        message = f"{key} must be a whole number, told once: it is {[str(other) for other in values]}"
        raise UnusableSpectrum("MALFORMED", message, card=key)
    if least is not None and value < least:
        raise UnusableSpectrum("MALFORMED", f"{key} must be at least {least} and is {value}", card=key)
    return value
