"""The pools of a service: what each request does belongs to one of them, and only that one can be full of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.auth.access import Access, heavy_work_of
from penstock.auth.caller import network_of
from penstock.net.pool import Pool
from penstock.net.traffic import Traffic
from penstock.web.client import Clients
from penstock.web.held import Held
from penstock.web.options import WebOptions

_RECORDS = 40
_LONG_WAIT = timedelta(seconds=10)
"For the few that bring much: what they have sent should not be sent again for a moment's rush."
_ASIDE = 64
"Threads for what is short and in no pool, such as closing a file."


class Pools:
    """Made once for each process."""

    def __init__(self, options: WebOptions) -> None:
        self._heavy_places = options.heavy_requests
        # Guests are counted in the store, which is a write; who has a key is looked up there, which is a read. A store
        # that cannot be written to stops the first only.
        self._guests = Pool("letting guests in", 8, queue=200)
        self._keys = Pool("letting callers in", 16, queue=400)
        self._records = Pool("reading and writing records", _RECORDS, queue=400)
        self._named = {"streams": Pool("beginning event streams", 8, queue=100)}
        self.large = Pool("reading large requests", 2, queue=16, patience=_LONG_WAIT)
        self.held = Held(max(options.body_memory, 2 * options.body_limit))
        clients = Clients(options.trusted_proxies)
        self.traffic = Traffic(
            client_of=lambda request: network_of(clients.address(request.scope, request.headers)),
            silence=options.silence,
        )

    def admission(self, access: Access) -> Pool:
        """Where callers of a route wait to be let in."""
        return self._keys if access.per_minute is None else self._guests

    def work(self, endpoint: Any) -> Pool:
        """Where a route is carried out."""
        kind = heavy_work_of(endpoint)
        if kind is None:
            return self._records
        if kind not in self._named:
            places = self._heavy_places
            self._named[kind] = Pool(kind, places, queue=4 * places, share=max(1, places // 2))
        return self._named[kind]

    @property
    def threads(self) -> int:
        """How many threads all of them use at most, so that none waits for another's."""
        pools = [self._guests, self._keys, self._records, self.large, self.traffic.disk, *self._named.values()]
        return sum(pool.places for pool in pools) + 8 * self._heavy_places + _ASIDE
