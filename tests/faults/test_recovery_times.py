"""How soon work goes on: after a kill within ten seconds, after an outage of the store or the broker within five.

``pytest -s`` prints a table of what was measured.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import TypeAlias
from urllib.parse import urlsplit

import psycopg
import pytest

from penstock import Store, open_store
from penstock.testing.faults.switch import Switch
from penstock.work import WORKING, TaskOf, TaskStatus
from tests.cli.test_serving import is_ready, serving
from tests.servers import Dynoxide, Postgres, SeaweedFS, Valkey, free_port, require
from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY
from tests.work.nursery import Nursery, children, kill, lives
from tests.work.plant import PLANT, Order, look, shelve, sleep
from tests.work.soon import soon
from tests.work.test_tasks import announce, the_task

BUCKET = "recovering"
LEASE = timedelta(seconds=60)
"As deployments have it: nothing here may come from a lease that ends."
OUTAGE = 9.0
"Seconds in which pauses have grown to their longest."
OBJECTS_OUTAGE, STOPPED = 30.0, 120.0
BACK, KILLED = 5.0, 10.0
PATIENCE = 150.0


@dataclass
class Yard:
    """Workers on a store and a broker that can be taken away."""

    store: Store
    nursery: Nursery
    switches: dict[str, Switch]
    role: str

    def done(self, *ids: str) -> Callable[[], bool]:
        return lambda: all(the_task(self.store, i).status is TaskStatus.DONE for i in ids)

    def outage(self, part: str, task: TaskOf[Order] = look, seconds: float = OUTAGE) -> float:
        """Seconds until everything is done that came just before and while a part was away."""
        ids = [announce(self.store, task) for _ in range(30)]
        self.switches[part].off()
        ids += [announce(self.store, task) for _ in range(8)]
        Event().wait(seconds)
        self.switches[part].on()
        return self.took(*ids)

    def took(self, *ids: str) -> float:
        """Seconds until all of these are done."""
        began = time.monotonic()
        soon(self.done(*ids), seconds=PATIENCE)
        return time.monotonic() - began

    def taken_again(self, task_id: str, epoch: int) -> float:
        """Seconds until another attempt at a task has begun."""
        began = time.monotonic()
        soon(lambda: (the_task(self.store, task_id).lease_epoch or 0) > epoch, seconds=PATIENCE)
        return time.monotonic() - began


Times: TypeAlias = list[tuple[str, str, float]]
on_postgres = pytest.mark.parametrize("through", ["postgres"], indirect=True)


@pytest.fixture(scope="module")
def times() -> Iterator[Times]:
    """What was measured, as a table for whoever asks with -s."""
    times: Times = []
    yield times
    print("\n\n| what happened | workers | work went on after |\n|---|---|---|")
    for what, role, took in times:
        print(f"| {what} | {'threads' if role == 'inline' else 'Celery'} | {took:.1f} s |")


@pytest.fixture(params=["postgres", "dynoxide"])
def through(request: pytest.FixtureRequest) -> Iterator[tuple[str, int, Callable[[int], str]]]:
    """A store's own URL, its port, and its URL at another port. Nobody finds there what another test has left to do."""
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres_server")
        url = server.create_database("recovering")
        yield url, server.port, lambda port: url.replace(f":{server.port}/", f":{port}/")
        return
    with require(Dynoxide()) as dynoxide:
        yield (
            f"dynamodb://us-east-1?endpoint={dynoxide.url}",
            urlsplit(dynoxide.url).port or 0,
            lambda p: f"dynamodb://us-east-1?endpoint=http://127.0.0.1:{p}",
        )


@pytest.fixture(scope="module")
def bucket(seaweedfs_server: SeaweedFS) -> SeaweedFS:
    """One bucket, written to once: the first write to it takes SeaweedFS seconds."""
    seaweedfs_server.create_bucket(BUCKET)
    seaweedfs_server.client().put_object(Bucket=BUCKET, Key="first", Body=b"")
    return seaweedfs_server


@pytest.fixture(params=["inline", "all"])
def yard(
    request: pytest.FixtureRequest,
    through: tuple[str, int, Callable[[int], str]],
    valkey_server: Valkey,
    bucket: SeaweedFS,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Yard]:
    """Threads of one process, or Celery's; warm."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    valkey_server.flush()
    url, port, at = through
    with ExitStack() as stack:
        store = open_store(url)
        stack.callback(store.close)
        store.ensure(WORKING, PLANT)
        switches = {
            "store": stack.enter_context(Switch(port)),
            "broker": stack.enter_context(Switch(valkey_server.port)),
            "objects": stack.enter_context(Switch(bucket.port)),
        }
        objects = f"s3://{BUCKET}?region=us-east-1&endpoint=http://127.0.0.1:{switches['objects'].port}"
        broker = f"redis://127.0.0.1:{switches['broker'].port}/0"
        nursery = Nursery(at(switches["store"].port), broker=broker, objects=objects, log=tmp_path / "log", lease=LEASE)
        yard = Yard(store, stack.enter_context(nursery), switches, request.param)
        yard.nursery.start(request.param)
        soon(yard.done(announce(store, look)), seconds=PATIENCE)
        yield yard


@pytest.mark.long
def test_after_an_outage_of_the_store_work_goes_on_within_five_seconds(yard: Yard, times: Times) -> None:
    took = yard.outage("store")
    times.append(("the store was away", yard.role, took))
    assert took <= BACK


@pytest.mark.long
def test_after_an_outage_of_the_broker_work_goes_on_within_five_seconds(yard: Yard, times: Times) -> None:
    if yard.role == "inline":
        pytest.skip("it has no broker")
    took = yard.outage("broker")
    times.append(("the broker was away", yard.role, took))
    assert took <= BACK


@pytest.mark.long
@pytest.mark.timeout(400)
@on_postgres
def test_after_half_a_minute_without_files_work_goes_on_within_five_seconds(yard: Yard, times: Times) -> None:
    soon(yard.done(announce(yard.store, shelve)), seconds=PATIENCE)
    took = yard.outage("objects", shelve, seconds=OBJECTS_OUTAGE)
    times.append(("the object store was away for 30 s", yard.role, took))
    assert took <= BACK


@pytest.mark.long
@pytest.mark.timeout(400)
@on_postgres
@pytest.mark.parametrize("yard", ["inline"], indirect=True)
def test_when_all_of_the_api_is_killed_workers_go_on_and_it_answers_soon_after_its_restart(
    yard: Yard, times: Times, through: tuple[str, int, Callable[[int], str]], tmp_path: Path
) -> None:
    command = ("serve", "--processes", "2", "--workers", "none")
    port = free_port()
    with serving(tmp_path, *command, at=port, PENSTOCK_STORE=through[0]) as (process, url):
        soon(lambda: is_ready(url), seconds=PATIENCE)
        family = [process.pid, *children(process.pid)]
        assert len(family) == 4, "two who answer, and one for the rest"
        for each in family:
            kill(each)
        process.wait(10)
        soon(lambda: not any(lives(each) for each in family))
        assert not is_ready(url)
        soon(yard.done(*[announce(yard.store, look) for _ in range(30)]), seconds=BACK)
    began = time.monotonic()
    with serving(tmp_path, *command, at=port, PENSTOCK_STORE=through[0]) as (_, url):
        soon(lambda: is_ready(url), seconds=PATIENCE)
        took = time.monotonic() - began
    times.append(("all of the API was killed, and started again", yard.role, took))
    assert took <= KILLED


@pytest.mark.long
def test_what_a_killed_worker_had_is_taken_up_within_ten_seconds(yard: Yard, times: Times) -> None:
    task_id = announce(yard.store, sleep)
    soon(lambda: the_task(yard.store, task_id).status is TaskStatus.RUNNING)
    epoch = the_task(yard.store, task_id).lease_epoch or 0
    killed = yard.nursery._started[0]
    for each in (*(c for p in children(killed) for c in children(p)), *children(killed), killed):
        kill(each)
    yard.nursery.start(yard.role)
    took = yard.taken_again(task_id, epoch)
    times.append(("all workers were killed", yard.role, took))
    assert took <= KILLED


@pytest.mark.long
@pytest.mark.parametrize("yard", ["all"], indirect=True)
def test_what_one_killed_process_of_a_pool_had_is_taken_up_within_ten_seconds(yard: Yard, times: Times) -> None:
    task_id = announce(yard.store, sleep)
    soon(lambda: the_task(yard.store, task_id).status is TaskStatus.RUNNING)
    task = the_task(yard.store, task_id)
    kill(int((task.lease_owner or "").split(":")[1]))
    took = yard.taken_again(task_id, task.lease_epoch or 0)
    times.append(("one process of a pool was killed", yard.role, took))
    assert took <= KILLED


@pytest.mark.long
@on_postgres
def test_connections_that_are_cut_are_made_anew_at_once(yard: Yard, times: Times) -> None:
    ids = [announce(yard.store, look) for _ in range(30)]
    yard.switches["store"].off()
    yard.switches["store"].on()
    took = yard.took(*ids)
    times.append(("connections to the store were cut", yard.role, took))
    assert took <= BACK


@pytest.mark.long
@on_postgres
def test_when_connections_are_free_again_work_goes_on_within_five_seconds(
    yard: Yard, times: Times, postgres_server: Postgres
) -> None:
    with ExitStack() as taken:
        yard.switches["store"].off()
        with suppress(psycopg.OperationalError):
            while True:
                taken.enter_context(psycopg.connect(postgres_server.url))
        ids = [announce(yard.store, look) for _ in range(8)]
        yard.switches["store"].on()
        Event().wait(OUTAGE)
        assert not yard.done(*ids)(), "there is none for the workers"
    took = yard.took(*ids)
    times.append(("no connection was free", yard.role, took))
    assert took <= BACK


@pytest.mark.long
@pytest.mark.timeout(400)
@on_postgres
def test_what_a_worker_had_that_stands_still_is_done_by_another_after_a_lease(yard: Yard, times: Times) -> None:
    task_id = announce(yard.store, sleep)
    soon(lambda: the_task(yard.store, task_id).status is TaskStatus.RUNNING)
    task = the_task(yard.store, task_id)
    stopped = int((task.lease_owner or "").split(":")[1])
    began = time.monotonic()
    os.kill(stopped, signal.SIGSTOP)
    try:
        yard.nursery.start(yard.role)
        took = yard.taken_again(task_id, task.lease_epoch or 0)
        Event().wait(STOPPED - (time.monotonic() - began))
        taken = the_task(yard.store, task_id)
    finally:
        os.kill(stopped, signal.SIGCONT)
    times.append(("a worker stood still for two minutes", yard.role, took))
    assert took <= LEASE.total_seconds() + KILLED
    assert yard.took(*[announce(yard.store, look) for _ in range(30)]) <= BACK
    now = the_task(yard.store, task_id)
    assert (now.lease_owner, now.lease_epoch) == (taken.lease_owner, taken.lease_epoch), "it is no longer the first's"


@pytest.mark.long
@pytest.mark.timeout(400)
@on_postgres
@pytest.mark.parametrize("yard", ["all"], indirect=True)
def test_what_a_broker_forgets_is_told_again_within_seconds(yard: Yard, times: Times, valkey_server: Valkey) -> None:
    ids = [announce(yard.store, look) for _ in range(60)]
    valkey_server.flush()
    took = yard.took(*ids)
    times.append(("the broker lost its memory", yard.role, took))
    assert took <= 3 * BACK
