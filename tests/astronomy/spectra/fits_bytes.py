"""FITS files put together byte by byte, and what must be found in one that was made so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

CardValue = str | int | float | bool

Cards = Mapping[str, CardValue]

POINTS = 60

_TYPES = {"f4": (-32, "E"), "f8": (-64, "D"), "i2": (16, "I"), "i4": (32, "J"), "i8": (64, "K"), "u1": (8, "B")}


def card(key: str, value: CardValue) -> bytes:
    """One card of 80 bytes."""
    if isinstance(value, bool):
        told = f"{'T' if value else 'F':>20}"
    elif isinstance(value, str):
        quoted = value.replace("'", "''")
        told = f"'{quoted:8}'"
    else:
        told = f"{str(value).upper():>20}"
    head = f"HIERARCH {key} = {told}" if " " in key else f"{key:8}= {told}"
    return head.encode("latin-1").ljust(80)[:80]


def header(cards: Sequence[bytes]) -> bytes:
    """Cards with their END, padded to blocks."""
    text = b"".join([*cards, b"END".ljust(80)])
    return text + b" " * (-len(text) % 2880)


def padded(data: bytes) -> bytes:
    """Data, padded to blocks."""
    return data + b"\0" * (-len(data) % 2880)


def image(array: NDArray[np.generic] | None, cards: Cards, *, extension: bool = False) -> bytes:
    """An HDU with an image, or with none."""
    kind = "f4" if array is None else array.dtype.str[1:]
    shape = () if array is None else array.shape
    first = card("XTENSION", "IMAGE") if extension else card("SIMPLE", True)
    must = [first, card("BITPIX", _TYPES[kind][0]), card("NAXIS", len(shape))]
    must += [card(f"NAXIS{number}", length) for number, length in enumerate(reversed(shape), 1)]
    must += [card("PCOUNT", 0), card("GCOUNT", 1)] if extension else [card("EXTEND", True)]
    data = b"" if array is None else array.astype(f">{kind}").tobytes()
    return header([*must, *(card(key, value) for key, value in cards.items())]) + padded(data)


@dataclass(frozen=True)
class Column:
    """A column: for each row a number, an array of numbers, or a text."""

    name: str
    rows: Sequence[object]
    unit: str = ""
    kind: str = "f8"
    more: Cards = field(default_factory=dict)
    "Further cards, such as TUCD, without their number."


def table(columns: Sequence[Column], cards: Cards) -> bytes:
    """A binary table."""
    cells = [[_cell(column, row) for row in column.rows] for column in columns]
    rows = len(columns[0].rows)
    told: list[bytes] = []
    for number, column in enumerate(columns, 1):
        told += [card(f"TTYPE{number}", column.name), card(f"TFORM{number}", _form(column))]
        told += [card(f"TUNIT{number}", column.unit)] if column.unit else []
        told += [card(f"{stem}{number}", value) for stem, value in column.more.items()]
    width = sum(len(cell[0]) for cell in cells)
    must = [card("XTENSION", "BINTABLE"), card("BITPIX", 8), card("NAXIS", 2), card("NAXIS1", width)]
    must += [card("NAXIS2", rows), card("PCOUNT", 0), card("GCOUNT", 1), card("TFIELDS", len(columns))]
    data = b"".join(cell[row] for row in range(rows) for cell in cells)
    return header([*must, *told, *(card(key, value) for key, value in cards.items())]) + padded(data)


def _cell(column: Column, row: object) -> bytes:
    if isinstance(row, str):
        return row.encode("ascii").ljust(8)
    return np.atleast_1d(np.asarray(row)).astype(f">{column.kind}").tobytes()


def _form(column: Column) -> str:
    if isinstance(column.rows[0], str):
        return "8A"
    return f"{np.atleast_1d(np.asarray(column.rows[0])).size}{_TYPES[column.kind][1]}"


def fluxes(count: int = POINTS, *, seed: int = 1) -> NDArray[np.float64]:
    """A continuum with a line on it."""
    places = np.linspace(0.0, 1.0, count)
    return 1.0 + 0.3 * places + (2.0 + seed) * np.exp(-(((places - 0.6) / 0.05) ** 2))


def waves(first: float, last: float, count: int = POINTS) -> NDArray[np.float64]:
    """Evenly spaced wavelengths."""
    return np.linspace(first, last, count)


def wat(axis: int, text: str) -> dict[str, CardValue]:
    """A long text in WAT cards of 68 characters."""
    parts = [text[at : at + 68] for at in range(0, len(text), 68)]
    return {f"WAT{axis}_{number:03}": part for number, part in enumerate(parts, 1)}


@dataclass(frozen=True)
class MadeSpectrum:
    """A file, and what must be found in it."""

    profile: str
    data: bytes
    first: float
    last: float
    "Ångström of the first spectrum."
    points: int = POINTS
    count: int = 1
    flux_unit: str = ""
    medium: str = "unknown"
    frame: str = "unknown"
    assumed: frozenset[str] = frozenset()
    uncertainty: bool = False
    labels: tuple[str, ...] = ("",)


FLAM_TOLD = "erg/cm2/s/A"

FLAM = "erg Angstrom-1 s-1 cm-2"
