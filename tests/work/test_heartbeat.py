"""The heartbeat looks six times in the life of a lease, whatever fails in between, and says when it leaves."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Unavailable
from penstock.work import heartbeat
from penstock.work.heartbeat import Heartbeat
from penstock.work.runner import Runner
from penstock.work.worker_presence import WorkerPresence
from tests.work.plant import TASKS

LEASE = timedelta(seconds=60)
LOOKS = 4


class Pauses(threading.Event):
    """Ends the heartbeat after some looks, and notes how long it would have waited for each."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        if self.is_set() or threading.current_thread().name != "penstock-heartbeat":
            return super().wait(timeout)
        self.noted.append(timeout)
        return len(self.noted) > LOOKS


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[Pauses]:
    """Those that were made."""
    made: list[Pauses] = []

    class Threading:
        Thread = threading.Thread

        @staticmethod
        def Event() -> Pauses:
            made.append(Pauses())
            return made[-1]

    monkeypatch.setattr(heartbeat, "threading", Threading)
    return made


@pytest.mark.parametrize("fails", [False, True])
def test_it_looks_at_once_and_six_times_a_lease_also_after_a_failure(
    store: Store, pauses: list[Pauses], monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    runner = Runner(store, [TASKS], owner="w", lease=LEASE)
    looks: list[Any] = []

    def renew(works: Any) -> list[Any]:
        looks.append(works)
        if fails:
            raise ValueError("something nobody has thought of")
        return []

    monkeypatch.setattr(runner, "renew", renew)
    beating = Heartbeat(runner)
    beating._thread.join(timeout=60)
    assert pauses[0].noted == [0.0, 10.0, 10.0, 10.0, 10.0]
    assert len(looks) == LOOKS
    beating.stop()


def test_a_worker_that_ends_is_shown_no_longer(store: Store) -> None:
    runner = Runner(store, [TASKS], owner="w", lease=LEASE)
    beating = Heartbeat(runner)
    beating.tell_end()
    there = store.get(WorkerPresence.at(worker="w"))
    assert (there.busy, there.ending) == (0, True)
    beating.stop()
    assert store.lookup(WorkerPresence.at(worker="w")) is None


def test_a_worker_that_ends_says_so_with_every_later_sign_of_life(store: Store, clock: FrozenClock) -> None:
    """What it still does may take hours, and nothing more is taken here."""
    presence = Runner(store, [TASKS], owner="w", lease=LEASE).presence
    presence.tell(2, ending=True)
    clock.advance(timedelta(minutes=10))
    presence.tell(1)
    there = store.get(WorkerPresence.at(worker="w"))
    assert (there.busy, there.ending, there.seen_at) == (1, True, clock.now())


def test_a_worker_ends_also_where_nobody_can_be_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Runner(store, [TASKS], owner="w", lease=LEASE)
    beating = Heartbeat(runner)

    def away(*args: Any) -> None:
        raise Unavailable("the store is away")

    monkeypatch.setattr(store, "delete", away)
    beating.stop()
    assert not beating._thread.is_alive()
