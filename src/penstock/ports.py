"""What the kernel asks of the world: an engine for records, a clock for time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from penstock.ops import FeedEntry, Page, Patch, Query, Ref, Step, Write
from penstock.shape import EntityShape, ViewShape


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

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> list[FeedEntry]:
        """Committed changes in order, behind a position; ``after=None`` starts with the oldest kept."""
        ...

    def bound(self, project: str) -> Engine:
        """The same store, seeing one project as far as the database itself can enforce it; Misconfigured if it should.

        It closes with this one. `penstock.scope` adds what no database does.
        """
        ...

    def close(self) -> None:
        """Give back every connection; the engine may be used again."""
        ...


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
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
