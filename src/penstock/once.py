"""Once: work that must happen a single time, whoever asks and however often.

The first caller gets a turn; while it lasts, others are told to wait. When the work is done its result is kept, and a
later caller gets that answer. A turn that failed, or whose owner's time is over, is taken over. The same key with
another body is refused: it is a mistake of the caller's.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from penstock.conditions import All, Compare, Condition, Missing
from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.units import EpochSeconds, UtcSeconds
from penstock.documents import plain
from penstock.errors import Conflict, InvalidValue
from penstock.ops import Patch, Ref
from penstock.records import prepare_updates
from penstock.system import SYSTEM
from penstock.updates import Remove, Set, Update

if TYPE_CHECKING:
    from penstock.store import Store


class OnceStatus(StrEnum):
    IN_PROGRESS = "in_progress"
    DONE = "done"
    FAILED = "failed"


class Once(Entity):
    """What is known of work that must happen once."""

    idempotency_key: str
    fingerprint: str | None = None
    status: OnceStatus = OnceStatus.IN_PROGRESS
    owner: str | None = None
    owner_expires_at: EpochSeconds | None = None
    result: dict[str, Any] | None = None
    created_at: UtcSeconds
    ttl: EpochSeconds

    @move(OnceStatus.IN_PROGRESS, to=OnceStatus.DONE)
    def finish(self, *, result: dict[str, Any] | None) -> None:
        """It is done; whoever asks again gets this result."""
        self.result, self.owner, self.owner_expires_at = result, None, None

    @move(OnceStatus.IN_PROGRESS, to=OnceStatus.FAILED)
    def fail(self) -> None:
        """It did not happen; another may try."""
        self.owner, self.owner_expires_at = None, None

    @move(OnceStatus.FAILED, OnceStatus.IN_PROGRESS, to=OnceStatus.IN_PROGRESS)
    def take_over(self, *, owner: str, until: datetime) -> None:
        """Another tries, after a failure or when the owner's time is over."""
        self.owner, self.owner_expires_at = owner, int(until.timestamp())


class SystemOnce(Once, table=SYSTEM, relation="once", lifetimes=(Expires("ttl"),)):
    """The kernel's own, for domains that do not document theirs."""

    project_id: str | None = None
    "Whose work it is. A store bound to a project fills it in, and sees no other's."

    @key("IDEMPOTENCY#{idempotency_key}", "IDEMPOTENCY#{idempotency_key}")
    def at(self, *, idempotency_key: str) -> None: ...


class InProgress(Conflict):
    """Somebody is at it just now; ask again later."""

    slug = "in-progress"


class KeyReused(InvalidValue):
    """The key was used for something else."""

    slug = "key-reused"


@dataclass(frozen=True, slots=True)
class Turn:
    """The right to do the work."""

    ref: Ref[Any]
    owner: str

    def holds(self) -> Condition:
        return All((Compare("status", "=", OnceStatus.IN_PROGRESS), Compare("owner", "=", self.owner)))

    def done(self, result: dict[str, Any] | None) -> Patch:
        """The write that ends the turn, to be committed with what the work changed."""
        return self._end(OnceStatus.DONE, Remove("result") if result is None else Set("result", plain(result)))

    def failed(self) -> Patch:
        """The write that lets another try."""
        return self._end(OnceStatus.FAILED)

    def _end(self, status: OnceStatus, *more: Update) -> Patch:
        updates = (Set("status", status), Remove("owner"), Remove("owner_expires_at"), *more)
        return Patch(self.ref.shape, self.ref.key, prepare_updates(self.ref.shape, updates), self.holds())


@dataclass(frozen=True, slots=True)
class Done:
    """The work was done before; this is what came of it."""

    result: dict[str, Any] | None


def once_key(*parts: Any) -> str:
    """A key that differs whenever any part does: canonical JSON of each, length first, hashed."""
    digest = hashlib.sha256()
    for part in parts:
        text = json.dumps(plain(part), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        digest.update(b"%d:" % len(text) + text)
    return digest.hexdigest()


def begin(
    store: Store,
    record: Once,
    *,
    owner: str,
    period: timedelta,
) -> Turn | Done:
    """Ask for the turn to do what ``record`` names; InProgress while another has it, KeyReused for another body."""
    now = store.clock.now()
    ref: Ref[Any] = record.ref
    for _ in range(3):
        found = store.lookup(ref)
        if found is None:
            if _created(store, record, owner, now + period):
                return Turn(ref, owner)
            continue
        if found.fingerprint != record.fingerprint:
            raise KeyReused(f"{ref!r} was used for a request with another body; choose a new key")
        if found.status is OnceStatus.DONE:
            return Done(found.result)
        if found.status is OnceStatus.IN_PROGRESS and (found.owner_expires_at or 0) > now.timestamp():
            break
        if _taken_over(store, found, owner, now + period):
            return Turn(ref, owner)
    raise InProgress(f"{ref!r} is being done just now; ask again when it is")


def _created(store: Store, record: Once, owner: str, until: datetime) -> bool:
    record.owner, record.owner_expires_at = owner, int(until.timestamp())
    try:
        store.create(record)
    except Conflict:
        return False
    return True


def _taken_over(store: Store, found: Once, owner: str, until: datetime) -> bool:
    """Take a turn that failed or has ended, unless somebody else has just done so."""
    as_read = All((Compare("status", "=", found.status), _same("owner", found.owner)))
    as_read = All((as_read, _same("owner_expires_at", found.owner_expires_at)))
    updates = (
        Set("status", OnceStatus.IN_PROGRESS),
        Set("owner", owner),
        Set("owner_expires_at", int(until.timestamp())),
    )
    try:
        store.patch(found.ref, *updates, when=as_read)
    except Conflict:
        return False
    return True


def _same(name: str, value: Any) -> Condition:
    return Missing(name) if value is None else Compare(name, "=", value)
