"""Idempotency: work that must happen once, whoever asks and however often.

The first caller gets a claim; while it lasts, others are told to wait. When the work is done its result is kept, and a
later caller gets that answer. A claim that failed, or whose owner's time is over, is taken over. The same key with
another body is refused: it is a mistake of the caller's.

Each claim has an id, and only who has that id ends it: an owner that stalled and lost its claim changes nothing, not
even when its successor goes by the same name, and however wrong the clocks are. Clocks only tell when an owner is given
up, and when a mark is forgotten. A clock that is ahead forgets it so much earlier: a lifetime that must not be shorter
than something has to be longer by the skew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.units import Count, EpochSeconds, UtcSeconds
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.handle import StoreHandle
from penstock.kernel.lease import Fence, Lease, LeaseLost, end_second
from penstock.kernel.participants import Participant, commit
from penstock.kernel.system import SYSTEM
from penstock.kernel.unchanged import unchanged
from penstock.operations.conditions import All, Compare, Condition
from penstock.operations.reads import Ref
from penstock.operations.updates import Add, Remove, Set, Update
from penstock.operations.validation import prepare_updates
from penstock.operations.writes import Patch, Write
from penstock.ports.clock import Clock, by_the_slowest
from penstock.ports.ids import sortable_id
from penstock.schema.documents import plain
from penstock.schema.role import Role
from penstock.schema.shape import Rights


class OnceStatus(StrEnum):
    IN_PROGRESS = "in_progress"
    DONE = "done"
    FAILED = "failed"


class Once(Entity):
    """What is known of work that must happen once."""

    __rights__ = Rights(remove=False)
    __seen_by__ = Role.ADMIN
    __moved_by_work__ = True
    __traced__ = False

    idempotency_key: str
    fingerprint: str | None = None
    status: OnceStatus = OnceStatus.IN_PROGRESS
    owner: str | None = None
    owner_expires_at: EpochSeconds | None = None
    turn: str | None = None
    "The id of the owner's claim: it tells it from every other, also from an earlier one of its own."
    result: dict[str, Any] | None = None
    created_at: UtcSeconds
    ttl: EpochSeconds

    @move(OnceStatus.IN_PROGRESS, to=OnceStatus.DONE)
    def finish(self, *, result: dict[str, Any] | None) -> None:
        """It is done; whoever asks again gets this result."""
        self.result = result
        self._leave()

    @move(OnceStatus.IN_PROGRESS, to=OnceStatus.FAILED)
    def fail(self) -> None:
        """It did not happen; another may try."""
        self._leave()

    @move(OnceStatus.FAILED, OnceStatus.IN_PROGRESS, to=OnceStatus.IN_PROGRESS)
    def take_over(self, *, owner: str, until: datetime) -> None:
        """Another tries, after a failure or when the owner's time is over."""
        self.owner, self.owner_expires_at, self.turn = owner, end_second(until), str(sortable_id(until))

    def _leave(self) -> None:
        self.owner, self.owner_expires_at, self.turn = None, None, None


class SystemOnce(Once, table=SYSTEM, relation="once", lifetimes=(Expires("ttl"),)):
    """The kernel's own, for domains that do not document theirs."""

    project_id: str | None = None
    "Whose work it is. A store bound to a project fills it in, and sees no other's."
    seed: str | None = None
    "What the ids of each try are made from, where nobody may guess them."
    tries: Count | None = None
    "How often it was tried in vain, where somebody counts."

    @key("IDEMPOTENCY#{idempotency_key}", "IDEMPOTENCY#{idempotency_key}")
    def at(self, *, idempotency_key: str) -> None: ...


class InProgress(Conflict):
    """Somebody is at it just now; ask again later."""

    slug = "in-progress"


class ClaimLost(Conflict):
    """The claim has passed to another, or was ended; nothing was written."""

    slug = "claim-lost"


class KeyReused(InvalidValue):
    """The key was used for something else."""

    slug = "key-reused"


@dataclass(slots=True)
class Claim:
    """The right to do the work."""

    ref: Ref[Any]
    owner: str
    id: str
    self_writes: Participant | None = None
    "Of the feed's: marks what the change that ends the claim writes to the event's record."
    root: tuple[str | int | None, ...] = ()
    "The same for each try of the work, and no other's."
    ended: bool = field(default=False, compare=False)
    "Has a change ended it here?"

    def id_for(self, name: str) -> UUID:
        """An id for something that the work makes: whoever takes over after a crash gets the same one."""
        return UUID(hex=once_key(*self.root, name)[:32], version=4)

    def holds(self) -> Condition:
        """That the claim is still ours."""
        return All((Compare("status", "=", OnceStatus.IN_PROGRESS), Compare("turn", "=", self.id)))

    def done(self, result: dict[str, Any] | None) -> Patch:
        """The write that ends the claim, to be committed with what the work changed."""
        return self._end(OnceStatus.DONE, Remove("result") if result is None else Set("result", plain(result)))

    def failed(self, *, forgotten_at: int | None = None, counted: bool = False) -> Patch:
        """The write that lets another try; after a second of its own, if one is given, nothing more is known of it.

        ``counted``: one more was in vain, by a mark that has a count of them.
        """
        more: list[Update] = [] if forgotten_at is None else [Set("ttl", forgotten_at)]
        return self._end(OnceStatus.FAILED, *more, *([Add("tries", 1)] if counted else []))

    def _end(self, status: OnceStatus, *more: Update) -> Patch:
        updates = (Set("status", status), Remove("owner"), Remove("owner_expires_at"), Remove("turn"), *more)
        return Patch(self.ref.shape, self.ref.key, prepare_updates(self.ref.shape, updates), self.holds())


class ClaimEnd:
    """Takes part in a commit: ends a claim with what came of the work, which nobody does whose claim was lost."""

    def __init__(self, claim: Claim, result: dict[str, Any] | None) -> None:
        self._claim, self._result = claim, result
        self._end: Patch | None = None

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        self._end = self._claim.done(self._result)
        return [*writes, self._end]

    def was_refused(self, write: Write, refused: Conflict) -> bool:
        if write is self._end:
            raise ClaimLost(
                f"{self._claim.ref!r}: the claim of {self._claim.owner} is lost, another has it or has ended it; "
                f"nothing was written",
                position=refused.position,
                found=refused.found,
            ) from None
        return False


def new_id(claim: Claim | None, name: str) -> UUID:
    """An id for something that is made under a claim, the same at each try; a new one where nothing is claimed."""
    return uuid4() if claim is None else claim.id_for(name)


@dataclass(frozen=True, slots=True)
class Replay:
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
    store: StoreHandle,
    record: Once,
    *,
    owner: str,
    period: timedelta,
) -> Claim | Replay:
    """Ask for the claim to do what ``record`` names; InProgress while another has it, KeyReused for another body."""
    return _ask(store, record, owner, period, under=None)


def seize(store: StoreHandle, record: Once, *, owner: str, period: timedelta, under: Lease) -> Claim | Replay:
    """Get the claim at once, also from one who is at it: the holder of the lease on such work knows that they are gone.

    The former owner can no longer end its claim. LeaseLost when the lease is no longer ours.
    """
    return _ask(store, record, owner, period, under=under)


def _ask(store: StoreHandle, record: Once, owner: str, period: timedelta, *, under: Lease | None) -> Claim | Replay:
    now = store.clock.now()
    ref: Ref[Any] = record.ref
    claim = Claim(ref, owner, str(sortable_id(now)))
    until = end_second(now + period)
    for _ in range(3):
        found = store.lookup(ref)
        if found is None:
            if _created(store, record, claim, until):
                return replace(claim, root=_root(record))
            continue
        if found.fingerprint != record.fingerprint:
            raise KeyReused(f"{ref!r} was used for a request with another body; choose a new key")
        if found.status is OnceStatus.DONE:
            return Replay(found.result)
        if under is None and _is_at_it(found, store.clock):
            break
        if _taken_over(store, found, record, claim, until, under):
            return replace(claim, root=_root(found))
    raise InProgress(f"{ref!r} is being done just now; ask again when it is")


def _is_at_it(found: Once, clock: Clock) -> bool:
    """May the owner still be at work, if its clock is right within the skew?"""
    over = by_the_slowest(clock).timestamp()
    return found.status is OnceStatus.IN_PROGRESS and (found.owner_expires_at or 0) > over


def _created(store: StoreHandle, record: Once, claim: Claim, until: int) -> bool:
    record.owner, record.owner_expires_at, record.turn = claim.owner, until, claim.id
    try:
        store.create(record)
    except Conflict:
        return False
    return True


def _taken_over(store: StoreHandle, found: Once, record: Once, claim: Claim, until: int, under: Lease | None) -> bool:
    """Take a claim that failed or has ended, unless somebody else has just done so."""
    updates: list[Update] = [
        Set("status", OnceStatus.IN_PROGRESS),
        Set("owner", claim.owner),
        Set("owner_expires_at", until),
        Set("turn", claim.id),
    ]
    if (forgotten := getattr(record, "ttl", None)) is not None:
        # A try that was refused may be about to be forgotten; what this one does must not be.
        updates.append(Set("ttl", forgotten))
    shape, key = found.ref.shape, found.ref.key
    # A commit recognises itself when its answer was lost; what it leaves is its own, because of the claim's id.
    taken = Patch(shape, key, prepare_updates(shape, updates), unchanged(found, ("status", "turn")))
    try:
        commit(store, [taken], [] if under is None else [Fence(under)])
    except LeaseLost:
        raise
    except Conflict:
        return False
    return True


def _root(record: Once) -> tuple[str | int | None, ...]:
    """What all tries of one work have in common. With its birth: a key that was forgotten may be used anew."""
    return record.idempotency_key, int(record.created_at.timestamp()), getattr(record, "seed", None)
