"""The line of names in a text, and the lines of data below it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from penstock.astronomy.photometry.column_header import is_header, named_columns
from penstock.astronomy.photometry.column_name import NamedColumn
from penstock.astronomy.photometry.number import number
from penstock.astronomy.photometry.raw_table import (
    DELIMITERS,
    MOST_CELLS,
    MOST_LINE,
    RawRow,
    SplitLines,
    TextLine,
    is_rule,
    split_line,
    usual_width,
    without_blank_end,
)

_SEARCHED = 60
"Lines among which the names are looked for; catalogues put some remarks before them."
_TRIED = 8
"Lines that look like names, of which each costs a look at all that is below."


@dataclass(frozen=True, slots=True)
class TextHeader:
    """The names of a table's columns, and its rows."""

    line: int
    delimiter: str
    names: tuple[str, ...]
    found: tuple[NamedColumn, ...]
    rows: Collection[RawRow]
    comments: int

    @property
    def width(self) -> int:
        return len(self.names)


def text_header(lines: Sequence[TextLine], *, delimiters: Sequence[str] = DELIMITERS) -> TextHeader | None:
    """The names that some of the first lines has, if a good half of the rows below has as many cells."""
    tried = 0
    for delimiter in delimiters:
        for at, line in enumerate(lines[:_SEARCHED]):
            names = _names(line, delimiter)
            if names and is_header(named_columns(names)):
                header = _below(lines, at, delimiter, names)
                tried += 1
                if header is not None or tried == _TRIED:
                    return header
    return None


def _names(line: TextLine, delimiter: str) -> list[str]:
    if len(line.text) > MOST_LINE:
        return []
    cells = split_line(line.text.strip().lstrip("#").strip(), delimiter) or []
    cells = list(without_blank_end(cells, 1))
    if not 2 <= len(cells) <= MOST_CELLS or any(number(cell) is not None for cell in cells):
        return []
    return cells


def _below(lines: Sequence[TextLine], at: int, delimiter: str, names: list[str]) -> TextHeader | None:
    data = [line for line in lines[at + 1 :] if not line.is_comment]
    units, data = _units(data, delimiter)
    above = [line for line in lines[:at] if not line.is_comment]
    rows = SplitLines(data, delimiter)
    width = usual_width(rows)
    if rows and not _agrees(rows, width, len(names)):
        return None
    found = named_columns(names, units=units if len(units) == len(names) else ())
    comments = sum(line.is_comment for line in lines) - lines[at].is_comment
    return TextHeader(
        lines[at].number, delimiter, tuple(names), tuple(found), SplitLines(data, delimiter, above=above), comments
    )


def _agrees(rows: Collection[RawRow], width: int, names: int) -> bool:
    """Whether most rows have as many cells as there are names, but for blank ones at the end."""
    return sum(len(without_blank_end(row.cells, names)) == names for row in rows if not row.why) * 2 > len(rows) or (
        width == names
    )


def _units(data: list[TextLine], delimiter: str) -> tuple[list[str], list[TextLine]]:
    """The line of units between the names and a rule of dashes, as VizieR writes tables; and what is below."""
    rule = next((at for at, line in enumerate(data[:3]) if is_rule(line.text)), None)
    if rule is None:
        return [], data
    units = split_line(data[0].text, delimiter) if rule == 1 else None
    return units or [], data[rule + 1 :]
