"""How long a message waits for an idle relay: from the end of the commit until the sink is called.

Time is the wall's, as it is waiting that is measured. The relay runs in a thread, on a store of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep

from bench.contender import Limit
from bench.measure import Contest, Effort
from bench.topic import Contests
from bench.transitions import DOMAIN, new_lamp, switch
from penstock import Store, open_store
from penstock.events.relay import Relay
from penstock.ports.sink import Envelope
from tests.servers import Postgres

GROUPS = {"sqlite-pickup.latency": "wall time, p50", "postgresql-pickup.latency": "wall time, p50"}
BASELINE = RELAY = "penstock's relay"
OWN = (RELAY,)
LIMITS = tuple(Limit(f"{group}: an idle relay picks up within 5 ms, p50", group, RELAY, None, 5000) for group in GROUPS)
ANNOUNCEMENTS = 100
IDLE = (0.015, 0.035)
"Seconds between announcements: enough to go back to waiting, and never in step with one who looks now and then."
_LONGEST = 10.0


class Arrival:
    """A sink that notes when it was called."""

    def __init__(self) -> None:
        self._arrived = Event()
        self._moment = 0.0

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        self._moment = perf_counter()
        self._arrived.set()
        return [None] * len(messages)

    def moment(self) -> float:
        """When the next message comes, having waited for it."""
        assert self._arrived.wait(_LONGEST), "a message was not picked up"
        self._arrived.clear()
        return self._moment


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One announcement after the other, each to a relay that waits."""
    for group in groups:
        with ExitStack() as stack:
            if group.startswith("postgresql"):
                url = stack.enter_context(Postgres(as_shipped=True)).url
            else:
                url = f"sqlite:///{stack.enter_context(TemporaryDirectory())}/pickup.db"
            store = open_store(url)
            stack.callback(store.close)
            store.ensure(DOMAIN)
            sink = Arrival()
            stack.enter_context(_relaying(url, sink))
            waits = _waits(store, sink)
            next(waits)  # the first one waits until the relay has started
            yield group, Contest({RELAY: partial(next, waits)}, effort.sized(ANNOUNCEMENTS, least=3))


@contextmanager
def _relaying(url: str, sink: Arrival) -> Iterator[None]:
    store, stop = open_store(url), Event()
    thread = Thread(target=Relay(store, sink, owner="bench").run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        store.close()


def _waits(store: Store, sink: Arrival) -> Iterator[float]:
    """Microseconds that one message after the other waits."""
    switched, chance = new_lamp(1), Random(1)
    store.put(switched)
    while True:
        sleep(chance.uniform(*IDLE))
        with store.change(by="bench") as change:
            switch(change, switched)
        committed = perf_counter()
        yield max(sink.moment() - committed, 1e-6) * 1e6  # it may well be told before the committer hears of it
