"""How soon work goes on: after a kill within ten seconds, after an outage of the store or the broker within five."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest

from penstock import Store, open_store
from penstock.work import WORKING, TaskStatus
from tests.faults.switch import Switch
from tests.servers import Dynoxide, Postgres, Valkey
from tests.work.nursery import Nursery, children, kill
from tests.work.plant import PLANT, look, sleep
from tests.work.soon import soon
from tests.work.test_tasks import announce, the_task

LEASE = timedelta(seconds=60)
"As deployments have it: nothing here may come from a lease that ends."
OUTAGE = 9.0
"Seconds in which pauses have grown to their longest."
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

    def outage(self, part: str) -> float:
        """Seconds until everything is done that came before and while a part was away."""
        self.switches[part].off()
        ids = [announce(self.store, look) for _ in range(8)]
        Event().wait(OUTAGE)
        self.switches[part].on()
        return self._took(*ids)

    def _took(self, *ids: str) -> float:
        began = time.monotonic()
        soon(self.done(*ids), seconds=PATIENCE)
        return time.monotonic() - began


@pytest.fixture(params=["postgres", "dynoxide"])
def through(request: pytest.FixtureRequest) -> tuple[str, int, Callable[[int], str]]:
    """A store's own URL, its port, and its URL at another port."""
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres_server")
        url = server.create_database("recovering")
        return url, server.port, lambda port: url.replace(f":{server.port}/", f":{port}/")
    dynoxide: Dynoxide = request.getfixturevalue("dynoxide_server")
    port = urlsplit(dynoxide.url).port or 0
    return (
        f"dynamodb://us-east-1?endpoint={dynoxide.url}",
        port,
        lambda p: f"dynamodb://us-east-1?endpoint=http://127.0.0.1:{p}",
    )


@pytest.fixture(params=["inline", "all"])
def yard(
    request: pytest.FixtureRequest,
    through: tuple[str, int, Callable[[int], str]],
    valkey_server: Valkey,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Yard]:
    """Threads of one process, or Celery's; warm."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    valkey_server.flush()
    url, port, at = through
    with ExitStack() as stack:
        store = open_store(url)
        stack.callback(store.close)
        store.ensure(WORKING, PLANT)
        switches = {
            "store": stack.enter_context(Switch(port)),
            "broker": stack.enter_context(Switch(valkey_server.port)),
        }
        broker = f"redis://127.0.0.1:{switches['broker'].port}/0"
        nursery = Nursery(at(switches["store"].port), broker=broker, log=tmp_path / "log", lease=LEASE)
        yard = Yard(store, stack.enter_context(nursery), switches, request.param)
        yard.nursery.start(request.param)
        soon(yard.done(announce(store, look)), seconds=PATIENCE)
        yield yard


@pytest.mark.long
def test_after_an_outage_of_the_store_work_goes_on_within_five_seconds(yard: Yard) -> None:
    took = yard.outage("store")
    print(f"store away, {yard.role}: {took:.1f} s")
    assert took <= BACK


@pytest.mark.long
def test_after_an_outage_of_the_broker_work_goes_on_within_five_seconds(yard: Yard) -> None:
    if yard.role == "inline":
        pytest.skip("it has no broker")
    took = yard.outage("broker")
    print(f"broker away: {took:.1f} s")
    assert took <= BACK


@pytest.mark.long
def test_what_a_killed_worker_had_is_taken_up_within_ten_seconds(yard: Yard) -> None:
    task_id = announce(yard.store, sleep)
    soon(lambda: the_task(yard.store, task_id).status is TaskStatus.RUNNING)
    epoch = the_task(yard.store, task_id).lease_epoch or 0
    killed = yard.nursery._started[0]
    for each in (*(c for p in children(killed) for c in children(p)), *children(killed), killed):
        kill(each)
    began = time.monotonic()
    yard.nursery.start(yard.role)
    soon(lambda: (the_task(yard.store, task_id).lease_epoch or 0) > epoch, seconds=PATIENCE)
    took = time.monotonic() - began
    print(f"killed, {yard.role}: {took:.1f} s")
    assert took <= KILLED
