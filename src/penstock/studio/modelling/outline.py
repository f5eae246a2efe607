"""A body's outline on a wall, in cells: its runs, its gaps, and the ways through it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from penstock.studio.modelling.model import Doubles, Mask, Whole

Run = tuple[int, int]
"The first cell of a stretch, and the one behind its last."


@dataclass(frozen=True)
class Silhouette:
    """Cells that are filled: row 0 is the lowest, and an empty one lies around them."""

    filled: Mask
    "(rows, columns)"

    @property
    def rows(self) -> int:
        return len(self.filled)

    @property
    def columns(self) -> int:
        return int(self.filled.shape[1])

    @cached_property
    def _runs(self) -> list[list[Run]]:
        closed = np.pad(self.filled, ((0, 0), (1, 1)))
        found: list[list[Run]] = [[] for _ in range(self.rows)]
        edges = np.argwhere(closed[:, 1:] != closed[:, :-1]).tolist()
        for (row, start), (_, end) in zip(edges[::2], edges[1::2], strict=True):
            found[row].append((start, end))
        return found

    def runs(self, row: int) -> list[Run]:
        """The filled stretches of a row, from left to right."""
        return self._runs[row]

    def gaps(self, row: int) -> list[Run]:
        """The empty stretches between the filled ones."""
        runs = self.runs(row)
        return [(one[1], other[0]) for one, other in pairwise(runs)]

    def run_at(self, row: int, column: float) -> Run | None:
        """The filled stretch at a column, or the one nearest to it."""
        runs = self.runs(min(max(row, 0), self.rows - 1))
        return min(runs, key=lambda run: max(run[0] - column, column - run[1] + 1, 0), default=None)

    def clearance(self, points: Doubles) -> Doubles:
        """How far points, given as row and column, are from the nearest empty cell."""
        empty = np.argwhere(~self.filled & _grown(self.filled, 8))
        if not len(empty):
            return np.ones(len(points))
        return np.asarray(np.sqrt(((points[:, None] - (empty + 0.5)[None]) ** 2).sum(axis=2)).min(axis=1))


def reached(region: Mask, seeds: Mask) -> Whole:
    """The steps it takes through a region from the seeds to each of its cells; -1 where no way leads.

    Every other step may go askew, so that a step is about as long in all directions.
    """
    steps = np.full(region.shape, -1, dtype=np.int64)
    front, count = seeds & region, 0
    while front.any():
        steps[front] = count
        count += 1
        front = _grown(front, 8 if count % 2 else 4) & region & (steps < 0)
    return steps


def way(steps: Whole, end: tuple[int, int], *, width: float) -> Doubles:
    """The middle of the way from the seeds to a cell, as rows and columns; it keeps away from the walls.

    All cells as many steps away as one of the way, and not farther from it than ``width``, lie across it: their middle
    is the middle of the limb.
    """
    row, column = end
    path = [(row, column)]
    while steps[row, column] > 0:
        near = steps[row - 1 : row + 2, column - 1 : column + 2]
        best = np.where(near >= 0, near, steps[row, column] + 1)
        down, right = np.unravel_index(int(best.argmin()), best.shape)
        row, column = row + int(down) - 1, column + int(right) - 1
        path.append((row, column))
    cells = np.argwhere(steps >= 0)
    levels = steps[steps >= 0]
    middles = []
    for row, column in reversed(path):
        near_cells = cells[np.abs(levels - steps[row, column]) <= 1]
        close = np.abs(near_cells - [row, column]).max(axis=1) <= width
        middles.append(near_cells[close].mean(axis=0) + 0.5)
    return _smooth(np.array(middles))


def along(line: Doubles, share: float) -> Doubles:
    """The point that far along a line."""
    if len(line) == 1:
        return np.asarray(line[0])
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = share * lengths[-1]
    return np.array([np.interp(at, lengths, column) for column in line.T])


def length(line: Doubles) -> float:
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def _smooth(line: Doubles) -> Doubles:
    if len(line) < 5:
        return line
    padded = np.concatenate([line[:1], line[:1], line, line[-1:], line[-1:]])
    return np.asarray(sum(padded[n : n + len(line)] for n in range(5)) / 5)


def _grown(cells: Mask, neighbours: int) -> Mask:
    """With the cells beside it, and askew as well if eight count as neighbours."""
    grown = cells.copy()
    grown[1:] |= cells[:-1]
    grown[:-1] |= cells[1:]
    base = grown.copy() if neighbours == 8 else cells
    grown[:, 1:] |= base[:, :-1]
    grown[:, :-1] |= base[:, 1:]
    return grown
