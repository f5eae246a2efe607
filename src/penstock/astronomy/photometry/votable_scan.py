"""The tables in a VOTable, read with the expat parser alone: nothing in the file is expanded, fetched or trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from xml.parsers import expat

from penstock.astronomy.judgement import FileVerdict
from penstock.astronomy.photometry.content import TableRefusal, refused
from penstock.astronomy.photometry.raw_table import MOST_CELLS, MOST_LINE, SHOWN, RawRow

MOST_TABLES = 100
MOST_DEPTH = 100


@dataclass(frozen=True, slots=True)
class VoField:
    """A column as the file declares it."""

    name: str
    ucd: str = ""
    unit: str = ""
    datatype: str = ""
    arraysize: str = ""
    ref: str = ""
    null: str | None = None


@dataclass(slots=True)
class VoTable:
    """One table: its columns and its rows, or that its rows are packed as numbers."""

    number: int
    fields: list[VoField] = field(default_factory=list)
    rows: list[RawRow] = field(default_factory=list)
    packed: str = ""
    "BINARY, BINARY2 or FITS, if rows are not written as text."
    claimed_rows: str = ""
    stream: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class VoScan:
    """Everything that a VOTable says of its tables."""

    tables: list[VoTable] = field(default_factory=list)
    clocks: dict[str, dict[str, str]] = field(default_factory=dict)
    "The systems of time that it declares, by their ids."


class _Stop(Exception):
    """Ends the scan; it never leaves this module."""

    def __init__(self, refusal: TableRefusal) -> None:
        super().__init__(refusal.finding.code)
        self.refusal = refusal


def scanned_votable(data: bytes, *, most_rows: int) -> VoScan | TableRefusal:
    """The tables of a VOTable, or why it is none."""
    handler = _Handler(most_rows)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = handler.entity
    parser.StartDoctypeDeclHandler = handler.doctype
    try:
        parser.Parse(data, True)
    except _Stop as stop:
        return stop.refusal
    except expat.ExpatError as error:
        said = f"The XML is damaged at line {error.lineno}: {expat.errors.messages[error.code]}. Send it again."
        return refused(FileVerdict.TERMINAL_INVALID, "BROKEN_TABLE", said, line=error.lineno)
    except (ValueError, LookupError) as error:
        return refused(FileVerdict.TERMINAL_INVALID, "BROKEN_TABLE", f"The XML cannot be read: {str(error)[:200]}.")
    return handler.scan


class _Handler:
    """Gathers what the parser meets."""

    def __init__(self, most_rows: int) -> None:
        self.scan = VoScan()
        self._most_rows = most_rows
        self._rows = 0
        self._depth = 0
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._size = 0
        self._too_long = False

    def entity(self, *_: object) -> None:
        said = "The file declares entities, which no VOTable needs and attacks are made of. Save it without."
        raise _Stop(refused(FileVerdict.TERMINAL_INVALID, "UNSAFE_XML", said))

    def doctype(self, _name: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        if has_subset:
            self.entity()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name.rpartition(":")[2].upper() != "VOTABLE":
            said = f"The file is XML and no VOTable: its outermost element is {name[:40]!r}."
            raise _Stop(refused(FileVerdict.TERMINAL_INVALID, "NOT_PHOTOMETRY", said, element=name[:40]))
        if self._depth > MOST_DEPTH:
            said = f"Elements are nested more than {MOST_DEPTH} deep."
            raise _Stop(refused(FileVerdict.TERMINAL_INVALID, "UNSAFE_XML", said))
        opened = getattr(self, f"_start_{name.rpartition(':')[2].lower()}", None)
        if opened is not None:
            opened(attributes)

    def end(self, name: str) -> None:
        self._depth -= 1
        closed = getattr(self, f"_end_{name.rpartition(':')[2].lower()}", None)
        if closed is not None:
            closed()

    def text(self, text: str) -> None:
        if self._cell is None:
            return
        self._size += len(text)
        self._too_long = self._too_long or self._size > MOST_LINE
        if not self._too_long:
            self._cell.append(text)

    @property
    def _table(self) -> VoTable:
        if not self.scan.tables:
            raise _Stop(
                refused(FileVerdict.TERMINAL_INVALID, "BROKEN_TABLE", "Rows or columns stand outside of a table.")
            )
        return self.scan.tables[-1]

    def _start_table(self, attributes: dict[str, str]) -> None:
        if len(self.scan.tables) == MOST_TABLES:
            said = f"The file has more than {MOST_TABLES} tables. Send the one that is meant."
            raise _Stop(refused(FileVerdict.QUARANTINED, "TOO_LARGE", said, most_tables=MOST_TABLES))
        self.scan.tables.append(VoTable(len(self.scan.tables) + 1, claimed_rows=attributes.get("nrows", "")))

    def _start_timesys(self, attributes: dict[str, str]) -> None:
        if len(self.scan.clocks) < MOST_TABLES:
            self.scan.clocks[attributes.get("ID", "")] = attributes

    def _start_field(self, attributes: dict[str, str]) -> None:
        if len(self._table.fields) == MOST_CELLS:
            said = f"A table has more than {MOST_CELLS} columns."
            raise _Stop(refused(FileVerdict.TERMINAL_INVALID, "TOO_LARGE", said, most_columns=MOST_CELLS))
        names = ("name", "ucd", "unit", "datatype", "arraysize", "ref")
        self._table.fields.append(VoField(*(attributes.get(name, "")[:200] for name in names)))

    def _start_values(self, attributes: dict[str, str]) -> None:
        if "null" in attributes and self.scan.tables and self._table.fields:
            last = self._table.fields[-1]
            told = (last.name, last.ucd, last.unit, last.datatype, last.arraysize, last.ref)
            self._table.fields[-1] = VoField(*told, null=attributes["null"][:80])

    def _start_binary(self, _: dict[str, str]) -> None:
        self._table.packed = "BINARY"

    def _start_binary2(self, _: dict[str, str]) -> None:
        self._table.packed = "BINARY2"

    def _start_fits(self, _: dict[str, str]) -> None:
        self._table.packed = "FITS"

    def _start_stream(self, attributes: dict[str, str]) -> None:
        self._table.stream = {name: value[:200] for name, value in attributes.items()}

    def _start_tr(self, _: dict[str, str]) -> None:
        self._rows += 1
        if self._rows > self._most_rows:
            said = f"The file has more than {self._most_rows} rows. Split it, or raise the limit."
            raise _Stop(refused(FileVerdict.QUARANTINED, "TOO_MANY_ROWS", said, most_rows=self._most_rows))
        self._row, self._size, self._too_long = [], 0, False

    def _start_td(self, _: dict[str, str]) -> None:
        self._cell = []

    def _end_td(self) -> None:
        if self._row is not None and self._cell is not None:
            self._too_long = self._too_long or len(self._row) > MOST_CELLS
            if not self._too_long:
                self._row.append("".join(self._cell).strip())
        self._cell = None

    def _end_tr(self) -> None:
        row, self._row = self._row, None
        if row is None:
            return
        table = self._table
        why = f"it has more than {MOST_LINE} characters or {MOST_CELLS} cells" if self._too_long else ""
        nulls = [each.null for each in table.fields[: len(row)]]  # no more than there are cells, in however many rows
        cells = ["" if cell == null else cell for cell, null in zip_longest(row, nulls)]
        shown = " | ".join(cells)[:SHOWN]
        table.rows.append(RawRow(len(table.rows) + 1, () if why else cells, shown, why))
