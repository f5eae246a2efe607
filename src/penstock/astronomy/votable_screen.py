"""What is looked at before a VOTable is read: only one that costs no more than it weighs, and fetches nothing, is.

astropy would make room for as many rows as a table says it has and as wide as its fields say they are, open whatever
URL or file a stream names, and unpack what entities are made of. Here each of them is refused, in whatever table of the
document it stands, after one pass over the bytes that keeps nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any
from xml.parsers import expat

_DEEPEST = 32
_ELSEWHERE = frozenset({"FITS", "PARQUET"})
"Ways of sending a table that are a file of another kind, mostly somewhere else."
_BYTES = {"boolean": 1, "unsignedbyte": 1, "char": 1, "short": 2, "unicodechar": 2, "int": 4, "float": 4}
_BYTES |= {"long": 8, "double": 8, "floatcomplex": 8, "doublecomplex": 16}


class VotableFault(StrEnum):
    """Why a VOTable is not read."""

    ENTITIES = "entities"
    DEPTH = "depth"
    ROWS = "rows"
    SIZE = "size"
    ELSEWHERE = "elsewhere"
    MALFORMED = "malformed"
    NO_VOTABLE = "no_votable"


class UnsafeVotable(Exception):
    """A VOTable that may not be read, why, and with which value."""

    def __init__(self, fault: VotableFault, what: str, **details: Any) -> None:
        super().__init__(what)
        self.fault = fault
        self.what = what
        self.details = details


@dataclass(frozen=True, slots=True)
class VotableLimits:
    """How large a VOTable may be."""

    bytes: int = 16 * 1024 * 1024
    rows: int = 10_000
    fields: int = 500
    values: int = 100_000
    "Values of one row, as many as its fields are said to have; and of all parameters."
    room: int = 160 * 1024 * 1024
    "Bytes that are needed for all tables: rows times what a row takes."
    encoded: int = 4 * 1024 * 1024
    "Characters of tables that are sent in binary, which says nothing of its rows."
    cells: int = 3_000_000
    "Rows times columns of a table that is sent in binary: a cell of one byte becomes many."


USUAL_VOTABLE = VotableLimits()


def screen_votable(content: bytes, limits: VotableLimits = USUAL_VOTABLE) -> None:
    """UnsafeVotable if it is no VOTable that may be read."""
    passing = _Screen(limits)
    try:
        passing.parser.Parse(content, True)
    except expat.ExpatError as wrong:
        what = f"XML that cannot be read: {expat.ErrorString(wrong.code)}, line {wrong.lineno}"
        raise UnsafeVotable(VotableFault.MALFORMED, what, line=wrong.lineno) from None
    except (LookupError, ValueError) as wrong:
        what = f"XML in an encoding that is not read: {str(wrong)[:60]}"
        raise UnsafeVotable(VotableFault.MALFORMED, what) from None
    passing.judge()


@dataclass(slots=True)
class _Table:
    """What a table says of its size."""

    claimed: int = 0
    rows: int = 0
    fields: int = 0
    values: int = 0
    size: int = 0
    "Bytes that a row takes here."
    weight: int = 0
    "Bytes that a row has at the least where it is sent in binary."
    encoded: int = 0

    @property
    def room(self) -> int:
        return max(self.claimed, self.rows) * max(1, self.size)


class _Screen:
    """One pass over a document."""

    def __init__(self, limits: VotableLimits) -> None:
        self._limits = limits
        self._depth = self._rows = self._fields = self._encoded = self._told = self._used = 0
        self._widest = _Table()
        self._table = _Table()
        self._is_votable = self._in_stream = False
        self.parser = expat.ParserCreate()  # without namespaces: many who write VOTables forget to declare them
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def judge(self) -> None:
        """What is known only at the end."""
        if not self._is_votable:
            raise UnsafeVotable(VotableFault.NO_VOTABLE, "XML that is no VOTable")

    def _doctype(self, _name: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        # The document type of VOTable 1.1 names where it is told, and nobody looks there; one with entities has more.
        if has_subset:
            what = "a document type of its own, which may define entities without end"
            raise UnsafeVotable(VotableFault.ENTITIES, what)

    def _start(self, name: str, told: Mapping[str, str]) -> None:
        name = name.rpartition(":")[2].upper()
        self._is_votable = self._is_votable or (not self._depth and name == "VOTABLE")
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnsafeVotable(VotableFault.DEPTH, f"elements more than {_DEEPEST} deep")
        if name == "TR":
            self._row()
        elif name == "FIELD":
            self._field(told)
        elif name == "PARAM":
            self._parameter(told)
        elif name == "TABLE":
            self._begin(told)
        elif name == "STREAM" or name in _ELSEWHERE:
            self._stream(name, told)

    def _end(self, name: str) -> None:
        self._depth -= 1
        name = name.rpartition(":")[2].upper()
        if name == "STREAM":
            self._in_stream = False
        elif name == "TABLE":
            self._close()

    def _text(self, text: str) -> None:
        if not self._in_stream:
            return
        self._encoded += len(text)
        self._table.encoded += len(text)
        if self._encoded > self._limits.encoded:
            raise UnsafeVotable(VotableFault.SIZE, f"more than {self._limits.encoded} bytes of binary rows")

    def _row(self) -> None:
        self._rows += 1
        self._table.rows += 1
        if self._rows > self._limits.rows:
            raise self._too_many(f"more than {self._limits.rows} rows")
        self._room()

    def _field(self, told: Mapping[str, str]) -> None:
        self._fields += 1
        if self._fields > self._limits.fields:
            raise UnsafeVotable(VotableFault.SIZE, f"more than {self._limits.fields} columns")
        values, table = _values(told, self._limits.values), self._table
        table.fields, table.values = table.fields + 1, table.values + values
        self._some(table.values)
        table.size, table.weight = table.size + _size(told, values), table.weight + _weight(told, values)
        self._room()

    def _parameter(self, told: Mapping[str, str]) -> None:
        self._told += _values(told, self._limits.values)
        self._some(self._told)

    def _some(self, values: int) -> None:
        """Room is made for the values of one row before any is there."""
        if values > self._limits.values:
            raise UnsafeVotable(VotableFault.SIZE, f"a row that is said to have more than {self._limits.values} values")

    def _begin(self, told: Mapping[str, str]) -> None:
        rows = told.get("nrows", "").strip()
        if rows and not (rows.isascii() and rows.isdigit() and len(rows) <= 9 and int(rows) <= self._limits.rows):
            raise self._too_many(f"a table that says it has {rows[:40]} rows; at most {self._limits.rows} are read")
        # One that refers to another has the other's fields, whichever that is.
        seen = self._widest if told.get("ref") else _Table()
        self._table = replace(seen, claimed=int(rows or 0), rows=0, encoded=0)
        self._room()

    def _close(self) -> None:
        table = self._table
        if table.encoded:
            if not table.weight:
                raise UnsafeVotable(VotableFault.MALFORMED, "binary rows that have no bytes each")
            table.rows = table.encoded * 3 // 4 // table.weight
            if table.rows > self._limits.rows:
                raise self._too_many(f"room for {table.rows} binary rows; at most {self._limits.rows} are read")
            if table.rows * table.fields > self._limits.cells:
                raise UnsafeVotable(VotableFault.SIZE, f"room for {table.rows * table.fields} cells in binary")
            self._room()
        self._used += table.room
        self._widest = max(self._widest, table, key=lambda each: each.size)
        self._table = _Table()

    def _room(self) -> None:
        table = self._table
        if self._used + table.room > self._limits.room:
            what = f"{max(table.claimed, table.rows)} rows of {table.size} bytes each"
            raise UnsafeVotable(VotableFault.SIZE, what, most_bytes=self._limits.room)

    def _stream(self, name: str, told: Mapping[str, str]) -> None:
        here = told.get("encoding", "base64").lower() == "base64" and not told.get("href")
        if name in _ELSEWHERE or not here:
            what = "a table that is to be fetched from elsewhere, or packed in a way that is not read"
            raise UnsafeVotable(VotableFault.ELSEWHERE, what, href=told.get("href", "")[:200])
        self._in_stream = True

    def _too_many(self, what: str) -> UnsafeVotable:
        return UnsafeVotable(VotableFault.ROWS, what, most=self._limits.rows)


def _values(told: Mapping[str, str], most: int) -> int:
    """How many values a cell has; a length that varies costs what is there."""
    values = 1
    for part in told.get("arraysize", "").strip().split("x"):
        digits = part.strip()
        if digits.isascii() and digits.isdigit():
            values *= int(digits[:12])
        if values > most:
            return most + 1
    return values


def _size(told: Mapping[str, str], values: int) -> int:
    """How many bytes a cell takes here: of a length that varies, a reference to what is there."""
    if "*" in told.get("arraysize", ""):
        return 8
    return values * max(1, _BYTES.get(told.get("datatype", "").strip().lower(), 1))


def _weight(told: Mapping[str, str], values: int) -> int:
    """How many bytes a cell has at the least: of a length that varies, those that tell it."""
    if "*" in told.get("arraysize", ""):
        return 4
    kind = told.get("datatype", "").strip().lower()
    return -(-values // 8) if kind == "bit" else values * _BYTES.get(kind, 1)
