"""The meter: what each pattern and each kind of write costs, by DynamoDB's rules, on whichever engine is beneath.

Usage is *estimated* from shapes and values, the same way on every engine; where the engine is told what DynamoDB
really took, that is kept beside it as *measured*. Only a metered store pays for it:

    meter = Meter()
    store = open_store(url, meter=meter)

An estimate knows what a write replaces if the metered store has lately read or written that record, else it assumes
(`penstock.cost.footprint` says what) and counts that in ``assumed``. It cannot know of records that a query passes over
(expired ones, look-alikes), nor of retries. Expiry is free, and the feed has a price of its own: neither is counted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from penstock.cost.capacity import read_units
from penstock.cost.footprint import ABSENT, Footprint, Identity, Image, Images, footprint, identity, image_of_loaded
from penstock.errors import Conflict
from penstock.operations.commit_recovery import is_repeatable
from penstock.operations.feed_entry import FeedSlice, LogSize
from penstock.operations.item_collection import ItemCollection
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Page, Query, Ref
from penstock.operations.scan_page import ScanPage
from penstock.operations.writes import Check, Patch, Write
from penstock.ports.engine import Engine, TableSize, Waiter
from penstock.schema.shape import EntityShape, ViewShape

PAGE_BYTES = 2**20
"What one Query reads at most."
GET_LIMIT = 100
LOAD_LIMIT = 25
ASSUMED_BYTES = 1024
"A record of which only some fields, or nothing, were seen is taken to have so many."
MEMORY = 32 * 2**20
"Bytes of records that a metered store remembers, to know what its writes replace."


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used under one label. Units are estimated unless they are called measured."""

    requests: int = 0
    records: int = 0
    bytes: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    assumed: int = 0
    "Records whose former state or size had to be assumed."
    refused: int = 0
    "Commits that a condition refused; DynamoDB takes units for them too,"
    refused_units: float = 0.0
    "which are part of the write units, but which no answer tells."
    measured_requests: int = 0
    measured_read_units: float = 0.0
    measured_write_units: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, name) + getattr(other, name) for name in _NAMES))


_NAMES = tuple(f.name for f in fields(Usage))
_UNLABELLED = "(other)"


class Meter:
    """Adds up usage by label: a pattern's name, an entity with its verb, ``commit`` or ``load``. Threads may share it.

    Iterating gives each label with its usage, in alphabetical order.
    """

    def __init__(self) -> None:
        self._usage: dict[str, Usage] = {}
        self._lock = threading.Lock()
        self._current = threading.local()

    def add(self, label: str, usage: Usage) -> None:
        """Count some usage."""
        with self._lock:
            self._usage[label] = self._usage.get(label, Usage()) + usage

    def measure(self, read_units: float, write_units: float) -> None:
        """Count what one answer of DynamoDB says it took, under the label of the call it belongs to."""
        self.add(
            self._label,
            Usage(measured_requests=1, measured_read_units=read_units, measured_write_units=write_units),
        )

    @contextmanager
    def under(self, label: str) -> Iterator[None]:
        """What this thread measures within the block belongs to this label."""
        outer = self._label  # a load may be fed by a query
        self._current.label = label
        try:
            yield
        finally:
            self._current.label = outer

    @property
    def _label(self) -> str:
        return getattr(self._current, "label", _UNLABELLED)

    def snapshot(self) -> dict[str, Usage]:
        """The usage of each label until now."""
        with self._lock:
            return dict(sorted(self._usage.items()))

    def reset(self) -> dict[str, Usage]:
        """Start again from zero; what was counted until then."""
        with self._lock:
            counted, self._usage = self._usage, {}
        return dict(sorted(counted.items()))

    def total(self) -> Usage:
        """The usage of all labels together."""
        return sum(self.snapshot().values(), Usage())

    def __iter__(self) -> Iterator[tuple[str, Usage]]:
        return iter(self.snapshot().items())

    def table(self) -> str:
        """The usage as a table for people, with a last line for all of it."""
        rows = [_HEAD, *(_row(label, usage) for label, usage in self), _row("all", self.total())]
        widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
        return "\n".join(_line(row, widths) for row in rows)


_HEAD = ("label", "requests", "records", "bytes", "reads", "writes", "assumed", "refused", "measured r", "measured w")


def _row(label: str, usage: Usage) -> tuple[str, ...]:
    measured = (f"{usage.measured_read_units:,g}", f"{usage.measured_write_units:,g}")
    return (
        label,
        f"{usage.requests:,}",
        f"{usage.records:,}",
        f"{usage.bytes:,}",
        f"{usage.read_units:,g}",
        f"{usage.write_units:,g}",
        f"{usage.assumed:,}",
        f"{usage.refused:,}",
        *(measured if usage.measured_requests else ("-", "-")),
    )


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    label, *numbers = (text.rjust(width) for text, width in zip(row, widths, strict=True))
    return "  ".join([row[0].ljust(len(label)), *numbers])


class MeteredEngine:
    """An engine whose use is metered. It passes everything on, and counts what that costs."""

    def __init__(self, engine: Engine, meter: Meter, *, memory: int = MEMORY) -> None:
        self.features = engine.features
        self._engine = engine
        self._meter = meter
        self._images = Images(memory)

    # Reading

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        label = _label([ref.shape for ref in refs], "get")
        with self._meter.under(label):
            records = self._engine.get(refs, now=now)
        distinct = {identity(ref.shape, ref.key): (ref, record) for ref, record in zip(refs, records, strict=True)}
        sizes = [self._seen(ref.shape, ref.key, record).size for ref, record in distinct.values()]
        self._meter.add(
            label,
            Usage(
                requests=-(-len(sizes) // GET_LIMIT),
                records=sum(record is not None for _, record in distinct.values()),
                bytes=sum(sizes),
                read_units=sum(read_units(size) for size in sizes),
            ),
        )
        return records

    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int | None,
        after: Any,
        now: datetime,
        examine: int | None = None,
    ) -> Page[Any]:
        first = query.members[0] if isinstance(query, ItemCollection) else query
        label = query.label if isinstance(query, ItemCollection) else query.pattern.label
        bound = {} if examine is None else {"examine": examine}
        with self._meter.under(label):
            page = self._engine.find(query, limit=limit, after=after, now=now, **bound)
        whole = first.fields is None
        sizes = [self._seen(r.__shape__, r.__dict__, r).size if whole else ASSUMED_BYTES for r in page.records]
        # To know that more follow, one record more is read than a limited page shows; it is taken for a usual one, and
        # so are those that were examined and left out.
        looked_at = max(len(sizes) + (page.more and limit is not None), page.examined or 0)
        unseen = looked_at - len(sizes)
        usual = sum(sizes) // len(sizes) if sizes else ASSUMED_BYTES
        requests = _pages([*sizes, *[usual] * unseen])
        self._meter.add(
            label,
            Usage(
                requests=len(requests),
                records=len(page.records),
                bytes=sum(requests),
                read_units=sum(read_units(size, strong=first.pattern.index is None) for size in requests),
                assumed=unseen + (0 if whole else len(sizes)),
            ),
        )
        return page

    # Writing

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        transaction = len(writes) > 1 or not is_repeatable(writes[0])
        label = "commit" if len(writes) > 1 else _label([writes[0].shape], _verb(writes[0]))
        prints = self._carry_out(label, writes, transaction, lambda: self._engine.commit(writes, now=now, token=token))
        if isinstance(writes[0], Check) and not transaction:
            self._meter.add(label, _checked(prints[0]))
        else:
            self._meter.add(label, _written(prints, transaction=transaction))
        self._remember(prints)

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        transaction = not is_repeatable(patch)
        label = _label([patch.shape], "patch")
        records: list[Any] = []
        foreseen = self._carry_out(
            label, [patch], transaction, lambda: records.append(self._engine.patch(patch, now=now, token=token))
        )
        prints = [foreseen[0].leaving(image_of_loaded(patch.shape, records[0].__dict__))]
        usage = _written(prints, transaction=transaction)
        if transaction:  # which answers nothing, so that the record has to be read
            usage += Usage(requests=1, read_units=read_units(prints[0].after.size))
        self._meter.add(label, usage)
        self._remember(prints)
        return records[0]

    def load(self, writes: Iterable[Write], *, now: datetime) -> None:
        loaded = _Loaded()
        try:
            with self._meter.under("load"):
                self._engine.load(self._passing(writes, loaded), now=now)
        except Exception:
            self._images.clear()
            raise
        finally:
            self._meter.add("load", loaded.usage)

    def _passing(self, writes: Iterable[Write], loaded: _Loaded) -> Iterator[Write]:
        for write in writes:
            done = footprint(write, self._images.last(write.shape, write.key))
            loaded.take(done)
            self._remember([done])
            yield write

    def _carry_out(
        self, label: str, writes: Sequence[Write], transaction: bool, act: Callable[[], None]
    ) -> list[Footprint]:
        """What the writes did, if nothing refused them."""
        prints = [footprint(w, self._images.last(w.shape, w.key)) for w in writes]
        try:
            with self._meter.under(label):
                act()
        except Conflict as conflict:
            refused = writes[conflict.position]
            found = self._found(refused.shape, refused.key, conflict.found)
            prints[conflict.position] = footprint(refused, found)
            self._meter.add(label, _refused(prints, transaction=transaction))
            raise
        except Exception:
            for write in writes:
                self._images.keep(write.shape, write.key, None)
            raise
        return prints

    def _found(self, shape: EntityShape, key: Mapping[str, Any], values: Mapping[str, Any] | None) -> Image | None:
        """The image of what a refusal found. Where records expire, nothing may stand for one that has."""
        if values is None:
            image = ABSENT if shape.expiry is None else None
        else:
            image = image_of_loaded(shape, values)
        self._images.keep(shape, key, image)
        return image

    def _seen(self, shape: EntityShape, key: Mapping[str, Any], record: Any) -> Image:
        return self._found(shape, key, None if record is None else record.__dict__) or ABSENT

    def _remember(self, prints: Sequence[Footprint]) -> None:
        for done in prints:
            self._images.keep(done.write.shape, done.write.key, done.after if done.certain else None)

    # What costs nothing here

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        return self._engine.ensure(shapes, views=views, dry_run=dry_run)

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        label = _label([shape], "scan")
        with self._meter.under(label):
            page = self._engine.scan(shape, segment=segment, segments=segments, after=after, limit=limit)
        size = sum(image_of_loaded(shape, found.record.__dict__).size for found in page.found)
        self._meter.add(label, Usage(requests=1, records=len(page.found), bytes=size, read_units=read_units(size)))
        return page

    def expire(self, shapes: Sequence[EntityShape], *, now: datetime, limit: int = 1000) -> int:
        removed = self._engine.expire(shapes, now=now, limit=limit)
        if removed:
            self._images.clear()
        return removed

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> FeedSlice:
        return self._engine.changes(shapes, after=after, limit=limit)

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        return self._engine.feed_end(shapes, after=after)

    def trim(self, shapes: Sequence[EntityShape], *, before: str, limit: int = 10_000) -> int:
        return self._engine.trim(shapes, before=before, limit=limit)

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        return self._engine.log_size(shapes)

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        return self._engine.sizes(shapes)

    def bound(self, project: str) -> Engine:
        # With a memory of its own: what a project does not see may stand there all the same.
        return MeteredEngine(self._engine.bound(project), self._meter)

    def listen(self) -> Waiter:
        return self._engine.listen()

    def close(self) -> None:
        self._engine.close()


def _label(shapes: Sequence[EntityShape], verb: str) -> str:
    """The entity with the verb; the verb alone where there are several entities."""
    labels = {shape.label for shape in shapes}
    return f"{labels.pop()} {verb}" if len(labels) == 1 else verb


def _verb(write: Write) -> str:
    return type(write).__name__.lower()


def _pages(sizes: Sequence[int]) -> list[int]:
    """The bytes of each request that records of these sizes take; one request when there are none."""
    pages = [0]
    for size in sizes:
        if pages[-1] >= PAGE_BYTES:
            pages.append(0)
        pages[-1] += size
    return pages


def _written(prints: Sequence[Footprint], *, transaction: bool) -> Usage:
    return Usage(
        requests=1,
        records=len(prints),
        bytes=sum(p.bytes for p in prints),
        write_units=sum(p.units(transaction=transaction) for p in prints),
        assumed=sum(p.assumed for p in prints),
    )


def _refused(prints: Sequence[Footprint], *, transaction: bool) -> Usage:
    """A refused write takes what its table would have taken; indexes are not touched."""
    if isinstance(prints[0].write, Check) and not transaction:
        return _checked(prints[0]) + Usage(refused=1)
    units = sum(p.table_units for p in prints) * (2 if transaction else 1)
    return Usage(
        requests=1,
        write_units=units,
        assumed=sum(p.assumed for p in prints),
        refused=1,
        refused_units=units,
    )


def _checked(check: Footprint) -> Usage:
    """A check alone is a consistent read."""
    return Usage(requests=1, bytes=check.bytes, read_units=read_units(check.bytes), assumed=int(check.assumed))


class _Loaded:
    """What a load has taken: its writes go in batches, each record at most once in a batch."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._batch: set[Identity] = set()

    def take(self, done: Footprint) -> None:
        place = identity(done.write.shape, done.write.key)
        full = place in self._batch or len(self._batch) == LOAD_LIMIT
        opens = full or not self._batch
        if full:
            self._batch.clear()
        self._batch.add(place)
        self.usage += Usage(
            requests=int(opens), records=1, bytes=done.bytes, write_units=done.units(), assumed=int(done.assumed)
        )
