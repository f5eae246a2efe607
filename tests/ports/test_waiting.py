"""Waiting: whoever waits is woken by a message that another commits, and by nothing he has seen already."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

import pytest

from penstock import Store, open_store
from penstock.domains import DOMAINS
from penstock.engines.sql import sqlite_waiter
from penstock.events.relay import Relay
from penstock.ports.engine import Engine
from penstock.ports.waiting import PollingWaiter
from tests.kernel.test_batch import projects

LONG = 30.0
"Seconds that a test may wait at the very most; none of them does."


class Noted:
    """A sink that says when something has arrived."""

    def __init__(self) -> None:
        self.arrived = threading.Event()

    def deliver(self, messages: object) -> list[Exception | None]:
        self.arrived.set()
        return [None] * len(messages)  # type: ignore[arg-type]


@pytest.fixture
def two(store: Store, open_engine: Callable[[], Engine]) -> tuple[Store, Store]:
    return store, Store(open_engine(), clock=store.clock)


def announce(store: Store) -> None:
    (record,) = projects(store, 1)
    with store.change() as change:
        change.emit("project.made", record)


@contextmanager
def soon_announced(store: Store) -> Iterator[None]:
    """By another thread, which has done so at the end: one that polls may be woken before, and the store ends then."""
    thread = threading.Timer(0.05, announce, (store,))
    thread.start()
    try:
        yield
    finally:
        thread.join(LONG)
    assert not thread.is_alive()


def test_a_commit_before_the_wait_is_not_missed(two: tuple[Store, Store]) -> None:
    ours, theirs = two
    waiter = ours.engine.listen()
    announce(theirs)
    assert waiter.wait(LONG)
    waiter.close()


def test_a_commit_of_another_wakes_whoever_waits(two: tuple[Store, Store]) -> None:
    ours, theirs = two
    waiter = ours.engine.listen()
    began = monotonic()
    with soon_announced(theirs):
        assert waiter.wait(LONG), "nobody was woken"
    assert monotonic() - began < LONG
    waiter.close()


def test_within_a_process_nobody_waits_for_the_next_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_waiter, "_PAUSE", LONG)
    with closing(open_store(f"sqlite:///{tmp_path}/work.db")) as store:
        store.ensure(*DOMAINS)
        waiter = store.engine.listen()
        began = monotonic()
        with soon_announced(store):
            assert waiter.wait(LONG)
        assert monotonic() - began < LONG / 2
        waiter.close()


def test_the_time_to_wait_ends(two: tuple[Store, Store]) -> None:
    waiter = two[0].engine.listen()
    while not isinstance(waiter, PollingWaiter) and waiter.wait(0.01):
        pass  # what was committed before
    if not isinstance(waiter, PollingWaiter):
        assert not waiter.wait(0.01)
    waiter.close()
    assert not waiter.wait(LONG), "a closed one does not wait at all"


def test_an_idle_relay_delivers_at_once_what_is_announced(two: tuple[Store, Store]) -> None:
    ours, theirs = two
    sink, stop = Noted(), threading.Event()
    relay = Relay(ours, sink, owner="relay")
    thread = threading.Thread(target=relay.run, args=(stop,))
    thread.start()
    try:
        announce(theirs)
        assert sink.arrived.wait(LONG)
    finally:
        stop.set()
        thread.join(LONG)
    assert not thread.is_alive()


def test_polling_slows_down_while_nothing_happens() -> None:
    waiter = PollingWaiter()
    pauses = []
    for _ in range(3):
        pauses.append(waiter.pause)
        assert waiter.wait(0.0)
    assert pauses == sorted(pauses)
    assert pauses[0] < pauses[-1]
    waiter.busy()
    assert waiter.pause == pauses[0]
