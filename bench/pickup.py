"""How long a message waits for an idle relay: from the end of the commit until the sink is called.

Time is the wall's, as it is waiting that is measured. The relay runs in a thread, on a store of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep

from bench.measure import Comparison, Effort
from bench.transitions import DOMAIN, new_lamp, switch
from penstock import Store, open_store
from penstock.events.relay import Relay
from penstock.ports.sink import Envelope
from tests.servers import Postgres

GROUPS = {"sqlite-pickup.latency": "wall time, p50", "postgresql-pickup.latency": "wall time, p50"}
BASELINE = RELAY = "penstock's relay"
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


def measure(group: str, effort: Effort) -> Comparison:
    """One announcement after the other, each to a relay that waits."""
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
        return Comparison({RELAY: [seconds * 1e6 for seconds in _waits(store, sink)]})


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
    switched, chance = new_lamp(1), Random(1)
    store.put(switched)
    for number in range(ANNOUNCEMENTS + 1):
        sleep(chance.uniform(*IDLE))
        with store.change(by="bench") as change:
            switch(change, switched)
        committed = perf_counter()
        wait = sink.moment() - committed
        if number:  # the first one waits until the relay has started
            yield max(wait, 1e-6)  # it may well be told before the committer hears of it
