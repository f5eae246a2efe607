"""A live copy: all that a store has goes to another while it is in use, and then the other takes its place.

1. All changes of the store that is left are logged from now on, also those of entities without a feed.
2. In bulk: every record is read once and written to the other store; then the files.
3. Catching up: the changes since the beginning are carried over in their order, until few are left.
4. Comparing: every record of both stores, while others go on writing. What differs is noted.
5. The stop: the store that is left refuses all writes from now on. It does so itself, in the database, so that no
   writer has to know: each gets StoreMoved, and workers wait as they do while a store is away. The last changes are
   carried over, and what was noted or written since the comparison began is compared again.
6. If all is the same, the other store is complete, and the one that is left stays closed. If not, it is opened again,
   and what differs is told.

How far it is stands in the store that is filled. One that was killed goes on there, at any step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from penstock.errors import Conflict, FeedTrimmed, LayoutMismatch, Misconfigured
from penstock.events.feed_records import FeedPlace
from penstock.events.trimmed_log import earliest
from penstock.kernel.layouts.layout_ensuring import LayoutEnsuring
from penstock.kernel.store import Store
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.reads import Ref
from penstock.operations.scan_page import ScannedRecord, ScanPage
from penstock.operations.writes import Delete, Put, Write
from penstock.ports.object_store import Objects
from penstock.ports.row_passing import RowPassing
from penstock.ports.scanning import scanned
from penstock.schema.documents import as_stored
from penstock.schema.shape import EntityShape
from penstock.transfer.comparison import Comparison, Refs, name_of, waits
from penstock.transfer.imported_export import check_empty
from penstock.transfer.object_transfer import ObjectTransfer
from penstock.transfer.read_ahead import Behind, read_ahead
from penstock.transfer.transfer_selection import Selection, check_known, watched
from penstock.transfer.transfer_state import TransferState

COPY = "copy"
_PAGE, _SLICE = 1000, 500
_ROUNDS = 1000
_WRITERS = 2
"Pages that are written at once."
_NAMED = 5


@dataclass
class Copied:
    """What a copy did."""

    records: dict[str, int] = field(default_factory=dict)
    "Of each entity, in bulk."
    changes: int = 0
    "Carried over behind them."
    files: int = 0
    compared: int = 0
    stopped_seconds: float = 0.0
    "How long writers were refused before the other store was complete."


class LiveCopy:
    """Copies a store to another. ``origin`` and ``goal`` are their addresses, without secrets.

    ``feeds`` tells which entities each feed of the system follows, so that it goes on at its place in the other's log.
    """

    def __init__(
        self,
        source: Store,
        target: Store,
        selection: Selection,
        *,
        origin: str,
        goal: str,
        files: tuple[Objects, Objects] | None = None,
        feeds: Mapping[str, Sequence[EntityShape]] | None = None,
        writers_stopped: bool = False,
        told: Callable[[str, int], object] = lambda what, number: None,
    ) -> None:
        self._source, self._target, self._selection = source, target, selection
        self._origin, self._goal, self._told = origin, goal, told
        self._files = None if files is None else ObjectTransfer(*files)
        self._writers_stopped = writers_stopped
        self._feeds = {name: list(shapes) for name, shapes in (feeds or {}).items()}
        self._declared = {shape.label: shape for shape in selection.shapes}
        self._watched = watched(selection.shapes)
        self._comparison = Comparison(source, target, selection)
        self._touched: Refs = {}
        "What was written since the comparison began."
        self._reached: list[tuple[str, str | None]] = []
        "Positions of the two logs that mean the same: the other store had all changes up to there, and no more."
        self.done = Copied()

    def run(self) -> Copied:
        """Copy all, and let the other store take the place; a copy that was ended goes on."""
        state = self._begun()
        if state.ended_at is None:
            for shape in self._watched:
                self._bulk(shape, state)
            self._carry_files("files")
            self._catch_up(state)
            self._touched = self._comparison.of_all(self._tell_compared)
            self._catch_up(state)
            self._switch(state)
        self.done.records = dict(state.records)
        return self.done

    def abandon(self) -> None:
        """Open the store that is left again, as it was before a copy was begun; what was copied stays where it is."""
        self._source.engine.hold_writes(self._selection.shapes, told=None)
        self._source.delete(FeedPlace.at(name=COPY))
        self._target.delete(TransferState.at(name=COPY))  # it cannot be gone on with: changes are no longer logged

    # The beginning

    def _begun(self) -> TransferState:
        state = self._target.lookup(TransferState.at(name=COPY))
        if state is not None and state.origin != self._origin:
            raise Conflict(f"{self._goal} is being filled from {state.origin}, not from {self._origin}")
        if state is not None:
            if state.ended_at is None:
                self._open_again()  # it may have been killed in the stop
            return state
        self._check_layouts()
        check_empty(self._target, self._selection.entities)
        self._source.engine.ensure(self._watched)
        position = self._source.engine.feed_end(self._watched)
        self._source.put(FeedPlace(name=COPY, position=position))  # so that the log is kept from there on
        state = TransferState(name=COPY, origin=self._origin, begun_at=self._target.clock.now(), position=position)
        self._target.put(state)
        return state

    def _check_layouts(self) -> None:
        """A copy is made by declarations: all that records have must be in them, and stay where it is."""
        check_known(self._source, self._selection.shapes)
        moving = LayoutEnsuring(self._source.engine, self._source.clock).unsettled(self._selection.shapes)
        if moving:
            raise LayoutMismatch(
                f"records of {', '.join(moving)} are to lie otherwise; run `penstock migrate` to its end, then copy"
            )

    def _open_again(self) -> None:
        self._source.engine.hold_writes(self._watched, told=None)

    # Records

    def _bulk(self, shape: EntityShape, state: TransferState) -> None:
        """Read every record of an entity once, and write it; what is written meanwhile is in the log."""
        place = state.places.get(shape.label)
        if shape.label in state.places and place is None:
            return
        beside = waits(self._source, self._target)
        behind = Behind(_WRITERS if beside else 0)
        try:
            for page in read_ahead(self._scanned(shape, place), beside=beside):
                now = self._source.clock.now()
                chosen = [found for found in page.found if self._selection.takes(found.record, now)]
                behind.do(
                    partial(self._load, shape.label, chosen), partial(self._note, state, shape, page, len(chosen))
                )
            behind.wait()
        finally:
            behind.close()

    def _scanned(self, shape: EntityShape, place: str | None) -> Iterator[ScanPage]:
        for page in scanned(self._source.engine, shape, after=place, limit=_PAGE):
            if page.unreadable:
                raise Conflict(f"{page.unreadable[0].name} cannot be read, so it cannot be copied; mend or remove it")
            yield page

    def _load(self, label: str, chosen: list[ScannedRecord]) -> None:
        """Write records that were read: as they lie, if the other store takes them so."""
        shape, source, target = self._declared[label], self._source.engine, self._target.engine
        forms = source.row_forms(shape) if isinstance(source, RowPassing) else ()
        if forms and isinstance(target, RowPassing):
            rows = [found.row for found in chosen if found.row is not None]
            if len(rows) == len(chosen) and target.load_rows(shape, rows, form=forms[0]):
                return
        target.load([self._put(label, found.record) for found in chosen], now=self._target.clock.now())

    def _note(self, state: TransferState, shape: EntityShape, page: ScanPage, number: int) -> None:
        """All records up to there are in the other store."""
        state.places = {**state.places, shape.label: page.place}
        state.records = {**state.records, shape.label: state.records.get(shape.label, 0) + number}
        self._target.put(state)
        self._told(shape.label, number)

    def _put(self, label: str, record: Any) -> Put:
        """The write of a record that was read: its values are sound, and only its documents have to be plain again."""
        shape, values = self._declared[label], vars(record)
        given = {f.name: as_stored(f, values[f.name]) for f in shape.documents if values[f.name] is not None}
        return Put(shape, {**values, **given})

    def _catch_up(self, state: TransferState) -> None:
        """Carry over what was written since; at the end of it, all that had committed at a moment of it is there."""
        for _ in range(_ROUNDS):
            if self._carry_slice(state) < _SLICE:
                if state.position is not None:
                    self._reached.append((state.position, self._target_end()))
                return
        raise Conflict("writers are quicker than the copy: changes came faster than they were carried over; try later")

    def _carry_slice(self, state: TransferState) -> int:
        """Carry some changes over in their order; how many."""
        try:
            entries = self._source.engine.changes(self._watched, after=state.position, limit=_SLICE)
        except FeedTrimmed as error:
            raise Conflict("the copy was left alone for so long that changes are forgotten; begin a new one") from error
        self._apply(entries)
        state.position = entries.position
        self._target.put(state)
        self.done.changes += len(entries)
        self._told("changes", len(entries))
        return len(entries)

    def _apply(self, entries: list[FeedEntry]) -> None:
        """Write what each change left behind; of a record that changed twice, one after the other."""
        batch: dict[str, Write] = {}
        for entry in entries:
            shape = self._declared[entry.shape.label]
            ref: Ref[Any] = Ref(shape, entry.key)
            name = name_of(ref)
            if entry.unreadable and entry.kind != "remove":
                raise Conflict(f"{name} cannot be read, so it cannot be copied; mend or remove it")
            self._touched[name] = ref
            if name in batch:
                self._flush(batch)
            batch[name] = Delete(shape, entry.key) if entry.new is None else self._put(shape.label, entry.new)
        self._flush(batch)

    def _flush(self, batch: dict[str, Write]) -> None:
        if batch:
            self._target.engine.load(list(batch.values()), now=self._target.clock.now())
            batch.clear()

    def _tell_compared(self, label: str, number: int) -> None:
        self.done.compared += number
        self._told("compared", number)

    # The stop

    def _switch(self, state: TransferState) -> None:
        """Have nobody write any more, carry over the rest, compare it; opened again unless all is the same."""
        self._stop_writers()
        begun = self._source.clock.monotonic()
        try:
            self._catch_up(state)
            self._carry_files("last files")
            if self._files is not None:
                self._files.remove_others()
            self._check_same()
            self._settle_feeds()
            state.ended_at = self._target.clock.now()
            self._target.put(state)
        except BaseException:
            self._open_again()
            raise
        self.done.stopped_seconds = self._source.clock.monotonic() - begun

    def _stop_writers(self) -> None:
        if self._writers_stopped:
            return
        told = f"this store is read-only, as it is moved to {self._goal}; set PENSTOCK_STORE to that, and start again"
        try:
            self._source.engine.hold_writes(self._watched, told=told)
        except Misconfigured as error:
            raise Misconfigured(f"{error} with --writers-stopped") from error

    def _check_same(self) -> None:
        differing = list(self._comparison.of(self._touched))
        if differing:
            more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
            raise Conflict(f"the stores differ in {', '.join(differing[:_NAMED])}{more}; writers go on where they were")

    def _carry_files(self, what: str) -> None:
        if self._files is not None:
            self.done.files += self._files.run(lambda size: self._told(what, 1))

    # Feeds

    def _settle_feeds(self) -> None:
        """Have every feed go on in the other store's log, where what it has not come to is told again."""
        for place in list(self._source.find(FeedPlace.by_name())):
            if place.name != COPY:
                self._target.put(FeedPlace(name=place.name, position=self._goes_on_at(place)))

    def _goes_on_at(self, place: FeedPlace) -> str | None:
        """Before the first change it has not come to, and behind all others as far as that is known."""
        if place.position is None:
            return None
        waiting = self._source.engine.changes(self._followed(place.name), after=place.position, limit=1)
        if not waiting:
            return self._target_end()
        for here, there in reversed(self._reached):
            if here != waiting[0].position and earliest([here, waiting[0].position]) == here:
                return there
        raise Conflict(
            f"the feed {place.name} is behind what was copied in bulk; have it followed (penstock up), then copy again"
        )

    def _followed(self, feed: str) -> list[EntityShape]:
        """What a feed follows; any entity may be, where nobody has told."""
        return self._feeds.get(feed) or [shape for shape in self._declared.values() if shape.table.feed]

    def _target_end(self) -> str | None:
        return self._target.engine.feed_end([shape for shape in self._declared.values() if shape.table.feed])
