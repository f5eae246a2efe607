"""A ring of rows, one for each of the last steps of time, in memory or in a file that other processes read, too."""

from __future__ import annotations

import mmap
import os
from array import array
from collections.abc import Sequence
from pathlib import Path

Row = list[float]


class StepRing:
    """Rows of numbers, each of which begins as a blank one does, and takes the place of an older step's."""

    def __init__(self, blank: Sequence[float], *, steps: int, file: Path | None = None) -> None:
        self._blank, self._steps, self._width = array("d", blank), steps, 1 + len(blank)
        size = steps * self._width * self._blank.itemsize
        self._cells = memoryview(bytearray(size) if file is None else _mapped(file, size)).cast("d")
        self._last = max(map(int, self._cells[:: self._width]))

    def add(self, step: int, places: Sequence[int]) -> None:
        """One more at each of these places of a step's row."""
        begin = self._begun(step)
        for place in places:
            self._cells[begin + place] += 1

    def note(self, step: int, place: int, values: Sequence[float]) -> None:
        """These values from a place of a step's row on, instead of what was noted there."""
        begin = self._begun(step) + place
        self._cells[begin : begin + len(values)] = array("d", values)

    def rows(self, content: bytes | None = None) -> dict[int, Row]:
        """Every row there is, by its step; also those of another ring, of which this is the file's content."""
        cells = self._cells if content is None else memoryview(content).cast("d")
        whole = [list(cells[at : at + self._width]) for at in range(0, len(cells), self._width)]
        return {int(step): row for step, *row in whole if step}

    def _begun(self, step: int) -> int:
        """Where the row of a step lies. A clock that is set back adds to the last one."""
        self._last = step = max(step, self._last)
        at = step % self._steps * self._width
        if self._cells[at] != step:
            self._cells[at] = 0  # it is nobody's until it is blank
            self._cells[at + 1 : at + self._width] = self._blank
            self._cells[at] = step
        return at + 1


def _mapped(file: Path, size: int) -> mmap.mmap:
    """A file as memory. Its room is taken now: a process that wrote where there is none would be killed."""
    with open(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as opened:
        os.posix_fallocate(opened.fileno(), 0, size)
        return mmap.mmap(opened.fileno(), size)
