"""Leases: one holder at a time, and nothing is written by one who has lost it.

A lease lives in fields of the record it protects, or, for something that is not a record, in one of its own. Its epoch
only grows, also across release. Whoever writes under a lease does so on the condition that owner and epoch still stand:
a worker that stalled, lost its lease and woke up changes nothing.

That holds however wrong the clocks are. They only tell when a holder is given up: when its time is over by every clock
that differs from its own by no more than the skew (see `clock`), or, for a `Duty`, when it has not been heard of for a
whole period, which takes no comparing of clocks at all. One whose process is proven dead (`worker_name`) is given up at
once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.units import Count, EpochSeconds
from penstock.errors import Conflict
from penstock.kernel.handle import StoreHandle
from penstock.kernel.system import SYSTEM
from penstock.operations.conditions import All, Compare, Condition, Missing, both
from penstock.operations.reads import Ref
from penstock.operations.updates import Add, Remove, Set, Update
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.ports.clock import by_the_slowest
from penstock.ports.worker_name import is_proven_dead
from penstock.schema.shape import Rights


class Leased(Entity):
    """What a record carries that can be leased."""

    lease_owner: str | None = None
    lease_expires_at: EpochSeconds | None = None
    lease_epoch: Count | None = None


class NamedLease(Leased, table=SYSTEM, relation="leases", lifetimes=(Expires("ttl"),)):
    """A lease on something that is not a record: a schedule, a relay, a sweep.

    It stays, as its epoch must only grow. Only one that has no epoch, and whose name says of whom it is, is forgotten.
    """

    __rights__ = Rights(remove=False)

    name: str
    project_id: str | None = None
    "Whose work it protects. A store bound to a project fills it in; the name is still one for all projects."
    ttl: EpochSeconds | None = None

    @key("LEASE#{name}", "LEASE")
    def at(self, *, name: str) -> None: ...


class LeaseLost(Conflict):
    """The lease has passed to another, or was released; nothing was written."""

    slug = "lease-lost"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a record until a moment, told apart from every other by owner and epoch."""

    ref: Ref[Any]
    owner: str
    epoch: int
    expires_at: datetime

    def holds(self) -> Condition:
        """That owner and epoch still stand."""
        return All((Compare("lease_owner", "=", self.owner), Compare("lease_epoch", "=", self.epoch)))


def is_free(now: datetime) -> Condition:
    """That nobody holds the record's lease, or that the holder's time is over; see `clock.by_the_slowest`."""
    return Missing("lease_owner") | Compare("lease_expires_at", "<=", int(now.timestamp()))


def taken_by(owner: str, until: datetime) -> tuple[Update, ...]:
    """The updates that take a lease, for a change that does more at once."""
    return (Set("lease_owner", owner), Set("lease_expires_at", end_second(until)), Add("lease_epoch", 1))


def take(store: StoreHandle, ref: Ref[Any], *, owner: str, period: timedelta) -> Lease | None:
    """Lease a record that stands; None while another holds it."""
    found = _ask(store, ref, owner, period, is_free(by_the_slowest(store.clock)))
    return _lease_in(_inherited(store, ref, owner, period, found))


def take_named(store: StoreHandle, name: str, *, owner: str, period: timedelta) -> Lease | None:
    """Lease something by its name; None while another holds it."""
    ref = NamedLease.at(name=name)
    return _lease_in(_inherited(store, ref, owner, period, _ask_for_name(store, ref, owner, period)))


def renew(store: StoreHandle, lease: Lease, *, period: timedelta) -> Lease:
    """Hold a lease longer; LeaseLost when it is no longer ours."""
    until = end_second(store.clock.now() + period)
    try:
        store.patch(lease.ref, Set("lease_expires_at", until), when=lease.holds())
    except Conflict as lost:
        raise _lost(lease, lost) from None
    return Lease(lease.ref, lease.owner, lease.epoch, _moment(until))


def renew_in_time(store: StoreHandle, lease: Lease, *, period: timedelta) -> Lease:
    """The lease, held longer if half of its time is over; LeaseLost when it is no longer ours."""
    if lease.expires_at - store.clock.now() > period / 2:
        return lease
    return renew(store, lease, period=period)


def release(store: StoreHandle, lease: Lease) -> None:
    """Give a lease back. One that was lost is lost already, which is no error."""
    try:
        store.patch(lease.ref, Remove("lease_owner"), Remove("lease_expires_at"), when=lease.holds())
    except Conflict:
        return


class Duty:
    """A named lease that several processes ask for as long as they live, and one of them holds.

    All of them use the same period. A holder that does not renew the lease for so long, as another has seen, is
    relieved by it: a day's difference of their clocks changes nothing.
    """

    def __init__(self, store: StoreHandle, name: str, *, owner: str, period: timedelta) -> None:
        self._store, self._ref = store, NamedLease.at(name=name)
        self._owner, self._period = owner, period
        self._lease: Lease | None = None
        self._renewed: float
        "When it was asked for last; it is set before there is a lease."
        self._seen: tuple[Any, ...] = ()
        "The lease of another, as it stood,"
        self._since: float
        "and since when it has; nothing was seen before the first."

    def hold(self) -> Lease | None:
        """The lease, kept or taken; None while another is on duty."""
        now, passed = self._store.clock.now(), self._store.clock.monotonic()
        if self._lease is not None and self._has_long(self._lease, now, passed):
            return self._lease
        self._renewed = passed
        try:
            if self._lease is not None:
                self._lease = renew(self._store, self._lease, period=self._period)
                return self._lease
        except LeaseLost:
            self._lease = None
        asked = _ask_for_name(self._store, self._ref, self._owner, self._period)
        found = _inherited(self._store, self._ref, self._owner, self._period, asked)
        self._lease = found if isinstance(found, Lease) else self._relieve(found, passed)
        return self._lease

    def leave(self) -> None:
        """Let another have it at once."""
        if self._lease is not None:
            release(self._store, self._lease)
            self._lease = None

    def _has_long(self, lease: Lease, now: datetime, passed: float) -> bool:
        """More than half of its time is left, by either clock: one of them may have been set."""
        return lease.expires_at - now > self._period / 2 and passed - self._renewed < self._period.total_seconds() / 2

    def _relieve(self, found: Mapping[str, Any], passed: float) -> Lease | None:
        """Take the lease if it stands as it stood a period ago."""
        seen = tuple(found.get(name) for name in Leased.model_fields)
        if seen != self._seen:
            # The clock is read anew: this process may have stood still after it was read, and before it saw the lease.
            self._seen, self._since = seen, self._store.clock.monotonic()
        if passed - self._since < self._period.total_seconds():
            return None
        return _lease_in(_ask(self._store, self._ref, self._owner, self._period, _unmoved(found)))


class Fence:
    """Takes part in a commit: nothing is written unless the lease is still held."""

    __slots__ = ("_lease", "_store")

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._store: StoreHandle | None = None

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        """Whatever is written to the leased record meets the condition there; else the record is looked at."""
        held, self._store = self._lease.holds(), store
        out: list[Write] = []
        met = not writes  # nothing written is nothing to be kept from
        for write in writes:
            if self._is_at(write):
                out.append(_with_condition(write, held))
                met = True
            else:
                out.append(write)
        return out if met else [*out, Check(self._lease.ref.shape, self._lease.ref.key, held)]

    def was_refused(self, write: Write, refused: Conflict) -> bool:
        """LeaseLost if the lease is lost; else something else has refused.

        Whoever has the lease now has most likely written to the same records, which may have refused first.
        """
        lease, standing = self._lease, refused.found
        if not self._is_at(write) and self._store is not None:
            record = self._store.lookup(lease.ref)
            standing = None if record is None else record.__dict__
        found = standing or {}
        if (found.get("lease_owner"), found.get("lease_epoch")) != (lease.owner, lease.epoch):
            raise _lost(lease, Conflict(str(refused), position=refused.position, found=standing)) from None
        return False

    def _is_at(self, write: Write) -> bool:
        ref = self._lease.ref
        return write.shape is ref.shape and all(write.key[n] == v for n, v in ref.key.items())


def _with_condition(write: Write, condition: Condition) -> Write:
    match write:
        case Put(shape, values, when, witness):
            return Put(shape, values, both(when, condition), witness)
        case Patch():
            when = both(write.when, condition)
            return Patch(write.shape, write.key, write.updates, when, write.relied, write.exact)
        case Delete(shape, key, when):
            return Delete(shape, key, both(when, condition))
        case Check(shape, key, when):
            return Check(shape, key, both(when, condition) or condition)


def _lost(lease: Lease, refused: Conflict) -> LeaseLost:
    holder = (refused.found or {}).get("lease_owner")
    now_held = f"{holder} holds it now" if holder else "nobody holds it now"
    return LeaseLost(
        f"{lease.ref!r}: the lease of {lease.owner} (epoch {lease.epoch}) is lost, {now_held}; nothing was written",
        position=refused.position,
        found=refused.found,
    )


def end_second(until: datetime) -> int:
    """The first whole second that is not before a moment: what ends then has not ended earlier."""
    return math.ceil(until.timestamp())


def _ask(
    store: StoreHandle, ref: Ref[Any], owner: str, period: timedelta, when: Condition
) -> Lease | Mapping[str, Any]:
    """The lease, or what stands there instead."""
    try:
        record = store.patch(ref, *taken_by(owner, store.clock.now() + period), when=when)
    except Conflict as refused:
        if refused.found is None:
            raise
        return refused.found
    if record.lease_owner != owner:
        return dict(record.__dict__)  # it ended, and another has it, before we heard that it was ours
    return Lease(ref, owner, record.lease_epoch, _moment(record.lease_expires_at))


def _ask_for_name(store: StoreHandle, ref: Ref[NamedLease], owner: str, period: timedelta) -> Lease | Mapping[str, Any]:
    if store.lookup(ref) is None:
        until = end_second(store.clock.now() + period)
        first = NamedLease(**ref.key, lease_owner=owner, lease_expires_at=until, lease_epoch=1)
        try:
            store.create(first)
        except Conflict:
            pass  # somebody was faster; it may be free again already
        else:
            return Lease(ref, owner, 1, _moment(until))
    return _ask(store, ref, owner, period, is_free(by_the_slowest(store.clock)))


def _inherited(
    store: StoreHandle, ref: Ref[Any], owner: str, period: timedelta, found: Lease | Mapping[str, Any]
) -> Lease | Mapping[str, Any]:
    """The lease of one who is proven dead; else what was found."""
    if isinstance(found, Lease) or not is_proven_dead(found.get("lease_owner") or ""):
        return found
    return _ask(store, ref, owner, period, _unmoved(found))


def _unmoved(found: Mapping[str, Any]) -> Condition:
    """That a lease stands as it was found."""
    return All(tuple(Compare(n, "=", found[n]) for n in Leased.model_fields))


def _lease_in(answer: Lease | Mapping[str, Any]) -> Lease | None:
    return answer if isinstance(answer, Lease) else None


def _moment(epoch: int) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)
