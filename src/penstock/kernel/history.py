"""The history of one record: what was done to it, by whom and why, and what else is kept about it, in one order.

A change with ``by=`` leaves an audit line; a record's history is made of the lines that tell of it. Other rooms bring
what they keep about records, as work brings tasks: each source tells its entries in the order of time, and they are
merged page by page. Nothing is read but what is shown, and a line counts by what it says, not by how it was found.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import msgspec

from penstock.declare.entity import Entity
from penstock.errors import InvalidCursor, InvalidValue, OutOfScope
from penstock.kernel.audit import SystemAudit
from penstock.kernel.handle import StoreHandle
from penstock.kernel.record_name import name_of
from penstock.operations.reads import Query, Range, Ref
from penstock.schema.kinds import coerce, instant_text

E = TypeVar("E", bound=Entity)
_SIGNATURE = 12
"Bytes: a cursor guards against mistakes and tampering, not against years of guessing."


class HistoryKind(StrEnum):
    """What an entry of a history is."""

    CHANGE = "change"
    MESSAGE = "message"
    TASK = "task"
    ATTEMPT = "attempt"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One thing that became of a record, or that was to be done about it."""

    ts: datetime
    kind: HistoryKind
    action: str
    "What a change is called in the trail; the type of a message, the name of a task, the outcome of an attempt."
    id: str | None = None
    "Of a message and of a task, what to ask for it by."
    source: Ref[Any] | None = field(default=None, compare=False)
    "The audit line, message, task, attempt or step that tells it."
    record: Entity | None = field(default=None, compare=False)
    "That record itself, where more may be shown of it than stands here."
    by: str | None = None
    does: str | None = None
    "What a change did to the record: create, claim, put, save, patch, delete; or only tell others of it."
    moved: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    "The states that a change moved, from and to."
    fields: tuple[str, ...] = ()
    "The fields that a patch changed."
    why: str | None = None
    "The reason that was given, or the error."
    state: str | None = None
    "Of a task, or of a message, how it stands."
    parts: tuple[HistoryEntry, ...] = ()
    "The messages of a change; the attempts at a task."

    @property
    def place(self) -> tuple[datetime, str]:
        """Where it stands among the others. Those of one moment have an order, which means nothing but is always so."""
        label = "" if self.source is None else f"{self.source.shape.label} {self.source.texts()}"
        return self.ts, hashlib.sha256(label.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Some entries in order, and the cursor of those behind them (None when there are none)."""

    entries: list[HistoryEntry]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    """Whose history is asked for, and which part of it."""

    ref: Ref[Any]
    name: str
    "The record's `record_name`."
    ts: Range[datetime]
    backwards: bool
    size: int
    "As many as are worth reading at once."

    def read(self, store: StoreHandle, query: Query[E]) -> Iterator[list[E]]:
        """The records of a source in the order that is asked for, a page at a time."""
        if self.backwards:
            query = query.reversed()
        place: Mapping[str, Any] | None = None
        while True:
            page = store.engine.find(query, limit=self.size, after=place, now=store.clock.now())
            yield page.records
            if not page.more:
                return
            place = dict(page.records[-1].__dict__)


class HistorySource(Protocol):
    """Something that is kept about records, and found by their names."""

    def entries(self, store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
        """What it knows, in the order that is asked for."""
        ...

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        """The entries of a page, those of its own with what takes further reading."""
        ...


def read_history(
    store: StoreHandle,
    ref: Ref[Any],
    sources: Sequence[HistorySource],
    *,
    secret: bytes,
    ts: Range[datetime],
    oldest_first: bool,
    detailed: bool,
    limit: int,
    cursor: str | None,
) -> HistoryPage:
    """One page of a record's history; `Store.history` says what it promises."""
    _check(store, ref, ts, limit)
    ts = Range(_moment(ts.low), _moment(ts.high), ts.open_low, ts.open_high)
    name, backwards = name_of(ref), not oldest_first
    question = [name, backwards, _bound(ts.low), _bound(ts.high), ts.open_low, ts.open_high, len(sources)]
    behind = _opened(cursor, question, secret) if cursor is not None else None
    if behind is not None:
        ts = _behind(ts, behind[0], backwards=backwards)
    asked = HistoryQuestion(ref, name, ts, backwards, limit + 1)
    found = merged([source.entries(store, asked) for source in sources], backwards=backwards)
    if behind is not None:
        found = (e for e in found if (e.place < behind if backwards else e.place > behind))
    entries = list(islice(found, limit + 1))
    more = len(entries) > limit
    del entries[limit:]
    after = _cursor(entries[-1], question, secret) if more else None
    if detailed:
        for source in sources:
            entries = source.completed(store, asked, entries)
    return HistoryPage(entries, after)


def _check(store: StoreHandle, ref: Ref[Any], ts: Range[datetime], limit: int) -> None:
    shape = ref.shape
    if not shape.traced:
        raise InvalidValue(f"{shape.label} has no history of its own; ask for that of the record it is about")
    if not 1 <= limit <= 1000:
        raise InvalidValue(f"a page has 1 to 1000 entries, not {limit}")
    if ts.prefix is not None:
        raise InvalidValue("a history is bounded by moments; use between, since, after, before or until")
    if store.project is not None and (shape.project is None or not shape.rights.read):
        raise OutOfScope(
            f"records of {shape.label} belong to no project, or are the operator's; use the store itself, not one "
            f"bound to {store.project}"
        )


# The order


def merged(sources: Iterable[Iterator[HistoryEntry]], *, backwards: bool) -> Iterator[HistoryEntry]:
    """The entries of all sources in one order, each once."""
    ordered = [_ordered(source, backwards=backwards) for source in sources]
    former = None
    for entry in merge(*ordered, key=attrgetter("place"), reverse=backwards):
        place = entry.place
        if place != former:  # a line may be found in two ways
            yield entry
        former = place


def _ordered(entries: Iterator[HistoryEntry], *, backwards: bool) -> Iterator[HistoryEntry]:
    """The entries of a source, those of one moment in the one order that all engines have."""
    for _, same in groupby(entries, key=attrgetter("ts")):
        yield from sorted(same, key=attrgetter("place"), reverse=backwards)


def _behind(ts: Range[datetime], at: datetime, *, backwards: bool) -> Range[datetime]:
    """What is left of a time behind a moment, with the moment itself, of which there may be more."""
    if backwards:
        return Range(ts.low, at, open_low=ts.open_low)
    return Range(at, ts.high, open_high=ts.open_high)


# Cursors


def _cursor(last: HistoryEntry, question: list[Any], secret: bytes) -> str:
    moment, tie = last.place
    payload = msgspec.json.encode([instant_text(moment, 6), tie])
    return base64.urlsafe_b64encode(_sign(question, payload, secret) + payload).rstrip(b"=").decode()


def _opened(cursor: str, question: list[Any], secret: bytes) -> tuple[datetime, str]:
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raise _invalid() from None
    signature, payload = raw[:_SIGNATURE], raw[_SIGNATURE:]
    if not hmac.compare_digest(signature, _sign(question, payload, secret)):
        raise _invalid()
    moment, tie = msgspec.json.decode(payload, type=tuple[datetime, str])
    return moment, tie


def _sign(question: list[Any], payload: bytes, secret: bytes) -> bytes:
    """Sign the place together with the question, so that a cursor answers no other one."""
    return hmac.new(secret, b"history" + msgspec.json.encode(question) + payload, hashlib.sha256).digest()[:_SIGNATURE]


def _invalid() -> InvalidCursor:
    return InvalidCursor(
        "the cursor is not one of this history; pass back the cursor of the page before, with the same parameters, or "
        "leave it out to start again"
    )


def _moment(given: datetime | None) -> datetime | None:
    """A bound as keys have it; InvalidValue for what is no moment."""
    return None if given is None else coerce(SystemAudit.__shape__.fields["ts"], given)


def _bound(moment: datetime | None) -> str | None:
    return None if moment is None else instant_text(moment, 6)
