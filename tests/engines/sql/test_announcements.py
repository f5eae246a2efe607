"""Announcements: PostgreSQL's notifications tell of a few new tasks; of many, only that there are some."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import psycopg
import pytest

from penstock import Store, open_store
from penstock.engines.sql import postgres_waiter
from penstock.engines.sql.postgres_waiter import PostgresWaiter
from penstock.errors import Conflict
from penstock.work import WORKING, Task
from tests.conftest import chosen_engines
from tests.work.plant import PLANT, Order, Stamp, look
from tests.work.soon import soon

pytestmark = pytest.mark.skipif("postgres" not in chosen_engines(), reason="PENSTOCK_TEST_ENGINES does not name it")
LONG = 30.0


@pytest.fixture(scope="module")
def url(postgres_server: Any) -> str:
    made: str = postgres_server.create_database("announcements")
    with closing(open_store(made)) as store:
        store.ensure(WORKING, PLANT)
    return made


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with closing(open_store(url)) as store:
        yield store


@pytest.fixture
def waiter(store: Store) -> Iterator[PostgresWaiter]:
    waiter = store.engine.listen()
    assert isinstance(waiter, PostgresWaiter)
    yield waiter
    waiter.close()
    waiter.wait(LONG)


def enqueue(store: Store, times: int = 1, **options: Any) -> list[str]:
    with store.change() as change:
        return [look.enqueue(change, Order(), project="p1", **options) for _ in range(times)]


def heard(waiter: PostgresWaiter) -> list[dict[str, Any]] | None:
    assert waiter.wait(LONG)
    return waiter.heard(Task.__shape__)


def kept(waiter: PostgresWaiter) -> list[str]:
    waiter.busy()
    return waiter._come


def told(store: Store, task_id: str) -> dict[str, Any]:
    task = store.get(Task.at(task_id=task_id))
    return {name: getattr(task, name) for name in ("task_id", "name", "project_id", "due_at")}


def test_a_few_tasks_are_told_as_they_stand(store: Store, waiter: PostgresWaiter) -> None:
    ids = enqueue(store, 3)
    assert heard(waiter) == [told(store, task_id) for task_id in ids]


def test_in_a_store_bound_to_a_project_they_are_told_alike(store: Store, waiter: PostgresWaiter) -> None:
    (task_id,) = enqueue(store.scoped("p1"))
    assert heard(waiter) == [told(store, task_id)]


def test_of_many_and_of_long_ones_it_is_said_that_there_are_some(store: Store, waiter: PostgresWaiter) -> None:
    enqueue(store, 9)
    assert heard(waiter) is None
    with store.change() as change:
        for _ in range(8):
            look.enqueue(change, Order(), project="p" * 1000)
    assert heard(waiter) is None


def test_news_of_a_message_are_none_of_a_task(store: Store, waiter: PostgresWaiter) -> None:
    stamp = Stamp(name="told")
    with store.change() as change:
        change.create(stamp)
        change.emit("stamp.made", stamp)
    assert heard(waiter) == []


def test_of_a_commit_that_is_refused_nobody_hears(store: Store, waiter: PostgresWaiter) -> None:
    store.create(Stamp(name="there"))
    with pytest.raises(Conflict), store.change() as change:
        look.enqueue(change, Order())
        change.create(Stamp(name="there"))
    (task_id,) = enqueue(store)
    assert heard(waiter) == [told(store, task_id)]


def test_what_others_say_there_or_nobody_heard_has_to_be_looked_for(
    store: Store, url: str, waiter: PostgresWaiter
) -> None:
    for text in ("", "hello", '[["work.Task", {"task_id": "x"}]]'):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("select pg_notify('penstock', %s)", (text,))
        assert heard(waiter) is None, text
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'")
    assert heard(waiter) is None, "it may have missed something meanwhile"
    (task_id,) = enqueue(store)
    assert heard(waiter) == [told(store, task_id)]


def test_one_who_is_busy_keeps_few_news_and_the_server_none(
    store: Store, waiter: PostgresWaiter, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [*enqueue(store), *enqueue(store)]
    soon(lambda: len(kept(waiter)) == 2)
    assert heard(waiter) == [told(store, task_id) for task_id in ids], "what came while it was busy is not missed"
    monkeypatch.setattr(postgres_waiter, "_MOST", 2)
    for _ in range(3):
        enqueue(store)
    soon(lambda: kept(waiter) == [""])
    assert heard(waiter) is None
    assert not waiter.wait(0.01)


def test_one_who_cannot_listen_leaves_no_connection_open_and_is_sent_to_look_now_and_then(url: str) -> None:
    """As with a standby, which lets nobody listen: each attempt opens one, and there are only so many."""
    opened: list[psycopg.Connection[Any]] = []

    def unfit() -> psycopg.Connection[Any]:
        opened.append(psycopg.connect(url))
        with suppress(psycopg.errors.DivisionByZero):
            opened[-1].execute("select 1 / 0")  # nothing can be said in this transaction any more
        return opened[-1]

    waiter, began = PostgresWaiter(unfit), time.monotonic()
    assert waiter.wait(0.02), "something may have been told, and nobody has heard it"
    assert time.monotonic() - began > 0.01, "it asks again and again, but not all the time"
    assert [connection.closed for connection in opened] == [True, True]
    waiter.close()
    assert not waiter.wait(LONG)
    assert len(opened) == 2


def test_one_who_waits_no_longer_leaves_no_connection_open(store: Store) -> None:
    waiter: Any = store.engine.listen()
    waiter.close()
    assert not waiter.wait(LONG)
    assert waiter._connection.closed
