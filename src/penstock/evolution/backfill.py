"""Backfill: records that stood before an index was declared are brought into it, page by page, while others write.

Each key is made of what was read, on the condition that it still stands. Whoever changes a record meanwhile knows of
the index, and has brought the record into it. So a page that is done twice does no harm, and neither does one that was
begun by a process which died.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from msgspec import Struct

from penstock.errors import Conflict
from penstock.operations.conditions import All, Compare, Condition, Missing
from penstock.operations.reads import Unreadable
from penstock.operations.scan_page import ScannedRecord
from penstock.operations.writes import Patch
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token
from penstock.schema.shape import EntityShape


class FilledPage(Struct, frozen=True):
    """What came of one page."""

    place: str | None
    looked_at: int
    written: int
    unreadable: tuple[Unreadable, ...] = ()


class Backfill:
    """Brings records into indexes of one entity.

    ``shape`` is the entity's as every writer has it while the index is filled; each write is made within ``writing``.
    """

    def __init__(
        self, engine: Engine, shape: EntityShape, clock: Clock, *, writing: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self._engine, self._shape, self._clock, self._writing = engine, shape, clock, writing

    def fill(self, segment: int, segments: int, after: str | None, *, limit: int) -> FilledPage:
        """One page of a segment; all of its records are as they should be then."""
        page = self._engine.scan(self._shape, segment=segment, segments=segments, after=after, limit=limit)
        written = sum(self._renew(found) for found in page.found if found.stale)
        return FilledPage(page.place, len(page.found), written, page.unreadable)

    def _renew(self, found: ScannedRecord) -> bool:
        """Make the keys of a record anew; False where somebody else has just done so, or has removed it."""
        with self._writing():
            try:
                self._engine.commit(
                    [renewing(self._shape, found.record.__dict__, found.stale)],
                    now=self._clock.now(),
                    token=commit_token(),
                )
            except Conflict:
                return False
        return True


def renewing(shape: EntityShape, values: dict[str, Any], stale: frozenset[str]) -> Patch:
    """The write that makes keys of indexes anew, of a record that still is as it was read."""
    watched = {n for name in stale for n in shape.indexes[name].watched}
    for index in shape.indexes.values():
        if index.watched & watched:  # it is made anew with the others
            watched |= index.watched
    key = {n: values[n] for n in shape.key.fields}
    conditions: list[Condition] = [
        Missing(n) if values[n] is None else Compare(n, "=", values[n]) for n in sorted(watched - key.keys())
    ]
    return Patch(shape, key, (), All(tuple(conditions)) if conditions else None, dict(values), renewed=stale)
