"""An engine whose use is metered.

An estimate knows what a write replaces if the metered store has lately read or written that record, else it assumes
(`penstock.cost.footprint` says what) and counts that in ``assumed``. It cannot know of records that a query passes over
(expired ones, look-alikes), nor of retries. Expiry is free, and the feed has a price of its own: neither is counted.

Usage is of the project that a record says it is of; of a query, the one it asks for, or the one of all it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from penstock.cost.attribution import (
    partition_of,
    partition_of_query,
    project_of,
    project_of_query,
    project_of_write,
)
from penstock.cost.capacity import query_pages, read_units
from penstock.cost.footprint import (
    ABSENT,
    Footprint,
    Glimpse,
    Identity,
    Image,
    Images,
    footprint,
    identity,
    image_of_loaded,
)
from penstock.cost.meter import NOBODY, Meter, Usage
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

GET_LIMIT = 100
LOAD_LIMIT = 25
ASSUMED_BYTES = 1024
"A record of which only some fields, or nothing, were seen is taken to have so many."
MEMORY = 32 * 2**20
"Bytes of records that a metered store remembers, to know what its writes replace."


class MeteredEngine:
    """An engine whose use is metered. It passes everything on, and counts what that costs."""

    def __init__(self, engine: Engine, meter: Meter, *, memory: int = MEMORY, project: str | None = None) -> None:
        """``project`` is the one it is bound to."""
        self.features = engine.features
        self._engine = engine
        self._meter = meter
        self._images = Images(memory)
        self._project = project

    # Reading

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        label = _label([ref.shape for ref in refs], "get")
        with self._meter.under(label, self._whose(project_of(refs[0].shape, refs[0].key) if refs else NOBODY)):
            records = self._engine.get(refs, now=now)
        distinct = {identity(ref.shape, ref.key): (ref, record) for ref, record in zip(refs, records, strict=True)}
        got: dict[str, Usage] = {}
        for number, (ref, record) in enumerate(distinct.values()):
            size = self._seen(ref.shape, ref.key, record)
            units = read_units(size)
            project = self._whose(project_of(ref.shape, ref.key, record.__dict__ if record is not None else {}))
            opens = int(number % GET_LIMIT == 0)
            used = Usage(requests=opens, records=int(record is not None), bytes=size, read_units=units)
            got[project] = got.get(project, Usage()) + used
            self._meter.heat(partition_of(ref.shape, ref.key), units, project=project)
        self._add(label, got)
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
        with self._meter.under(label, self._whose(project_of(first.pattern.entity, first.values))):
            page = self._engine.find(query, limit=limit, after=after, now=now, **bound)
        whole = first.fields is None
        sizes = [self._seen(r.__shape__, r.__dict__, r) if whole else ASSUMED_BYTES for r in page.records]
        # To know that more follow, one record more is read than a limited page shows; it is taken for a usual one, and
        # so are those that were examined and left out.
        looked_at = max(len(sizes) + (page.more and limit is not None), page.examined or 0)
        unseen = looked_at - len(sizes)
        usual = sum(sizes) // len(sizes) if sizes else ASSUMED_BYTES
        requests = query_pages([*sizes, *[usual] * unseen])
        used = Usage(
            requests=len(requests),
            records=len(page.records),
            bytes=sum(requests),
            read_units=sum(read_units(size, strong=first.pattern.index is None) for size in requests),
            assumed=unseen + (0 if whole else len(sizes)),
        )
        project = self._whose(project_of_query(first, page.records))
        self._meter.heat(partition_of_query(first), used.read_units, project=project)
        self._meter.add(label, used, project=project)
        return page

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        label = _label([shape], "scan")
        with self._meter.under(label, self._whose(NOBODY)):
            page = self._engine.scan(shape, segment=segment, segments=segments, after=after, limit=limit)
        size = sum(Glimpse(shape, found.record.__dict__).size for found in page.found)
        used = Usage(requests=1, records=len(page.found), bytes=size, read_units=read_units(size))
        self._meter.add(label, used, project=self._whose(NOBODY))
        return page

    def _whose(self, project: str) -> str:
        return self._project or project

    def _add(self, label: str, by_project: Mapping[str, Usage]) -> None:
        for project, used in by_project.items():
            self._meter.add(label, used, project=project)

    # Writing

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        transaction = len(writes) > 1 or not is_repeatable(writes[0])
        label = "commit" if len(writes) > 1 else _label([writes[0].shape], _verb(writes[0]))
        prints = self._carry_out(label, writes, transaction, lambda: self._engine.commit(writes, now=now, token=token))
        if isinstance(writes[0], Check) and not transaction:
            self._meter.add(label, _checked(prints[0]), project=self._whose(project_of_write(prints[0])))
        else:
            self._count(label, prints, transaction=transaction)
        self._remember(prints)

    def _count(self, label: str, prints: Sequence[Footprint], *, transaction: bool) -> None:
        """Count what was written, for the projects it was written for; the request, for the first of them."""
        written: dict[str, list[Footprint]] = {}
        for done in prints:
            project = self._whose(project_of_write(done))
            written.setdefault(project, []).append(done)
            units = done.units(transaction=transaction)
            self._meter.heat(partition_of(done.write.shape, done.write.key), units, project=project)
        used = {project: _written(some, transaction=transaction) for project, some in written.items()}
        for project in list(used)[1:]:
            used[project] += Usage(requests=-1)
        self._add(label, used)

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        transaction = not is_repeatable(patch)
        label = _label([patch.shape], "patch")
        records: list[Any] = []
        foreseen = self._carry_out(
            label, [patch], transaction, lambda: records.append(self._engine.patch(patch, now=now, token=token))
        )
        prints = [foreseen[0].leaving(image_of_loaded(patch.shape, records[0].__dict__))]
        self._count(label, prints, transaction=transaction)
        if transaction:  # which answers nothing, so that the record has to be read
            read = Usage(requests=1, read_units=read_units(prints[0].after.size))
            self._meter.add(label, read, project=self._whose(project_of_write(prints[0])))
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
            self._add("load", loaded.used)

    def _passing(self, writes: Iterable[Write], loaded: _Loaded) -> Iterator[Write]:
        for write in writes:
            done = footprint(write, self._images.last(write.shape, write.key))
            loaded.take(done, self._whose(project_of_write(done)))
            self._remember([done])
            yield write

    def _carry_out(
        self, label: str, writes: Sequence[Write], transaction: bool, act: Callable[[], None]
    ) -> list[Footprint]:
        """What the writes did, if nothing refused them."""
        prints = [footprint(w, self._images.last(w.shape, w.key)) for w in writes]
        project = self._whose(project_of_write(prints[0]))
        try:
            with self._meter.under(label, project):
                act()
        except Conflict as conflict:
            refused = writes[conflict.position]
            found = self._found(refused.shape, refused.key, conflict.found)
            prints[conflict.position] = footprint(refused, found)
            self._meter.add(label, _refused(prints, transaction=transaction), project=project)
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

    def _seen(self, shape: EntityShape, key: Mapping[str, Any], record: Any) -> int:
        """How large a record is that was read, which is remembered."""
        if record is None:
            self._found(shape, key, None)
            return 0
        seen = Glimpse(shape, record.__dict__)
        self._images.keep(shape, key, seen)
        return seen.size

    def _remember(self, prints: Sequence[Footprint]) -> None:
        for done in prints:
            self._images.keep(done.write.shape, done.write.key, done.after if done.certain else None)

    # What costs nothing here

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        return self._engine.ensure(shapes, views=views, dry_run=dry_run)

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

    def hold_writes(self, shapes: Sequence[EntityShape], *, told: str | None) -> None:
        self._engine.hold_writes(shapes, told=told)

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        return self._engine.log_size(shapes)

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        return self._engine.sizes(shapes)

    def bound(self, project: str) -> Engine:
        # With a memory of its own: what a project does not see may stand there all the same.
        return MeteredEngine(self._engine.bound(project), self._meter, project=project)

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
        self.used: dict[str, Usage] = {}
        self._batch: set[Identity] = set()

    def take(self, done: Footprint, project: str) -> None:
        place = identity(done.write.shape, done.write.key)
        full = place in self._batch or len(self._batch) == LOAD_LIMIT
        opens = full or not self._batch
        if full:
            self._batch.clear()
        self._batch.add(place)
        used = Usage(
            requests=int(opens), records=1, bytes=done.bytes, write_units=done.units(), assumed=int(done.assumed)
        )
        self.used[project] = self.used.get(project, Usage()) + used
