"""Waiting until every writer of a store goes by an edition of its layouts, or writes no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.kernel.layouts.knower import HELD, LONGEST_REQUEST, Knower
from penstock.kernel.layouts.knowledge import renew_here
from penstock.net.backoff import Backoff
from penstock.operations.reads import Query
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine

_PAUSES = Backoff(first=0.1, longest=2.0, jitter=0)


class KnowerWatch:
    """Watches the knowers of one store, by its own clock alone."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock
        self._seen: dict[str, tuple[int, float]] = {}
        "How often each had renewed what it told, and since when no more."

    def wait_for(self, edition: int, *, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Return when nobody goes by an earlier edition any more; that may take longer than a lease lasts."""
        looks = 0
        while behind := self.behind(edition):
            looks += 1
            meanwhile()
            for knower in behind:
                renew_here(knower.process)  # else this process would wait for itself
            if looks > 1:
                self._clock.sleep(_PAUSES.pause(looks - 1))

    def behind(self, edition: int) -> list[Knower]:
        """Those that may still go by an earlier edition."""
        return [knower for knower in self.living() if knower.edition < edition]

    def living(self) -> list[Knower]:
        """Those that may still write."""
        return [knower for knower in self._told() if not self._is_over(knower)]

    def _is_over(self, knower: Knower) -> bool:
        now = self._clock.monotonic()
        renewed, since = self._seen.get(knower.process, (None, now))
        if renewed != knower.renewed:
            self._seen[knower.process] = knower.renewed, now
            return False
        return now - since > HELD + LONGEST_REQUEST

    def _told(self) -> Iterator[Knower]:
        query: Query[Knower] = Knower.everywhere()
        place = None
        while True:
            page = self._engine.find(query, limit=None, after=place, now=self._clock.now())
            yield from page.records
            place = page.end
            if place is None:
                return
