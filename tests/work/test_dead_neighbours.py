"""A process that was killed on this machine is not waited for; one that only stands still is."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock import Store, open_store
from penstock.errors import STORE, Unavailable
from penstock.kernel.lease import Duty, take_named
from penstock.kernel.outages import outages_of
from penstock.work import TaskStatus
from penstock.work.rescue import Rescuer
from penstock.work.runner import Runner
from penstock.work.task import LEASE
from penstock.work.worker_presence import Presence, WorkerPresence
from penstock.work.working import WORKING
from tests.work.plant import PLANT, TASKS, look
from tests.work.test_tasks import announce, the_task

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is ever proven")
WORKS = """
import sys
from datetime import timedelta
from penstock import open_store
from penstock.kernel.lease import Duty, take_named
from penstock.work.runner import Runner
from tests.work.plant import TASKS

store = open_store(sys.argv[1])
runner = Runner(store, [TASKS])
assert len(runner.take(1)) == 1
runner.presence.tell(1)
assert Duty(store, "relay", owner=runner.owner, period=timedelta(minutes=1)).hold()
assert take_named(store, "sweep", owner=runner.owner, period=timedelta(hours=1))
print(runner.owner, flush=True)
input()
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/plant.db"


def test_the_work_of_a_neighbour_who_was_killed_goes_on_at_once(url: str) -> None:
    store = open_store(url)
    store.ensure(WORKING, PLANT)
    task_id = announce(store, look)
    with _neighbour(url) as (neighbour, name):
        try:
            neighbour.send_signal(signal.SIGSTOP)
            assert _inherited(store) == (0, False, False)
            assert the_task(store, task_id).lease_owner == name, "one that stands still may be woken"
        finally:
            neighbour.kill()
    rescuer = Rescuer(store, [TASKS], lease=LEASE)
    assert rescuer.run_once() == 1
    task = the_task(store, task_id)
    assert (task.status, task.error_class) == (TaskStatus.WAITING, "WorkerLost")
    assert _inherited(store) == (0, True, True)
    for _ in range(3):
        rescuer.run_once()
    assert store.lookup(WorkerPresence.at(worker=name)) is None, "it is not shown for an hour"
    store.close()


def test_what_a_dead_neighbour_had_is_looked_for_three_times_as_an_index_may_lag(store: Store) -> None:
    asked = [sys.executable, "-c", "from penstock.ports.worker_name import worker_name; print(worker_name())"]
    name = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    presence = Presence(store, name, ["look"])
    presence.tell(1)
    rescuer = Rescuer(store, [TASKS], lease=LEASE)
    for _ in range(2):
        assert rescuer.run_once() == 0
        assert store.lookup(WorkerPresence.at(worker=name)) is not None
    task_id = announce(store, look)
    Runner(store, [TASKS], owner=name).take()  # long ago; only now it shows
    assert rescuer.run_once() == 1
    assert the_task(store, task_id).status is TaskStatus.WAITING
    for _ in range(3):
        rescuer.run_once()
    assert store.lookup(WorkerPresence.at(worker=name)) is None


def test_a_death_is_believed_at_once_also_where_the_store_was_away_a_moment_ago(url: str) -> None:
    """The dead renew nothing, however long one waits; only those who may live are given the time to."""
    store = open_store(url)
    store.ensure(WORKING, PLANT)
    task_id = announce(store, look)
    rescuer = Rescuer(store, [TASKS], lease=LEASE)
    with _neighbour(url) as (neighbour, name):
        outages_of(store).met(Unavailable("one request had no answer", part=STORE))
        assert rescuer.run_once() == 0
        assert the_task(store, task_id).lease_owner == name
        neighbour.kill()
    assert rescuer.run_once() == 1
    assert the_task(store, task_id).status is TaskStatus.WAITING
    store.close()


@contextmanager
def _neighbour(url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that has taken a task, and its name."""
    works = [sys.executable, "-c", WORKS, url]
    with subprocess.Popen(works, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as neighbour:
        assert neighbour.stdout is not None
        yield neighbour, neighbour.stdout.readline().strip()


def _inherited(store: Store) -> tuple[int, bool, bool]:
    """How many tasks were taken over, and whether each of two leases was."""
    duty = Duty(store, "relay", owner="heir", period=LEASE)
    rescued = Rescuer(store, [TASKS], lease=LEASE).run_once()
    return rescued, duty.hold() is not None, take_named(store, "sweep", owner="heir", period=LEASE) is not None
