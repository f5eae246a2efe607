"""Leases: one holder at a time, and nothing is written by one who has lost it.

A lease lives in fields of the record it protects, or, for something that is not a record, in one of its own. Its epoch
only grows, also across release. Whoever writes under a lease does so on the condition that owner and epoch still stand:
a worker that stalled, lost its lease and woke up changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from penstock.conditions import All, Compare, Condition, Missing
from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.units import Count, EpochSeconds
from penstock.errors import Conflict
from penstock.ops import Ref
from penstock.system import SYSTEM
from penstock.updates import Add, Remove, Set, Update

if TYPE_CHECKING:
    from penstock.store import Store


class Leased(Entity):
    """What a record carries that can be leased."""

    lease_owner: str | None = None
    lease_expires_at: EpochSeconds | None = None
    lease_epoch: Count | None = None


class NamedLease(Leased, table=SYSTEM, relation="leases"):
    """A lease on something that is not a record: a schedule, a relay, a sweep."""

    name: str
    project_id: str | None = None
    "Whose work it protects. A store bound to a project fills it in; the name is still one for all projects."

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
    """That nobody holds the record's lease, or that the holder's time is over."""
    return Missing("lease_owner") | Compare("lease_expires_at", "<=", _epoch(now))


def taken_by(owner: str, until: datetime) -> tuple[Update, ...]:
    """The updates that take a lease, for a change that does more at once."""
    return (Set("lease_owner", owner), Set("lease_expires_at", _epoch(until)), Add("lease_epoch", 1))


def take(store: Store, ref: Ref[Any], *, owner: str, period: timedelta) -> Lease | None:
    """Lease a record that stands; None while another holds it."""
    now = store.clock.now()
    try:
        record = store.patch(ref, *taken_by(owner, now + period), when=is_free(now))
    except Conflict as refused:
        if refused.found is None:
            raise
        return None
    if record.lease_owner != owner:
        return None  # it ended, and another has it, before we heard that it was ours
    return Lease(ref, owner, record.lease_epoch, _moment(record.lease_expires_at))


def take_named(store: Store, name: str, *, owner: str, period: timedelta) -> Lease | None:
    """Lease something by its name; None while another holds it."""
    ref = NamedLease.at(name=name)
    until = _epoch(store.clock.now() + period)
    first = NamedLease(name=name, lease_owner=owner, lease_expires_at=until, lease_epoch=1)
    if store.lookup(ref) is None:
        try:
            store.create(first)
        except Conflict:
            pass  # somebody was faster; it may be free again already
        else:
            return Lease(ref, owner, 1, _moment(until))
    return take(store, ref, owner=owner, period=period)


def renew(store: Store, lease: Lease, *, period: timedelta) -> Lease:
    """Hold a lease longer; LeaseLost when it is no longer ours."""
    until = store.clock.now() + period
    try:
        store.patch(lease.ref, Set("lease_expires_at", _epoch(until)), when=lease.holds())
    except Conflict as lost:
        raise lost_lease(lease, lost) from None
    return Lease(lease.ref, lease.owner, lease.epoch, _moment(_epoch(until)))


def release(store: Store, lease: Lease) -> None:
    """Give a lease back. One that was lost is lost already, which is no error."""
    try:
        store.patch(lease.ref, Remove("lease_owner"), Remove("lease_expires_at"), when=lease.holds())
    except Conflict:
        return


def lost_lease(lease: Lease, refused: Conflict) -> LeaseLost:
    holder = (refused.found or {}).get("lease_owner")
    now_held = f"{holder} holds it now" if holder else "nobody holds it now"
    return LeaseLost(
        f"{lease.ref!r}: the lease of {lease.owner} (epoch {lease.epoch}) is lost, {now_held}; nothing was written",
        position=refused.position,
        found=refused.found,
    )


def _epoch(moment: datetime) -> int:
    return int(moment.timestamp())


def _moment(epoch: int) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)
