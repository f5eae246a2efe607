"""The reaper: removes records whose end has come, where the store does not do it by itself.

An expired record is invisible at once, however late the reaper; it only gives back the room. So it can wait until the
record has expired by every clock that may be in use (see `clock`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from penstock.declare.domain import Domain
from penstock.kernel.lease import Lease, LeaseLost, release, renew_in_time, take_named
from penstock.kernel.store import Store
from penstock.ports.clock import by_the_slowest


class Reaper:
    """Removes the expired records of some domains and of the system itself, a batch at a time. Any number may run."""

    def __init__(
        self,
        store: Store,
        domains: Iterable[Domain],
        *,
        owner: str,
        batch: int = 1000,
        batches: int = 1000,
        period: timedelta = timedelta(minutes=2),
    ) -> None:
        self._store, self._owner, self._period = store, owner, period
        self._batch, self._batches = batch, batches
        self._domains = list(dict.fromkeys((store.own, *domains)))

    def run_once(self) -> dict[str, int]:
        """Remove what has expired, up to a bound; how many of each domain. One that another reaps just now is left out.

        Empty where the store expires records by itself.
        """
        if self._store.engine.features.native_expiry:
            return {}
        removed: dict[str, int] = {}
        for domain in self._domains:
            if not any(shape.expiry for shape in domain.shapes):
                continue
            lease = take_named(self._store, f"reaper:{domain.name}", owner=self._owner, period=self._period)
            if lease is None:
                continue
            try:
                removed[domain.name] = self._reap(domain, lease)
            finally:
                release(self._store, lease)
        return removed

    def _reap(self, domain: Domain, lease: Lease) -> int:
        removed = 0
        for _ in range(self._batches):
            over = by_the_slowest(self._store.clock)
            last = self._store.engine.expire(domain.shapes, now=over, limit=self._batch)
            removed += last
            if last < self._batch:
                break
            try:
                lease = renew_in_time(self._store, lease, period=self._period)
            except LeaseLost:
                break  # another goes on; nothing was done that two could not do
        return removed
