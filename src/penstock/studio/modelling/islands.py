"""One piece of everything: islands are joined to the subject or left out, and small holes are filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from penstock.studio.modelling.model import Mask, Whole
from penstock.studio.modelling.morphology import numbered, shrunk

_SMALL = 0.004
"An island smaller than this part of the largest piece is a speck."
_MOST_ISLANDS = 12
_MOST_HOLES = 12
_LOOKED_AT = 600
"So many pixels of a shore are looked at to find the shortest way across."


@dataclass(frozen=True, slots=True)
class Pieces:
    """A mask in one piece, and what was done for it."""

    mask: Mask
    joined: int
    dropped: int
    filled: int
    holes: int
    "Those that are left."


def in_one_piece(mask: Mask, *, bridge: int, hole: int) -> Pieces:
    """Islands joined by bridges so many pixels wide; specks gone; holes of fewer pixels than ``hole`` filled."""
    label = numbered(mask, diagonal=True)
    sizes = np.bincount(label.ravel())
    sizes[0] = 0
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    kept = [number for number in order[: _MOST_ISLANDS + 1] if sizes[number] >= _SMALL * sizes[order[0]]]
    whole = _joined(label, kept, bridge)
    # Two islands that a speck connected may be bridged across it; what is left is one piece all the same.
    whole, filled, holes = _without_small_holes(whole, hole)
    return Pieces(whole, joined=len(kept) - 1, dropped=len(order) - len(kept), filled=filled, holes=holes)


def _joined(label: Whole, kept: list[int], bridge: int) -> Mask:
    """The largest piece, and the others, each joined to what is nearest of the rest."""
    shores = {number: _shore(label == number) for number in kept}
    land, others = shores.pop(kept[0]), kept[1:]
    drawn = Image.fromarray(np.isin(label, kept).astype(np.uint8))
    pen = ImageDraw.Draw(drawn)
    while others:
        ways = {number: _shortest(land, shores[number]) for number in others}
        nearest = min(others, key=lambda number: ways[number][0])
        _, here, there = ways[nearest]
        pen.line([here, there], fill=1, width=bridge)
        for x, y in (here, there):
            pen.ellipse((x - bridge / 2, y - bridge / 2, x + bridge / 2, y + bridge / 2), fill=1)
        land = np.concatenate([land, shores[nearest]])
        others.remove(nearest)
    return np.asarray(drawn) > 0


def _shore(mask: Mask) -> Whole:
    """Pixels at the edge, as column and row: not more of them than are worth looking at."""
    rows, columns = np.nonzero(mask & ~shrunk(mask, 1))
    step = -(-len(rows) // _LOOKED_AT)
    return np.stack([columns, rows], axis=1)[::step]


def _shortest(land: Whole, island: Whole) -> tuple[int, tuple[int, int], tuple[int, int]]:
    """How far it is, squared, and from where to where."""
    squared = ((land[:, None] - island[None]) ** 2).sum(axis=2)
    here, there = np.unravel_index(int(squared.argmin()), squared.shape)
    (x0, y0), (x1, y1) = land[here].tolist(), island[there].tolist()
    return int(squared[here, there]), (x0, y0), (x1, y1)


def _without_small_holes(mask: Mask, least: int) -> tuple[Mask, int, int]:
    """With its small holes filled, and all but the largest few; how many were, and how many are left."""
    label = numbered(np.pad(~mask, 1, constant_values=True), diagonal=False)
    sizes = np.bincount(label.ravel())
    sizes[[0, label[0, 0]]] = 0
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    kept = [number for number in order[:_MOST_HOLES] if sizes[number] >= least]
    filled = mask | (np.isin(label, order) & ~np.isin(label, kept))[1:-1, 1:-1]
    return filled, len(order) - len(kept), len(kept)
