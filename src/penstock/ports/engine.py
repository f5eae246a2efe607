"""What is asked of an engine: to hold records, find them, commit changes of them, and tell of what was committed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from penstock.operations.feed_entry import FeedSlice, LogSize
from penstock.operations.item_collection import ItemCollection
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Page, Query, Ref
from penstock.operations.scan_page import ScanPage
from penstock.operations.writes import Patch, Write
from penstock.schema.shape import EntityShape, ViewShape


@dataclass(frozen=True)
class Features:
    """What differs between engines, as questions. Only the kernel reads them, and whoever follows a feed or copies."""

    native_expiry: bool = False
    "Does the database delete expired records by itself?"
    strong_index_reads: bool = True
    "Does a query through an index see a write that has just committed?"
    native_trimming: bool = False
    "Does the database forget old changes by itself?"
    costly_feed: bool = False
    "Does it take calls that are counted to ask for changes, also where there are none?"
    embedded: bool = False
    "Is the database within this process, so that nothing is gained by doing something else meanwhile?"
    key_texts: bool = False
    "Are keys kept as texts that templates make, so that a record must be written to be in a new index?"


@dataclass(frozen=True, slots=True)
class TableSize:
    """How much one table of a store holds."""

    name: str
    "As the store calls it."
    entities: tuple[str, ...]
    "The labels of what it holds; none of a table that is the engine's own."
    records: int
    exact: bool = True
    "Or are there about so many, or at least so many?"
    oldest: int | None = None
    "The epoch second of its oldest record, where that is told without much reading."
    first_end: int | None = None
    "The epoch second at which the first of its records ends, or has ended and waits to be removed."
    kept: str = ""
    "Of the engine's own tables: how long something stays there."


class Engine(Protocol):
    """Carries out reads and writes on one store. Every promise is a test of `penstock.testing.EngineSuite`."""

    features: Features

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        """Create what is missing (tables, columns, indexes, expiry), never dropping anything; tell what was done."""
        ...

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        """The live records at these keys, in their order, None where none stands; any number of them, of any kinds.

        All are read before DamagedRecord tells, beside the others, which of them cannot be.
        """
        ...

    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int | None,
        after: Any,
        now: datetime,
        examine: int | None = None,
    ) -> Page[Any]:
        """At most ``limit`` live records of a pattern, in order, behind the place ``after`` at which a page ended.

        Without a limit: as many as one request brings. A record that cannot be read counts, and is told beside the
        others. Of a filtered query at most ``examine`` records are looked at, and the page may come back short.
        """
        ...

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        """Records of an entity in no order that means anything, expired ones too; at most ``limit`` are looked at.

        All segments together have each record that stands all the while, once. ``after`` is where a page of the same
        segment ended; it may be kept, and gone on with by another process. Records are told with the indexes in which
        they are not as their fields say, where indexes have to be filled.
        """
        ...

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        """All of the writes or none; Conflict tells which condition failed and what stood there.

        A commit sent again with the same token after its answer was lost is applied once.
        """
        ...

    def load(self, writes: Iterable[Write], *, now: datetime) -> None:
        """Any number of unconditional puts and deletes, in parts and in no order; repeated until none remains."""
        ...

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        """Commit one patch and return the whole record as it stands after it."""
        ...

    def expire(self, shapes: Sequence[EntityShape], *, now: datetime, limit: int = 1000) -> int:
        """Remove records whose end has come, at most ``limit``; tell how many. Nothing where the store does it."""
        ...

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> FeedSlice:
        """Committed changes in order, behind a position; ``after=None`` starts with the oldest kept.

        Fewer than ``limit`` are all there are, up to the position that is told with them. FeedTrimmed where changes
        behind the position are forgotten: whoever goes on all the same begins with the oldest kept.
        """
        ...

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        """Where the feed stands: behind all that has committed, and before whatever will.

        ``after`` is a position that is known to lie before it, which may save reading.
        """
        ...

    def trim(self, shapes: Sequence[EntityShape], *, before: str, limit: int = 10_000) -> int:
        """Forget changes up to a position, which no reader needs any more, the oldest first; how many.

        Fewer than ``limit`` are all there were. Nothing where the store forgets them by itself.
        """
        ...

    def hold_writes(self, shapes: Sequence[EntityShape], *, told: str | None) -> None:
        """Refuse every write of these entities from now on, by StoreMoved with what is ``told``, whoever makes it.

        Writes that were begun have ended when this returns. None: they are taken again, and the changes of entities
        without a feed are no longer logged. Misconfigured where the database cannot refuse.
        """
        ...

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        """How many changes of these entities are kept, and since when; none where the store keeps them elsewhere."""
        ...

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        """How much the tables of these entities hold, and the engine's own, without reading them whole."""
        ...

    def bound(self, project: str) -> Engine:
        """The same store, seeing one project as far as the database itself can enforce it; Misconfigured if it should.

        It closes with this one. `penstock.kernel.scope` adds what no database does.
        """
        ...

    def listen(self) -> Waiter:
        """Something to wait on for commits that others wait for, from now on; each waiting thread takes its own."""
        ...

    def close(self) -> None:
        """Give back every connection; the engine may be used again."""
        ...


class Waiter(Protocol):
    """Wakes whoever waits for something to be written: a message, work. It may also wake for nothing."""

    def wait(self, seconds: float) -> bool:
        """Wait until something may have been written since the last time; False when the time is over."""
        ...

    def heard(self, shape: EntityShape) -> list[dict[str, Any]] | None:
        """The new records of an entity that the last wait has heard of, by the fields it tells (`EntityShape.told`).

        None where there may be others, so that one has to look. Not all may see them yet, nor need they still stand so.
        """
        ...

    def busy(self) -> None:
        """Tell that there was something, so that it is worth to look again soon."""
        ...

    def close(self) -> None:
        """End the waiting, also of another thread."""
        ...
