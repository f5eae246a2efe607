"""What the kernel asks of the world: an engine for records, a store for objects, a clock for time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from penstock.ops import Page, Patch, Query, Ref, Step, Told, Write
from penstock.shape import EntityShape, ViewShape
from penstock.stored import Body, Download, Found, Listed, Part, SignedUrl, Stored


@dataclass(frozen=True)
class Features:
    """What differs between engines, as questions. Only the kernel reads them."""

    native_expiry: bool = False
    "Does the database delete expired records by itself?"
    strong_index_reads: bool = True
    "Does a query through an index see a write that has just committed?"


class Engine(Protocol):
    """Carries out reads and writes on one store. Every promise is a test of `penstock.testing.EngineSuite`."""

    features: Features

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[Step]:
        """Create what is missing (tables, columns, indexes, expiry), never dropping anything; tell what was done."""
        ...

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        """The live records at these keys, in their order, None where none stands; any number of them."""
        ...

    def find(
        self, query: Query[Any], *, limit: int | None, after: Mapping[str, Any] | None, now: datetime
    ) -> Page[Any]:
        """At most ``limit`` live records of a pattern, in order, behind the one with the values ``after``.

        Without a limit: as many as one request brings.
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

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> Told:
        """Committed changes in order, behind a position; ``after=None`` starts with the oldest kept.

        Fewer than ``limit`` are all there are, up to the position that is told with them.
        """
        ...

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        """Where the feed stands: behind all that has committed, and before whatever will.

        ``after`` is a position that is known to lie before it, which may save reading.
        """
        ...

    def bound(self, project: str) -> Engine:
        """The same store, seeing one project as far as the database itself can enforce it; Misconfigured if it should.

        It closes with this one. `penstock.scope` adds what no database does.
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

    def busy(self) -> None:
        """Tell that there was something, so that it is worth to look again soon."""
        ...

    def close(self) -> None:
        """End the waiting, also of another thread."""
        ...


class Clock(Protocol):
    """The only source of time."""

    skew: timedelta
    "How far the clocks of others who share the store may be from this one."

    def now(self) -> datetime:
        """The present moment, aware, in UTC. Somebody may set the clock, forward or back."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment or other, which go on evenly whatever becomes of the clock: for durations."""
        ...


class Undeliverable(Exception):
    """A sink will never take this message; trying again is no use."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message as others get it; the id is what they recognise a repetition by."""

    id: str
    type: str
    aggregate: str
    project: str | None
    payload: Mapping[str, Any]
    at: datetime


class Sink(Protocol):
    """Where messages go."""

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        """Take messages about different things; one outcome for each, None for success."""
        ...


class Objects(Protocol):
    """Files by key. Every promise is a test of `penstock.testing.ObjectSuite`.

    A key is checked before anything is done with it. What is written appears whole or not at all, and its content type
    is found in its bytes.
    """

    def put(self, key: str, body: Body, *, absent: bool = False) -> Stored:
        """Write an object in pieces, replacing what stands there; ``absent``: Conflict where one stands."""
        ...

    def get(self, key: str, *, start: int = 0, stop: int | None = None) -> Download:
        """The bytes from ``start`` up to ``stop``, or to the end, in pieces; NotFound, or WrongRange beyond the end."""
        ...

    def head(self, key: str) -> Stored:
        """What is known of an object without its bytes, or NotFound."""
        ...

    def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> Listed:
        """At most ``limit`` objects whose keys begin so, and the cursor of the next ones; in no promised order."""
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Remove any number of objects; removing what is not there succeeds."""
        ...

    def delete_unchanged(self, found: Found) -> bool:
        """Remove an object if its bytes are still those that were found; False when others are there now."""
        ...

    def copy(self, source: str, target: str, *, etag: str | None = None, absent: bool = False) -> Stored:
        """Copy an object within the store, its content type found anew.

        Conflict when the source is no longer the one with this ``etag``, or when the target must be ``absent`` and
        is not.
        """
        ...

    # Uploads in parts, for clients that send them to signed URLs

    def begin_parts(self, key: str, *, content_type: str) -> str:
        """Begin an upload in parts; its id."""
        ...

    def parts(self, key: str, upload: str) -> Sequence[Part]:
        """The parts that have arrived, by number; NotFound when there is no such upload (any more)."""
        ...

    def finish_parts(self, key: str, upload: str, parts: Sequence[Part]) -> Stored:
        """Make one object of the parts, replacing what stands there; NotFound when there is no such upload."""
        ...

    def drop_parts(self, key: str, upload: str) -> None:
        """Forget an upload and its parts; one that is not there is forgotten already."""
        ...

    def drop_unfinished(self, *, before: datetime) -> int:
        """Forget everything that was begun before a moment and never finished; how many."""
        ...

    def close(self) -> None:
        """Give back every connection; the store may be used again."""
        ...


class Presigner(Protocol):
    """Signs URLs on demand. They are never stored: whoever has one may do what it says until it expires.

    A URL is for one object, one method and, on the way in, one size and one content type.
    """

    def download_url(
        self, key: str, *, expires: timedelta = ..., filename: str | None = None, show_as: str | None = None
    ) -> SignedUrl:
        """Where the object can be got.

        A browser saves it, under ``filename``; it shows it in place only with ``show_as``, one of the content types
        that run no script.
        """
        ...

    def upload_url(self, key: str, *, size: int, content_type: str, expires: timedelta = ...) -> SignedUrl:
        """Where exactly so many bytes of this type may be put."""
        ...

    def part_url(self, key: str, upload: str, number: int, *, size: int, expires: timedelta = ...) -> SignedUrl:
        """Where one part of an upload may be put."""
        ...


class ObjectStore(Objects, Presigner, Protocol):
    """Files by key, and URLs that lead to them."""


class Archive(Protocol):
    """Cold storage: whole files by name, each written once."""

    def put(self, name: str, content: bytes) -> bool:
        """Keep a file durably, unless there is one of this name: that one stays as it is, and the answer is False."""
        ...

    def get(self, name: str) -> bytes:
        """The file as it is kept, or NotFound."""
        ...

    def exists(self, name: str) -> bool: ...

    def list(self, prefix: str = "") -> Iterator[str]:
        """The names that begin so, in order."""
        ...
