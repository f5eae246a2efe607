"""A table as it is written: rows of cells, before anybody knows what they mean."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

MOST_LINE = 64 * 1024
"Characters of a line; longer ones are no row."
MOST_CELLS = 1000
SHOWN = 200
WHITESPACE = "whitespace"
DELIMITERS = (",", ";", "\t", "|", WHITESPACE)
_SAMPLE = 200
_RULE = re.compile(r"[-=+|,;_\s]+")


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row: where it stands, its cells, and why it is none, if so."""

    number: int
    cells: Sequence[str]
    text: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line that is not blank, with its number in the file."""

    number: int
    text: str

    @property
    def is_comment(self) -> bool:
        return self.text.lstrip().startswith("#")


def count_lines(text: str) -> int:
    """How many lines a text has, at the most, counted before one of them is cut out."""
    return 1 + text.count("\n") + text.count("\r")


def text_lines(text: str) -> list[TextLine]:
    """The lines of a text that are not blank, whatever ends them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [TextLine(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def is_rule(line: str) -> bool:
    """Whether a line only draws a line under the names."""
    return len(line) < MOST_LINE and "-" * 2 in line and _RULE.fullmatch(line) is not None


def split_line(line: str, delimiter: str) -> list[str] | None:
    """The cells of a line; `None` if it has an open quote."""
    if delimiter == WHITESPACE:
        return line.split() if '"' not in line else _quoted(" ".join(line.split()), " ")
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    return _quoted(line, delimiter)


class SplitLines(Collection[RawRow]):
    """Every line as a row, split anew each time it is looked at: cells take many times the room that their lines do.

    Lines that are no row say why; those of `above` stand above the names of the columns, and none of them is one.
    """

    def __init__(self, lines: Sequence[TextLine], delimiter: str, *, above: Sequence[TextLine] = ()) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self._above = above

    def __len__(self) -> int:
        return len(self._above) + len(self._lines)

    def __iter__(self) -> Iterator[RawRow]:
        for line in self._above:
            yield RawRow(line.number, (), line.text[:SHOWN], "it stands above the names of the columns")
        for line in self._lines:
            yield _row(line, self._delimiter)

    def __contains__(self, row: object) -> bool:
        return any(each == row for each in self)


def usual_width(rows: Iterable[RawRow]) -> int:
    """How many cells most rows have; of several equally frequent numbers the largest."""
    counts = Counter(len(row.cells) for row in rows if not row.why)
    return max(counts, key=lambda width: (counts[width], width), default=0)


def without_blank_end(cells: Sequence[str], width: int) -> Sequence[str]:
    """A row without the blank cells that it has more than others: a delimiter at the end of its line."""
    end = len(cells)
    while end > width and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def likely_delimiter(lines: Sequence[TextLine], *, least: int = 2) -> str | None:
    """What most lines are split at into equally many cells, at least so many; `None` if nothing does."""
    sample = lines[:_SAMPLE]
    scored = [(_share(sample, each, least), -place, each) for place, each in enumerate(DELIMITERS)]
    best = max(scored, default=(0.0, 0, ""))
    return best[2] if best[0] > 0 else None


def _share(lines: Sequence[TextLine], delimiter: str, least: int) -> float:
    """How much of the lines agrees on a width; a delimiter that only whitespace explains counts for less."""
    rows = SplitLines(lines, delimiter)
    width = usual_width(rows)
    if width < least or not rows:
        return 0.0
    agreed = sum(len(row.cells) == width for row in rows if not row.why) / len(rows)
    return agreed * (0.5 if delimiter == WHITESPACE else 1.0)


def _row(line: TextLine, delimiter: str) -> RawRow:
    shown = line.text[:SHOWN]
    if len(line.text) > MOST_LINE:
        return RawRow(line.number, (), shown, f"its line has {len(line.text)} characters, more than {MOST_LINE}")
    cells = split_line(line.text, delimiter)
    if cells is None:
        return RawRow(line.number, (), shown, "a quotation mark is opened and not closed")
    if len(cells) > MOST_CELLS:
        return RawRow(line.number, (), shown, f"it has {len(cells)} cells, more than {MOST_CELLS}")
    return RawRow(line.number, cells, shown)


class _Feed:
    """Gives a reader one line, and notices when it asks for another: then a quote is open."""

    def __init__(self, line: str) -> None:
        self._lines = iter((line,))
        self.asked_for_more = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for line in self._lines:
            return line
        self.asked_for_more = True
        raise StopIteration


def _quoted(line: str, delimiter: str) -> list[str] | None:
    feed = _Feed(line)
    try:
        cells = next(csv.reader(feed, delimiter=delimiter, skipinitialspace=True), None)
    except csv.Error:
        return None
    return None if cells is None or feed.asked_for_more else [cell.strip() for cell in cells]
