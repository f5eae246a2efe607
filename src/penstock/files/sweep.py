"""The sweep: settles whatever was left behind, by uploads nobody finished, by records that are gone, by a process that
died.

    Sweep(store, objects, DOMAINS, owner="sweeper").run()

Any number of processes may run one; a lease lets a single one work at a time. It may die at any point: the next one
goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from penstock.declare.domain import Domain
from penstock.files.deletion import settle_released
from penstock.files.reconcile import Reconciled, Reconciliation
from penstock.files.references import References
from penstock.files.sidecars import settle_sidecars
from penstock.files.trash import Purged, Trash
from penstock.files.uploads import SweptUploads, Uploads
from penstock.kernel.lease import release, take_named
from penstock.kernel.store import Store
from penstock.ports.object_store import ObjectStore


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did."""

    uploads: SweptUploads
    released: int
    "Files of deleted records that are in the trash now."
    reconciled: Reconciled
    purged: Purged
    sidecars: int = 0
    "Those that are gone because the file they were made of is."


class Sweep:
    """Settles what is left behind in an object store. Give it every domain that keeps files there."""

    def __init__(
        self,
        store: Store,
        objects: ObjectStore,
        domains: Iterable[Domain],
        *,
        owner: str,
        grace: timedelta = timedelta(days=1),
        window: timedelta = timedelta(days=7),
        period: timedelta = timedelta(hours=1),
    ) -> None:
        self._store, self._objects, self._owner, self._period = store, objects, owner, period
        self._trash = Trash(objects, store.clock, window=window)
        self._uploads = Uploads(store, objects)
        domains = list(domains)
        self._references = References(store, domains)
        self._reconciliation = Reconciliation(store, objects, self._trash, domains, grace=grace)

    def plan(self) -> Reconciled:
        """What does not fit together now. Nothing is changed."""
        return self._reconciliation.plan()

    def run(self) -> Swept | None:
        """Settle everything; None while another sweep is at it."""
        lease = take_named(self._store, "sweep:objects", owner=self._owner, period=self._period)
        if lease is None:
            return None
        try:
            return Swept(
                uploads=self._uploads.sweep(),
                released=settle_released(self._store, self._objects, self._trash, self._references),
                reconciled=self._reconciliation.run(),
                purged=self._trash.purge(),
                sidecars=settle_sidecars(self._store, self._objects),
            )
        finally:
            release(self._store, lease)
