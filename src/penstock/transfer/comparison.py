"""Are two stores' records the same? While others write, and then, of what was written meanwhile, once nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, zip_longest
from operator import itemgetter
from typing import Any, cast

from penstock.declare.entity import Entity
from penstock.errors import DamagedRecord
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.operations.scan_page import RowPage
from penstock.ports.row_passing import Row, RowPassing, common_form
from penstock.ports.scanning import scanned
from penstock.schema.shape import EntityShape
from penstock.transfer.read_ahead import read_ahead
from penstock.transfer.transfer_selection import Selection

_PAGE, _WINDOW = 1000, 20_000
Refs = dict[str, Ref[Any]]
"What is to be compared, by its name."


class Comparison:
    """Compares the records of two stores, one by one: whichever engine they come from, the same ones are equal."""

    def __init__(self, source: Store, target: Store, selection: Selection) -> None:
        self._source, self._target, self._selection = source, target, selection

    def of_all(self, told: Callable[[str, int], object]) -> Refs:
        """The records that differ, or that only one has; some merely because they were written meanwhile.

        Both stores are walked through side by side. Where they have the same order a record is soon met in the other,
        too; those that are not are asked for.
        """
        differing: Refs = {}
        for shape in self._selection.shapes:
            pair = _Met(shape)
            for number, one, other in self._side_by_side(shape):
                pair.take(one, other)
                told(shape.label, number)
                if pair.waiting > _WINDOW:
                    pair.differing |= self.of(pair.forgotten())
            differing |= pair.differing | self.of(pair.forgotten())
        return differing

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

    def _side_by_side(self, shape: EntityShape) -> Iterator[tuple[int, Sequence[Any], Sequence[Any]]]:
        """How many records a page of the first store has, and those of both pages that have to be compared."""
        form = common_form(self._source.engine, self._target.engine, shape)
        if form is not None:
            yield from self._rows_side_by_side(shape, form)
            return
        here, there = (read_ahead(self._pages(store, shape)) for store in (self._source, self._target))
        for one, other in zip_longest(here, there, fillvalue=()):
            yield len(one), one, other

    def _rows_side_by_side(self, shape: EntityShape, form: str) -> Iterator[tuple[int, Sequence[Any], Sequence[Any]]]:
        """The same where equal rows are equal records: only those are looked into that the other page does not have."""
        beside = waits(self._source, self._target)
        here, there = (
            read_ahead(_row_pages(store, shape, form), beside=beside) for store in (self._source, self._target)
        )
        for one, other in zip_longest(here, there, fillvalue=_NO_ROWS):
            if one.told == other.told:
                yield len(one.rows), (), ()
                continue
            both = set(one.told).intersection(other.told)
            yield (
                len(one.rows),
                self._read(self._source, shape, one, both),
                self._read(self._target, shape, other, both),
            )

    def _read(self, store: Store, shape: EntityShape, page: RowPage, both: set[Row]) -> list[Any]:
        """The records of those rows that only one page has."""
        engine, records = cast(RowPassing, store.engine), []
        for row, told in zip(page.rows, page.told, strict=True):
            if told not in both:
                with suppress(DamagedRecord):  # which the other store then has alone, and that is told
                    records.append(engine.read_row(shape, row))
        return self._selection.taken(shape, records, store.clock.now())

    def _pages(self, store: Store, shape: EntityShape) -> Iterator[list[Any]]:
        for page in scanned(store.engine, shape, limit=_PAGE):
            now = store.clock.now()
            yield self._selection.taken(shape, [found.record for found in page.found], now)


_NO_ROWS = RowPage([], None, [])


def _row_pages(store: Store, shape: EntityShape, form: str) -> Iterator[RowPage]:
    after, engine = None, cast(RowPassing, store.engine)
    while True:
        page = engine.scan_rows(shape, form=form, after=after, limit=_PAGE)
        yield page
        after = page.place
        if after is None:
            return


class _Met:
    """The records of an entity that two walks have come to: those that were met in both are compared, others wait."""

    def __init__(self, shape: EntityShape) -> None:
        self._key = itemgetter(*shape.key.fields)
        self._waiting: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})
        self.differing: Refs = {}

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting))

    def take(self, one: Sequence[Any], other: Sequence[Any]) -> None:
        if len(one) == len(other) and list(map(vars, one)) == list(map(vars, other)):
            return  # as most pages are
        here, there = self._waiting
        for records, own, others in ((one, here, there), (other, there, here)):
            for record in records:
                key = self._key(vars(record))
                met = others.pop(key, None)
                if met is None:
                    own[key] = record
                elif not _equal(record, met):
                    self.differing[name_of(record.ref)] = record.ref

    def forgotten(self) -> Refs:
        """Those that wait, which wait no longer."""
        refs = {name_of(record.ref): record.ref for own in self._waiting for record in own.values()}
        for own in self._waiting:
            own.clear()
        return refs


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return type(one) is type(other) and bool(vars(one) == vars(other))


def waits(source: Store, target: Store) -> bool:
    """Is there another process to wait for, so that something else can be done meanwhile?"""
    return not (source.engine.features.embedded and target.engine.features.embedded)


def name_of(ref: Ref[Any]) -> str:
    """What a record is called among those of all domains."""
    return f"{ref.shape.domain}.{ref!r}" if ref.shape.domain else repr(ref)
