"""One row of a table, read: its brightnesses, or why there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from penstock.astronomy.light_curve import Measurement, UnreadRow
from penstock.astronomy.photometry.band import NamedBand, named_band
from penstock.astronomy.photometry.cell import Mark, limit_mark, marked_number, uncertainty
from penstock.astronomy.photometry.column_map import BrightnessColumn
from penstock.astronomy.photometry.number import is_missing, is_missing_magnitude, last_digit
from penstock.astronomy.photometry.raw_table import RawRow, without_blank_end
from penstock.astronomy.photometry.recognised import RecognisedTable
from penstock.astronomy.photometry.time_reading import TimeReading, has_time_of_day, plausible
from penstock.astronomy.photometry.unit import MAGNITUDE, named_unit, ratio

BRIGHTEST = -10.0
FAINTEST = 40.0
"Magnitudes that anything in the sky can have; the Sun is not measured."
MOST_BRIGHT = 1e30
_STANDARD = {"", "std", "abs", "standard"}
_SHOWN = 60
NOT_TOLD = "not told"
"Where blank cells are counted."


class RowCause(StrEnum):
    """Why a row was not read, in a word."""

    NO_VALUE = "no_value"
    FORM = "form"
    TIME = "time"
    VALUE = "value"
    TARGET = "target"
    METHOD = "method"


@dataclass(slots=True)
class Tally:
    """What was counted while rows were read."""

    causes: Counter[str] = field(default_factory=Counter)
    words: dict[str, str] = field(default_factory=dict)
    "Bands as written, with what they were taken for."
    unknown_bands: Counter[str] = field(default_factory=Counter)
    systems: Counter[str] = field(default_factory=Counter)
    validations: Counter[str] = field(default_factory=Counter)
    blank_values: int = 0
    less_than: int = 0
    "Magnitudes with a < before them."
    uncertain: int = 0
    bad_errors: int = 0
    whole_days: int = 0
    coarse: int = 0
    coarsest: float = 0.0
    "Of times that are written to more than a day."
    example: str = ""
    decimal_commas: int = 0


class _NotRead(Exception):
    """Ends the reading of a row; it never leaves this module."""

    def __init__(self, cause: RowCause, why: str) -> None:
        super().__init__(why)
        self.cause = cause
        self.why = why


class RowReader:
    """Reads rows of one table, and counts what it sees."""

    def __init__(self, table: RecognisedTable, reading: TimeReading, *, epoch: float | None, target: str) -> None:
        self.tally = Tally()
        self._table = table
        self._columns = table.columns
        self._reading = reading
        self._epoch = epoch
        self._target = target
        self._texts: dict[str, str] = {}
        self._bands: dict[str, NamedBand] = {}

    def read(self, row: RawRow) -> tuple[list[Measurement], UnreadRow | None]:
        """The measurements of a row; and the row again if it, or one of its brightnesses, could not be read."""
        try:
            cells = self._cells(row)
            columns = [each for each in self._columns.brightness if self._has_value(cells, each)]
            if not columns:
                raise _NotRead(RowCause.NO_VALUE, "it has no brightness")
            moment = self._moment(cells)
            self._check(cells)
        except _NotRead as reason:
            return [], self._unread(row, reason)
        self.tally.blank_values += len(self._columns.brightness) - len(columns)
        return self._measured(row, cells, columns, moment)

    def has_value(self, row: RawRow) -> bool:
        """Whether a row has a brightness, readable or not: its time counts."""
        if row.why or len(row.cells) <= self._columns.last:
            return False
        return any(self._has_value(row.cells, each) for each in self._columns.brightness)

    def _measured(
        self, row: RawRow, cells: Sequence[str], columns: Sequence[BrightnessColumn], moment: float
    ) -> tuple[list[Measurement], UnreadRow | None]:
        found: list[Measurement] = []
        unread: UnreadRow | None = None
        for column in columns:
            try:
                found.append(self._measurement(row, cells, column, moment))
            except _NotRead as reason:
                unread = unread or self._unread(row, reason)
        return found, unread

    def _unread(self, row: RawRow, reason: _NotRead) -> UnreadRow:
        self.tally.causes[reason.cause.value] += 1
        return UnreadRow(row.number, row.text, reason.why)

    def _cells(self, row: RawRow) -> Sequence[str]:
        if row.why:
            raise _NotRead(RowCause.FORM, row.why)
        cells = without_blank_end(row.cells, self._table.width)
        if len(cells) != self._table.width:
            raise _NotRead(RowCause.FORM, f"it has {len(cells)} cells, and the table has {self._table.width}")
        return cells

    def _has_value(self, cells: Sequence[str], column: BrightnessColumn) -> bool:
        text = cells[column.value]
        return not (is_missing_magnitude(text) if self._unit_hint(column) == MAGNITUDE else is_missing(text))

    def _unit_hint(self, column: BrightnessColumn) -> str:
        return column.unit if self._columns.unit is None else ""

    def _moment(self, cells: Sequence[str]) -> float:
        if self._epoch is not None:
            return self._epoch
        text = cells[self._columns.time] if self._columns.time is not None else ""
        if is_missing(text):
            raise _NotRead(RowCause.TIME, "it has no time")
        moment = self._reading.moment(text)
        if moment is None:
            raise _NotRead(RowCause.TIME, f"its time {text[:_SHOWN]!r} is none")
        if not plausible(moment):
            raise _NotRead(RowCause.TIME, f"its time {text[:_SHOWN]!r} is not plausible as {self._reading.written}")
        self._note_precision(text)
        return moment

    def _note_precision(self, text: str) -> None:
        if self._reading.is_calendar:
            self.tally.whole_days += not has_time_of_day(text)
        elif not text.strip().replace(".", "", 1).isdigit():
            step = last_digit(text) * self._reading.days
            self.tally.decimal_commas += "," in text
            if step > 1:
                self.tally.coarse += 1
                self.tally.example = self.tally.example if step <= self.tally.coarsest else text.strip()
                self.tally.coarsest = max(step, self.tally.coarsest)

    def _check(self, cells: Sequence[str]) -> None:
        """Whether the row is of the right object, and its magnitude no difference."""
        columns = self._columns
        if self._target and columns.target is not None and target_key(cells[columns.target]) != self._target:
            raise _NotRead(RowCause.TARGET, f"it is about {cells[columns.target][:_SHOWN]!r}")
        if columns.method is not None and cells[columns.method].lower() not in _STANDARD:
            said = f"its magnitude is {cells[columns.method][:_SHOWN]!r}: a difference, and no brightness"
            raise _NotRead(RowCause.METHOD, said)

    def _measurement(self, row: RawRow, cells: Sequence[str], column: BrightnessColumn, moment: float) -> Measurement:
        text = cells[column.value]
        marked = marked_number(text)
        if marked is None:
            raise _NotRead(RowCause.VALUE, f"its brightness {text[:_SHOWN]!r} is no number")
        self.tally.decimal_commas += "," in text
        unit = self._unit(cells, column)
        self._check_value(marked.value, unit, text)
        limit = self._limit(cells, column, marked.mark, unit)
        error = self._error(cells, column, unit, marked.value)
        if self._columns.validation is not None:
            self.tally.validations[cells[self._columns.validation][:8] or NOT_TOLD] += 1
        return Measurement(
            moment,
            marked.value,
            unit,
            error,
            self._band(cells, column),
            row.number,
            limit,
            self._text(cells, self._columns.telescope) or self._table.telescope,
            self._text(cells, self._columns.observer) or self._table.observer,
        )

    def _unit(self, cells: Sequence[str], column: BrightnessColumn) -> str:
        if self._columns.unit is None:
            return column.unit
        text = cells[self._columns.unit]
        unit = named_unit(text)
        if unit is None:
            raise _NotRead(RowCause.VALUE, f"its unit {text[:_SHOWN]!r} is not known")
        return unit

    def _check_value(self, value: float, unit: str, text: str) -> None:
        low, high = (BRIGHTEST, FAINTEST) if unit == MAGNITUDE else (-MOST_BRIGHT, MOST_BRIGHT)
        if not low <= value <= high:
            raise _NotRead(RowCause.VALUE, f"its brightness {text[:_SHOWN]!r} is not plausible in {unit}")

    def _limit(self, cells: Sequence[str], column: BrightnessColumn, mark: Mark, unit: str) -> bool:
        flag = Mark.NONE if column.limit is None else limit_mark(cells[column.limit])
        if flag is None:
            raise _NotRead(RowCause.VALUE, f"its flag {cells[column.limit or 0][:_SHOWN]!r} of a limit is not known")
        marks = {mark, flag} - {Mark.NONE}
        self.tally.uncertain += Mark.UNCERTAIN in marks
        if unit != MAGNITUDE and Mark.FAINTER in marks:
            raise _NotRead(RowCause.VALUE, "it is a lower limit: brighter than its value")
        self.tally.less_than += unit == MAGNITUDE and Mark.BELOW in marks
        return bool(marks - {Mark.UNCERTAIN})

    def _error(self, cells: Sequence[str], column: BrightnessColumn, unit: str, value: float) -> float | None:
        text = "" if column.error is None else cells[column.error]
        if is_missing_magnitude(text) if unit == MAGNITUDE else is_missing(text):
            return None
        share = text.rstrip().endswith("%") and unit != MAGNITUDE
        error = uncertainty(text.rstrip().rstrip("%") if share else text)
        if error is None:
            raise _NotRead(RowCause.VALUE, f"its uncertainty {text[:_SHOWN]!r} is no number")
        if error < 0:
            self.tally.bad_errors += 1
            return None
        if share:
            return abs(value) * error / 100
        scale = ratio(column.error_unit, to=unit) if column.error_unit else 1.0
        if scale is None:
            said = f"its uncertainty is in {column.error_unit[:_SHOWN]}, and its brightness in {unit}"
            raise _NotRead(RowCause.VALUE, said)
        return error if scale == 1.0 else error * scale

    def _band(self, cells: Sequence[str], column: BrightnessColumn) -> str:
        word = column.band or (cells[self._columns.band] if self._columns.band is not None else "")
        word = (word.strip() or self._table.band)[:40].strip()
        if word not in self._bands:
            self._bands[word] = named_band(word)
            if word:  # a blank says nothing, and is no name for anything
                self.tally.words[word] = self._bands[word].band
        if not self._bands[word].known:
            self.tally.unknown_bands[word] += 1
        if self._columns.filter_system is not None:
            self.tally.systems[cells[self._columns.filter_system][:80] or NOT_TOLD] += 1
        return self._bands[word].band

    def _text(self, cells: Sequence[str], column: int | None) -> str | None:
        """A cell's text, once in memory however often it stands in the table."""
        text = "" if column is None else cells[column][:200]
        return None if is_missing(text) else self._texts.setdefault(text, text)


def target_key(name: str) -> str:
    """A name without what differs between two spellings of it."""
    return "".join(each for each in name.lower() if each.isalnum())
