"""Are two stores' records the same? While others write, and then, of what was written meanwhile, once nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from penstock.declare.entity import Entity
from penstock.errors import DamagedRecord
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.schema.shape import EntityShape
from penstock.transfer.transfer_selection import Selection

_PAGE = 1000
Refs = dict[str, Ref[Any]]
"What is to be compared, by its name."


class Comparison:
    """Compares the records of two stores, one by one: whichever engine they come from, the same ones are equal."""

    def __init__(self, source: Store, target: Store, selection: Selection) -> None:
        self._source, self._target, self._selection = source, target, selection

    def of_all(self, told: Callable[[str, int], object]) -> Refs:
        """The records that differ, or that only one has; some merely because they were written meanwhile.

        Nobody else writes to the target. So if it has as many as were found there, it has no others.
        """
        differing: Refs = {}
        for shape in self._selection.shapes:
            met = 0
            for records in self._pages(self._source, shape):
                others = self._found(self._target, [r.ref for r in records])
                met += sum(other is not None for other in others)
                differing |= _named(_unequal(records, others))
                told(shape.label, len(records))
            if met != sum(len(records) for records in self._pages(self._target, shape)):
                differing |= self._only_there(shape)
        return differing

    def _only_there(self, shape: EntityShape) -> Refs:
        lonely: Refs = {}
        for records in self._pages(self._target, shape):
            others = self._found(self._source, [r.ref for r in records])
            lonely |= _named(r.ref for r, other in zip(records, others, strict=True) if other is None)
        return lonely

    def of(self, refs: Refs) -> Refs:
        """Those of these records that differ."""
        todo, differing = iter(refs.items()), dict[str, Ref[Any]]()
        while some := dict(islice(todo, _PAGE)):
            here, there = (self._found(store, list(some.values())) for store in (self._source, self._target))
            differing |= {n: r for (n, r), a, b in zip(some.items(), here, there, strict=True) if not _equal(a, b)}
        return differing

    def _found(self, store: Store, refs: list[Ref[Any]]) -> list[Any]:
        """The records that are meant, None where there is none; one that cannot be read is unlike any other."""
        now = store.clock.now()
        try:
            found = store.engine.get(refs, now=now) if refs else []
        except DamagedRecord as damaged:
            unreadable = {told.name for told in damaged.unreadable}
            given = damaged.records or [None] * len(refs)
            found = [object() if repr(ref) in unreadable else r for ref, r in zip(refs, given, strict=True)]
        return [r if not isinstance(r, Entity) or self._selection.takes(r, now) else None for r in found]

    def _pages(self, store: Store, shape: EntityShape) -> Iterator[list[Any]]:
        place: str | None = None
        while True:
            page = store.engine.scan(shape, after=place, limit=_PAGE)
            now = store.clock.now()
            yield [found.record for found in page.found if self._selection.takes(found.record, now)]
            place = page.place
            if place is None:
                return


def _unequal(records: list[Any], others: list[Any]) -> Iterator[Ref[Any]]:
    return (r.ref for r, other in zip(records, others, strict=True) if not _equal(r, other))


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return type(one) is type(other) and bool(vars(one) == vars(other))


def _named(refs: Iterator[Ref[Any]]) -> Refs:
    return {name_of(ref): ref for ref in refs}


def name_of(ref: Ref[Any]) -> str:
    """What a record is called among those of all domains."""
    return f"{ref.shape.domain}.{ref!r}" if ref.shape.domain else repr(ref)
