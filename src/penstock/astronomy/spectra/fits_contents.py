"""Images and tables of a FITS file as float64, read by astropy from headers that hold nothing but what it needs.

Astropy mends and warns about cards that have no bearing on the numbers; it is not given them, so that nothing is
printed and no filter of warnings, which all threads share, has to be touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.hdu_blocks import BLOCK, HduBlock, hdu_blocks
from penstock.astronomy.spectra.true_numbers import true_numbers
from penstock.astronomy.spectrum import Floats

MOST_POINTS = 20_000_000
"As many numbers as one image or column may have."
MOST_VARYING = 5_000_000
"As many as the arrays of varying length of one column may have together."
MOST_COLUMNS = 999
_WIDTHS = {"L": 1, "B": 1, "I": 2, "J": 4, "K": 8, "A": 1, "E": 4, "D": 8, "C": 8, "M": 16, "P": 8, "Q": 16}
_BINARY = re.compile(r"(\d{0,9})([LXBIJKAEDCMPQ])[A-Z]?(?:\(\d{1,10}\))?$")
_ASCII = re.compile(r"([AIFED])(\d{0,4})(?:\.\d{1,3})?$")
_Read = TypeVar("_Read")
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError, OSError, OverflowError, ArithmeticError, AttributeError)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """What a header tells of a column."""

    number: int
    "Counted from 0."
    name: str
    code: str
    "The letter of its format; P and Q are arrays of varying length."
    repeat: int
    unit: str
    ucd: str = ""
    utype: str = ""

    @property
    def is_number(self) -> bool:
        """Can it hold wavelengths or fluxes?"""
        return self.code in "BIJKEDFPQ" and self.repeat > 0


class FitsTable:
    """The columns of one table."""

    def __init__(self, block: HduBlock, data: bytes) -> None:
        self._block = block
        self._data = data
        self.rows = block.shape[0]
        self.columns = tuple(_columns(block))

    @cached_property
    def _hdu(self) -> Any:
        from astropy.io import fits

        kind = fits.TableHDU if self._block.kind == "ascii table" else fits.BinTableHDU
        return _guarded(lambda: kind.fromstring(_header(_table_cards(self._block)) + _padded(self._block, self._data)))

    def named(self, *names: str) -> TableColumn | None:
        """The first column of one of these names, whatever their case."""
        for name in names:
            found = [column for column in self.columns if column.name.upper() == name.upper()]
            if len(found) > 1:
                raise UnusableSpectrum("AMBIGUOUS_COLUMNS", f"{len(found)} columns are called {name}", column=name)
            if found:
                return found[0]
        return None

    def numbers(self, column: TableColumn) -> Floats | list[Floats]:
        """One row of numbers for each row of the table; what is told to be null is NaN."""
        if self.rows * max(1, column.repeat) > MOST_POINTS or (column.code in "PQ" and self.rows > 10_000):
            raise UnusableSpectrum("TOO_LARGE", f"column {column.name} has more than {MOST_POINTS} numbers")
        if column.code in "PQ":
            self._bound_varying(column)
        return _guarded(lambda: self._numbers(column))

    def row_numbers(self, column: TableColumn, row: int) -> Floats:
        """The numbers of one row, which take no more room than they are."""
        if column.code in "PQ":
            return self.numbers(column)[row]
        return _guarded(lambda: self._scaled(np.ravel(self._hdu.data.field(column.number)[row]), column))

    def texts(self, column: TableColumn) -> list[str]:
        """What a column says, as text."""
        return _guarded(lambda: [str(value).strip()[:80] for value in self._hdu.data.field(column.number)])

    def _bound_varying(self, column: TableColumn) -> None:
        """Many rows may point at one place of the heap: what all of them say is added up before one is read."""
        width, code = (4, ">i4") if column.code == "P" else (8, ">i8")
        start = self._block.data_start + sum(_width(each) for each in self.columns[: column.number])
        row = self._block.shape[-1]
        said = b"".join(self._data[at : at + width] for at in range(start, start + self.rows * row, row))
        if column.repeat != 1 or np.frombuffer(said, dtype=code).sum(dtype=np.float64) > MOST_VARYING:
            message = f"the arrays of column {column.name} have more than {MOST_VARYING} numbers together"
            raise UnusableSpectrum("TOO_LARGE", message, column=column.name, most=MOST_VARYING)

    def _numbers(self, column: TableColumn) -> Floats | list[Floats]:
        values = self._hdu.data.field(column.number)
        if column.code in "PQ":
            return [self._scaled(np.ravel(row), column) for row in values]
        return self._scaled(np.asarray(values).reshape(self.rows, -1), column)

    def _scaled(self, raw: Any, column: TableColumn) -> Floats:
        """Scale and null of a column. Astropy, left to it, scales in single precision and scales nulls too."""
        cards, number = self._block.cards, column.number + 1
        null = cards.first(f"TNULL{number}")
        null = null if isinstance(null, int) and not isinstance(null, bool) else None
        return true_numbers(raw, null, cards.number(f"TSCAL{number}"), cards.number(f"TZERO{number}"))


class FitsContents:
    """The HDUs of a file that is whole."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.blocks = hdu_blocks(data)
        self._tables: dict[int, FitsTable] = {}

    def part(self, start: int, end: int) -> bytes:
        """Bytes of the file."""
        return self._data[start:end]

    def image(self, index: int) -> Floats:
        """An image with its scale applied."""
        block = self.blocks[index]
        if block.data_size // (abs(block.bitpix) // 8) > MOST_POINTS:
            raise UnusableSpectrum("TOO_LARGE", f"the image in HDU {index} has more than {MOST_POINTS} numbers")
        return _guarded(lambda: self._image(block))

    def _image(self, block: HduBlock) -> Floats:
        from astropy.io import fits

        hdu = fits.PrimaryHDU.fromstring(_header(_image_cards(block)) + _padded(block, self._data))
        cards = block.cards
        told = cards.number("BLANK") is not None and block.bitpix > 0
        blank = cards.one("BLANK") if told else None
        number = blank if isinstance(blank, int | float) else None
        return true_numbers(hdu.data, number, cards.number("BSCALE"), cards.number("BZERO"))

    def table(self, index: int) -> FitsTable:
        """A table of the file."""
        if index not in self._tables:
            self._tables[index] = FitsTable(self.blocks[index], self._data)
        return self._tables[index]

    def is_table(self, index: int) -> bool:
        """Is there a table with something in it?"""
        block = self.blocks[index]
        return block.kind in ("table", "ascii table") and len(block.shape) == 2 and all(block.shape)

    def is_image(self, index: int) -> bool:
        """Is there an image with something in it?"""
        block = self.blocks[index]
        return block.kind == "image" and bool(block.shape) and all(block.shape)


def _guarded(read: Callable[[], _Read]) -> _Read:
    """What astropy raises at data that is not as its header says, it raises for the file's sake."""
    try:
        return read()
    except UnusableSpectrum:
        raise
    except _UNREADABLE as error:
        message = f"astropy cannot read the data ({type(error).__name__}: {str(error)[:200]})"
        raise UnusableSpectrum("UNREADABLE", message) from None


def _padded(block: HduBlock, data: bytes) -> bytes:
    return data[block.data_start : block.end].ljust(block.end - block.data_start, b"\0")


def _header(cards: Iterator[bytes]) -> bytes:
    text = b"".join(cards) + b"END".ljust(80)
    return text.ljust(-(-len(text) // BLOCK) * BLOCK)


def _card(key: str, value: int | float | str) -> bytes:
    told = value if isinstance(value, str) else repr(value).upper()
    return f"{key:8}= {told:>20}".encode("ascii").ljust(80)


def _image_cards(block: HduBlock) -> Iterator[bytes]:
    yield _card("SIMPLE", "T")
    yield from _shape_cards(block)


def _shape_cards(block: HduBlock) -> Iterator[bytes]:
    yield _card("BITPIX", block.bitpix)
    yield _card("NAXIS", len(block.shape))
    for number, length in enumerate(reversed(block.shape), 1):
        yield _card(f"NAXIS{number}", length)


def _table_cards(block: HduBlock) -> Iterator[bytes]:
    kind = "'TABLE   '" if block.kind == "ascii table" else "'BINTABLE'"
    yield f"XTENSION= {kind}".encode("ascii").ljust(80)
    yield from _shape_cards(block)
    fields = int(block.cards.number("TFIELDS") or 0)
    yield _card("PCOUNT", int(block.cards.number("PCOUNT") or 0))
    yield _card("GCOUNT", 1)
    yield _card("TFIELDS", fields)
    for number in range(1, fields + 1):
        yield from _column_cards(block.cards, number)
    if (heap := block.cards.number("THEAP")) is not None:
        yield _card("THEAP", int(heap))


def _column_cards(cards: HeaderCards, number: int) -> Iterator[bytes]:
    """A column for astropy: under a name of our own, since those of the file may come twice."""
    yield _card(f"TTYPE{number}", f"'C{number:07}'")
    yield _card(f"TFORM{number}", f"'{cards.text(f'TFORM{number}'):8}'")
    if (start := cards.number(f"TBCOL{number}")) is not None:
        yield _card(f"TBCOL{number}", int(start))


def _columns(block: HduBlock) -> Iterator[TableColumn]:
    fields = block.cards.number("TFIELDS")
    if fields is None or not 0 < fields <= MOST_COLUMNS or fields % 1:
        raise UnusableSpectrum("MALFORMED", f"TFIELDS must be 1 to {MOST_COLUMNS} and is {fields}", card="TFIELDS")
    columns = [_column(block, number) for number in range(1, int(fields) + 1)]
    width = sum(_width(column) for column in columns)
    if block.kind == "table" and width != block.shape[-1]:
        message = f"the columns are {width} bytes wide, and NAXIS1 says {block.shape[-1]}"
        raise UnusableSpectrum("MALFORMED", message, card="NAXIS1")
    yield from columns


def _width(column: TableColumn) -> int:
    return -(-column.repeat // 8) if column.code == "X" else column.repeat * _WIDTHS.get(column.code, 0)


def _column(block: HduBlock, number: int) -> TableColumn:
    cards = block.cards
    form = cards.one(f"TFORM{number}")
    pattern = _ASCII if block.kind == "ascii table" else _BINARY
    found = pattern.match(form.strip()) if isinstance(form, str) else None
    if found is None:
        raise UnusableSpectrum("MALFORMED", f"TFORM{number} is no format: {form!r}", card=f"TFORM{number}")
    code, repeat = (found[1], 1) if pattern is _ASCII else (found[2], int(found[1] or 1))
    said = (str(cards.one(f"{stem}{number}") or "").strip()[:80] for stem in ("TTYPE", "TUNIT", "TUCD", "TUTYP"))
    name, unit, ucd, utype = said
    return TableColumn(number - 1, name, code, repeat, unit, ucd, utype)
