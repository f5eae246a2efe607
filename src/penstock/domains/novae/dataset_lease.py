"""The documents' lease on a dataset: one run works on it, and what a run writes that has lost it is refused.

Its owner is the run. The tasks of the run are leased as well, so that of two attempts at one step only one counts; this
lease keeps other runs away, also across steps, machines and days.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from penstock.declare.attr import the
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.states import ProcessingStatus
from penstock.errors import Conflict, IllegalMove
from penstock.kernel.change import Change
from penstock.kernel.lease import LeaseLost
from penstock.operations.conditions import Condition
from penstock.operations.reads import Ref
from penstock.operations.updates import Set
from penstock.work import TaskContext

PERIOD = timedelta(minutes=20)
"Longer than the longest step, which is a download of a quarter of an hour."


@dataclass(frozen=True, slots=True)
class HeldDataset:
    """A dataset that a run has leased."""

    ref: Ref[Dataset]
    owner: str
    epoch: int

    def holds(self) -> Condition:
        """That owner and epoch still stand."""
        return the(Dataset.lease_owner).equals(self.owner) & the(Dataset.lease_epoch).equals(self.epoch)

    def fence(self, change: Change) -> None:
        """Have a change refused once the lease is lost."""
        change.check(self.ref, self.holds())


def take(change: Change, dataset: Dataset, *, owner: str) -> HeldDataset:
    """Lease a dataset with a change, if it is free or its time is over; IllegalMove while another has it.

    Conflict when another takes it at the same moment: of many exactly one has it then.
    """
    now = change.store.clock.now()
    leased = change.track(dataset).lease(owner=owner, now=now, until=now + PERIOD)
    change.save(leased, when=the(Dataset.lease_epoch).equals(leased.lease_epoch - 1))
    return HeldDataset(dataset.ref, owner, leased.lease_epoch)


def taken_or_kept(work: TaskContext, dataset: Dataset, *, owner: str) -> HeldDataset | None:
    """The lease of a run on a dataset: the one it has already, or a new one; None while another run has it."""
    if dataset.processing_status is ProcessingStatus.IN_PROGRESS and dataset.lease_owner == owner:
        held = HeldDataset(dataset.ref, owner, dataset.lease_epoch)
        renew(work, held)
        return held
    try:
        with work.change(why="leased") as change:
            return take(change, dataset, owner=owner)
    except LeaseLost:
        raise
    except (IllegalMove, Conflict):
        return None


def renew(work: TaskContext, held: HeldDataset) -> None:
    """Hold a dataset longer; LeaseLost when it is no longer this run's."""
    until = int((work.store.clock.now() + PERIOD).timestamp())
    try:
        work.store.patch(held.ref, Set("lease_expires_at", until), when=held.holds())
    except Conflict:
        raise LeaseLost(f"{held.ref!r}: the lease of run {held.owner} is lost; nothing more is written") from None


class LeaseHeartbeat:
    """Renews a lease while something long goes on, once a third of its time is over."""

    def __init__(self, work: TaskContext, held: HeldDataset) -> None:
        self._work, self._held = work, held
        self._renewed = work.store.clock.monotonic()

    def __call__(self, *progress: Any) -> None:
        """Still at work."""
        self._work.check()
        now = self._work.store.clock.monotonic()
        if now - self._renewed >= PERIOD.total_seconds() / 3:
            renew(self._work, self._held)
            self._renewed = now
