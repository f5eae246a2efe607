"""Broken twins: engines that leave out one thing the kernel asks for, to show that its absence is noticed.

They stand between kernel and engine, so that they break a promise whichever way the kernel is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from msgspec.structs import replace

from penstock.kernel.outbox import Message
from penstock.operations.conditions import All, Any_, Condition, fields_of
from penstock.operations.reads import Page, Query, Ref
from penstock.operations.updates import Add
from penstock.operations.writes import Check, Patch, Put, Write
from penstock.schema.shape import EntityShape
from tests.kernel.model import order_of

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Twin:
    """An engine that does as it is told; a subclass does not."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def without(condition: Condition | None, fields: Iterable[str]) -> Condition | None:
    """A condition that says nothing about some fields."""
    unwanted = set(fields)
    match condition:
        case All(parts):
            left = [p for p in (without(part, unwanted) for part in parts) if p is not None]
            return All(tuple(left)) if left else None
        case Any_(parts) if fields_of(condition) & unwanted:
            return None
        case None:
            return None
    return None if fields_of(condition) & unwanted else condition


class Unconditional(Twin):
    """Forgets what a write says about some fields."""

    def forgotten(self, shape: EntityShape) -> Iterable[str]:
        raise NotImplementedError

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        left: list[Write] = []
        for write in writes:
            when = without(write.when, self.forgotten(write.shape))
            if when is not None or not isinstance(write, Check):
                left.append(replace(write, when=when))  # a check that says nothing is left out
        self._engine.commit(left, now=now, token=token)

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        return self._engine.patch(
            replace(patch, when=without(patch.when, self.forgotten(patch.shape))), now=now, token=token
        )


class NoFence(Unconditional):
    """Who holds the lease is not looked at when something is written under it."""

    def forgotten(self, shape: EntityShape) -> Iterable[str]:
        return ("lease_owner", "lease_epoch")

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        return self._engine.patch(patch, now=now, token=token)  # leases themselves are taken as ever


class NoOldState(Unconditional):
    """A move does not ask whether the state is still the one that was read."""

    def forgotten(self, shape: EntityShape) -> Iterable[str]:
        return [name for name, field in shape.fields.items() if field.state]


class PutsBlindly(Twin):
    """A line of the audit trail is put whether or not one stands there."""

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        blind = [replace(w, when=None, witness=False) if isinstance(w, Put) and w.witness else w for w in writes]
        self._engine.commit(blind, now=now, token=token)


class PagesBehindTheLast(Twin):
    """A page goes on behind the last one's place in the order, and so leaves out what has the same place."""

    def find(
        self, query: Query[Any], *, limit: int | None, after: Mapping[str, Any] | None, now: datetime
    ) -> Page[Any]:
        page: Page[Any] = self._engine.find(query, limit=None, after=None, now=now)
        if after is None:
            left = page.records
        else:
            last = order_of(query, after)
            left = [
                r
                for r in page.records
                if (order_of(query, r.__dict__) < last if query.backwards else order_of(query, r.__dict__) > last)
            ]
        most = len(left) if limit is None else limit
        return Page(left[:most], more=len(left) > most)


class ReadsTheOutboxOn(Twin):
    """Asks for messages behind the last one that was seen: one dated before, which becomes visible later, is passed by.

    How far each project's messages were read is remembered for all, as in a table of checkpoints.
    """

    checkpoints: ClassVar[dict[str | None, datetime]] = {}

    def find(
        self, query: Query[Any], *, limit: int | None, after: Mapping[str, Any] | None, now: datetime
    ) -> Page[Any]:
        page: Page[Any] = self._engine.find(query, limit=limit, after=after, now=now)
        if "event_id" not in query.pattern.entity.fields:
            return page
        new = [m for m in page.records if m.ts > self.checkpoints.get(m.project_id, LONG_AGO)]
        self.checkpoints.update({m.project_id: m.ts for m in new})
        return Page(new, page.more and bool(new))


class TellsLater(Twin):
    """Messages are written after the data, in a commit of their own."""

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        data = [w for w in writes if not _is_message(w)]
        messages = [w for w in writes if _is_message(w)]
        for part in (data, messages):
            if part:
                self._engine.commit(part, now=now, token=token + str(len(part)))


def _is_message(write: Write) -> bool:
    return set(Message.model_fields) <= set(write.shape.fields)


class CountsTwice(Twin):
    """What is added is added again, as by somebody who sends a commit anew without a token."""

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        self._engine.commit(writes, now=now, token=token)
        again = [w for w in writes if isinstance(w, Patch) and any(isinstance(u, Add) for u in w.updates)]
        if again:
            self._engine.commit(again, now=now, token=token + "again")


class NeverExpires(Twin):
    """Expired records are seen until the reaper has been there."""

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> Any:
        return self._engine.get(refs, now=LONG_AGO)

    def find(
        self, query: Query[Any], *, limit: int | None, after: Mapping[str, Any] | None, now: datetime
    ) -> Page[Any]:
        page: Page[Any] = self._engine.find(query, limit=limit, after=after, now=LONG_AGO)
        return page


class LagsBehind(Twin):
    """What an index answers of records that have states is what it should have answered the last time."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self._answers: dict[str, Page[Any]] = {}

    def find(
        self, query: Query[Any], *, limit: int | None, after: Mapping[str, Any] | None, now: datetime
    ) -> Page[Any]:
        page: Page[Any] = self._engine.find(query, limit=limit, after=after, now=now)
        if query.pattern.index is None or not any(f.state for f in query.pattern.entity.fields.values()):
            return page
        asked = repr((query, limit, after))
        # Copies, because whoever reads a record may change it.
        kept = Page([r.model_copy() for r in page.records], page.more)
        before, self._answers[asked] = self._answers.get(asked, page), kept
        return before
