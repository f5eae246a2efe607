"""Are two stores' records the same? While others write, and then, of what was written meanwhile, once nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from penstock.declare.entity import Entity
from penstock.errors import DamagedRecord
from penstock.kernel.store import Store
from penstock.lifecycle.bundle import line_of
from penstock.operations.reads import Ref
from penstock.schema.shape import EntityShape
from penstock.transfer.transfer_selection import Selection

_PAGE = 500
Refs = dict[str, Ref[Any]]
"What is to be compared, by its name."


class Comparison:
    """Compares the records of two stores, one by one, as lines that are the same whichever engine they come from."""

    def __init__(self, source: Store, target: Store, selection: Selection) -> None:
        self._source, self._target, self._selection = source, target, selection

    def of_all(self, told: Callable[[str, int], object]) -> Refs:
        """The records that differ, or that only one has; some merely because they were written meanwhile."""
        differing: Refs = {}
        for here, there in ((self._source, self._target), (self._target, self._source)):
            for shape in self._selection.shapes:
                for records in self._pages(here, shape):
                    refs = {name_of(r.ref): r.ref for r in records}
                    differing |= self._differing(refs, {name_of(r.ref): self._line(r) for r in records}, there)
                    told(shape.label, len(records))
        return differing

    def of(self, refs: Refs) -> Refs:
        """Those of these records that differ."""
        todo, differing = iter(refs.items()), dict[str, Ref[Any]]()
        while some := dict(islice(todo, _PAGE)):
            differing |= self._differing(some, self._lines(self._source, some), self._target)
        return differing

    def _differing(self, refs: Refs, lines: Mapping[str, bytes | None], there: Store) -> Refs:
        found = self._lines(there, refs)
        return {name: ref for name, ref in refs.items() if lines.get(name) != found.get(name)}

    def _lines(self, store: Store, refs: Refs) -> dict[str, bytes | None]:
        if not refs:
            return {}
        try:
            records: Iterable[Any] = store.engine.get(list(refs.values()), now=store.clock.now())
        except DamagedRecord as damaged:
            records = damaged.records or [None] * len(refs)
        return {name: None if r is None else self._line(r) for name, r in zip(refs, records, strict=True)}

    def _line(self, record: Entity) -> bytes | None:
        return line_of(record) if self._selection.takes(record, self._source.clock.now()) else None

    def _pages(self, store: Store, shape: EntityShape) -> Iterator[list[Any]]:
        place: str | None = None
        while True:
            page = store.engine.scan(shape, after=place, limit=_PAGE)
            now = store.clock.now()
            yield [found.record for found in page.found if self._selection.takes(found.record, now)]
            place = page.place
            if place is None:
                return


def name_of(ref: Ref[Any]) -> str:
    """What a record is called among those of all domains."""
    return f"{ref.shape.domain}.{ref!r}" if ref.shape.domain else repr(ref)
