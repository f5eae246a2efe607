"""A queue that nobody works on is told, and one that somebody works on is not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.work import WORKING, Outcome
from penstock.work.unserved_queue import live_workers, unserved_queues
from penstock.work.worker_presence import OTHERS, Presence
from penstock.workers.celery import celery_app
from penstock.workers.manual import ManualWorkers
from tests.servers import Valkey
from tests.work.nursery import Nursery
from tests.work.plant import PLANT, TASKS, Order, look, press
from tests.work.soon import soon
from tests.work.test_tasks import announce, stamped

A_WHILE = timedelta(seconds=70)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def test_what_waits_without_a_worker_is_told_after_a_minute(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    stamped(store, "a")
    began = clock.now()
    announce(store, press)
    assert unserved_queues(store) == [], "a worker may just be starting"
    clock.advance(A_WHILE)
    (queue,) = unserved_queues(store)
    assert (queue.name, queue.waiting_since) == ("plant.press", began)
    assert "plant.press of project" in str(queue)
    workers.runner.presence.tell(0)
    assert unserved_queues(store) == []
    assert [w.worker for w in live_workers(store)] == ["manual"]
    clock.advance(MINUTE)
    assert unserved_queues(store) == []
    clock.advance(SECOND)
    assert [q.name for q in unserved_queues(store)] == ["plant.press"], "it has said nothing for more than a minute"
    workers.runner.presence.tell(1, ending=True)
    assert [q.name for q in unserved_queues(store)] == ["plant.press"], "it takes nothing more"


def test_a_worker_says_three_times_in_a_minute_that_it_is_there(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    """However often it is asked to: two signs of life may be lost before it is taken for gone."""
    said = set()
    for _ in range(60):
        workers.runner.presence.tell(0)
        said |= {worker.seen_at for worker in live_workers(store)}
        clock.advance(SECOND)
    assert len(said) == 3


def test_what_waits_for_its_time_or_is_done_waits_for_no_worker(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    stamped(store, "a")
    announce(store, press)
    workers.drain()
    with store.change() as change:
        look.enqueue(change, Order(), project="a", after=timedelta(hours=1))
    clock.advance(A_WHILE)
    assert unserved_queues(store) == []
    clock.advance(timedelta(hours=1))
    assert [q.name for q in unserved_queues(store)] == ["plant.look"]


def test_a_worker_tells_what_became_of_its_attempts(store: Store, workers: ManualWorkers) -> None:
    stamped(store, "a")
    for _ in range(3):
        announce(store, press)
    workers.drain()
    workers.runner.presence.tell(0)
    (worker,) = live_workers(store)
    assert worker.ended["plant.press"]["done"][0] == 3


def test_attempts_are_counted_by_the_names_of_a_hundred_tasks(store: Store) -> None:
    presence = Presence(store, "host:1", [])
    for number in range(150):
        presence.count(f"t{number}", Outcome.DONE, seconds=0.5)
    presence.count("t7", Outcome.LOST, seconds=1)
    presence.tell(0)
    (worker,) = live_workers(store)
    assert len(worker.ended) == 101
    assert worker.ended[OTHERS] == {"done": [50, 25.0]}
    assert worker.ended["t7"] == {"done": [1, 0.5], "lost": [1, 1.0]}


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/plant.db")
    store.ensure(WORKING, PLANT)
    yield store
    store.close()


def test_workers_of_celery_are_heard_of_before_their_first_task(
    plant: Store, tmp_path: Path, valkey_server: Valkey
) -> None:
    valkey_server.flush()
    with Nursery(f"sqlite:///{tmp_path}/plant.db", broker=valkey_server.url, log=tmp_path / "log") as nursery:
        nursery.start("worker")
        soon(lambda: bool(live_workers(plant)))
    assert "plant.press" in live_workers(plant)[0].takes


def test_an_application_that_is_only_made_is_no_worker(plant: Store, valkey_server: Valkey) -> None:
    celery_app(plant, [TASKS], broker=valkey_server.url)
    assert live_workers(plant) == []
