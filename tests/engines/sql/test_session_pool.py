"""A process has so many sessions with PostgreSQL and no more; who finds none waits in turn, and not for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from penstock import Store, the
from penstock.engines.sql.connections import Connections
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.isolation import TENANT
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.session import Session
from penstock.engines.sql.session_pool import SessionPool
from penstock.errors import Busy, Misconfigured, Unavailable
from penstock.testing.entities import Counter
from tests.conftest import chosen_engines
from tests.forked import forked
from tests.servers import Postgres

ADDRESS = "postgresql://u@127.0.0.1:1/d"


class Line(Session):
    """A session with nobody: it opens and closes, and no more."""

    def __init__(self) -> None:
        self.ended = self.is_stuck = False

    def close(self) -> None:
        self.ended = True
        if self.is_stuck:
            raise OSError("it cannot be closed")

    def __del__(self, *_: object) -> None:
        pass


class Opened:
    """Counts the sessions that are open."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.fails = False

    def __call__(self, role: str | None) -> Session:
        if self.fails:
            raise psycopg.OperationalError("nobody there")
        self.lines.append(Line())
        return self.lines[-1]

    @property
    def count(self) -> int:
        return sum(not line.ended for line in self.lines)


@pytest.fixture
def opened() -> Opened:
    return Opened()


def taker(pool: SessionPool, role: str | None = None) -> tuple[threading.Thread, list[Session | Busy]]:
    """Somebody who waits for a session in another thread."""
    got: list[Session | Busy] = []

    def take() -> None:
        try:
            got.append(pool.take(role))
        except Busy as busy:
            got.append(busy)

    before = len(pool._waiting)
    thread = threading.Thread(target=take)
    thread.start()
    while len(pool._waiting) == before and thread.is_alive():
        pass
    return thread, got


def test_the_one_that_was_given_back_last_is_taken_first(opened: Opened) -> None:
    pool = SessionPool(opened, most=3)
    one, two = pool.take(None), pool.take(None)
    pool.keep(one, None)
    pool.keep(two, None)
    assert pool.take(None) is two
    assert (opened.count, pool.count) == (2, 2)


def test_whoever_finds_none_waits_in_turn(opened: Opened) -> None:
    pool = SessionPool(opened, most=1)
    only = pool.take(None)
    first, got_first = taker(pool)
    second, got_second = taker(pool)
    pool.keep(only, None)
    first.join(10)
    assert got_first == [only]
    assert got_second == [], "who came later is served later"
    pool.keep(only, None)
    second.join(10)
    assert got_second == [only]
    assert opened.count == 1


def test_whoever_comes_now_does_not_overtake_those_who_wait(opened: Opened) -> None:
    pool = SessionPool(opened, most=1)
    only = pool.take(None)
    first, got_first = taker(pool)
    pool._resting[None] = [only]  # given back, and nobody was called yet
    got_late: list[Session] = []
    late = threading.Thread(target=lambda: got_late.append(pool.take(None)))
    late.start()
    first.join(10)
    assert got_first == [only]
    pool.keep(only, None)
    late.join(10)
    assert got_late == [only]


def test_patience_ends_with_what_to_do(opened: Opened) -> None:
    pool = SessionPool(opened, most=2, patience=0.01)
    pool.take(None)
    pool.take(TENANT)
    with pytest.raises(Busy, match=r"all 2 connections .* connections= "):
        pool.take(None)
    assert not pool._waiting


def test_one_limit_holds_for_all_roles_and_a_session_at_rest_makes_room_for_another(opened: Opened) -> None:
    pool = SessionPool(opened, most=2, patience=0.01)
    pool.keep(pool.take(None), None)
    taken = [pool.take(TENANT), pool.take(TENANT)]
    assert [line.ended for line in opened.lines] == [True, False, False]
    assert opened.count == 2
    pool.keep(taken[0], TENANT)
    other = pool.take(None)
    assert other is not taken[0]
    assert opened.count == 2


def test_the_place_of_a_lost_session_is_free_again(opened: Opened) -> None:
    pool = SessionPool(opened, most=1)
    lost = pool.take(None)
    thread, got = taker(pool)
    pool.lose(lost)
    thread.join(10)
    assert isinstance(got[0], Session)
    assert got[0] is not lost
    assert opened.count == 1


def test_who_cannot_open_one_leaves_the_place_to_the_next(opened: Opened) -> None:
    pool = SessionPool(opened, most=1, patience=0.01)
    opened.fails = True
    for _ in range(3):
        with pytest.raises(psycopg.OperationalError):
            pool.take(None)
    opened.fails = False
    pool.take(None)
    assert pool.count == 1


def test_a_session_that_cannot_be_used_is_replaced_in_its_place(opened: Opened) -> None:
    pool = SessionPool(opened, most=1)
    pool.replace(pool.take(None), None)
    assert [line.ended for line in opened.lines] == [True, False]
    assert pool.count == 1


def test_what_rests_for_long_is_closed_and_what_works_is_not(opened: Opened) -> None:
    now = [0.0]
    pool = SessionPool(opened, most=10, rest=60.0, now=lambda: now[0])
    burst = [pool.take(None) for _ in range(10)]
    for session in burst:
        pool.keep(session, None)
    for minute in range(1, 4):
        now[0] = minute * 61.0
        pool.keep(pool.take(None), None)
    assert opened.count == 1
    assert pool.count == 1


def test_closing_leaves_what_is_at_work(opened: Opened) -> None:
    pool = SessionPool(opened, most=3)
    working, bound, resting = pool.take(None), pool.take(TENANT), pool.take(None)
    pool.keep(bound, TENANT)
    pool.keep(resting, None)
    pool.close(TENANT)
    assert opened.count == 2
    pool.close()
    assert opened.count == 1
    pool.keep(working, None)
    assert pool.take(None) is working


def test_a_hundred_threads_never_have_more_than_there_may_be(opened: Opened) -> None:
    pool = SessionPool(opened, most=5)
    most = [0]

    def work(number: int) -> None:
        role = TENANT if number % 3 else None
        for turn in range(50):
            session = pool.take(role)
            most[0] = max(most[0], opened.count)
            if (number + turn) % 17 == 0:
                pool.lose(session)
            else:
                pool.keep(session, role)

    with ThreadPoolExecutor(100) as threads:
        list(threads.map(work, range(100)))
    assert most[0] <= 5
    assert pool.count == opened.count <= 5
    pool.close()
    assert (pool.count, opened.count) == (0, 0)


def test_a_forked_child_begins_with_none(opened: Opened) -> None:
    pool = SessionPool(opened, most=1)
    parents = pool.take(None)
    assert forked(lambda: pool.take(None) is not parents and pool.count == 1) == 0
    assert pool.count == 1


# The URL


@pytest.mark.parametrize(
    ("query", "most"),
    [("", 20), ("?connections=1", 1), ("?connections=64&pool=session", 64), ("?application_name=x&connections=99", 99)],
)
def test_the_url_says_how_many(query: str, most: int) -> None:
    connections = Connections(ADDRESS + query)
    assert connections.most == most
    assert connections.url == ADDRESS + ("?application_name=x" if "application_name" in query else "")


@pytest.mark.parametrize(
    "query",
    ["0", "-1", "many", "", "1.5", "10000", "٣", "9" * 5000, "3&connections=4"],
)
def test_a_number_that_cannot_be_right_is_refused(query: str) -> None:
    with pytest.raises(Misconfigured, match="from 1 to 9999") as refused:
        Connections(f"{ADDRESS}?connections={query}")
    assert len(str(refused.value)) < 200


# A real server


@pytest.fixture
def url(request: pytest.FixtureRequest) -> str:
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.create_database("pool")


@pytest.fixture
def four(url: str) -> Iterator[Store]:
    """A store with at most four sessions."""
    store = Store(SqlEngine(PostgresConnector(f"{url}?connections=4")))
    store.engine.ensure([Counter.__shape__])
    store.put(Counter(name="c"))
    yield store
    store.close()


def sessions(url: str) -> int:
    with psycopg.connect(url) as looking:
        return others(looking)


def others(looking: psycopg.Connection[Any]) -> int:
    text = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    return looking.execute(text).fetchall()[0][0]  # type: ignore[no-any-return]


def test_a_burst_of_clients_shares_the_sessions_there_may_be(four: Store, url: str) -> None:
    seen: list[int] = []
    over = threading.Event()

    def look() -> None:
        # By one session all the time: one that was just closed is seen for a while.
        with psycopg.connect(url, autocommit=True) as looking:
            while others(looking) > 1:
                pass  # the one that made the table
            begun.set()
            while not over.is_set():
                seen.append(others(looking))

    def burst(_: int) -> None:
        for _ in range(20):
            four.patch(Counter.at(name="c"), the(Counter.total).add(1))
            four.get(Counter.at(name="c"))

    begun = threading.Event()
    looking = threading.Thread(target=look)
    looking.start()
    assert begun.wait(30)
    with ThreadPoolExecutor(24) as clients:
        list(clients.map(burst, range(24)))
    over.set()
    looking.join()
    assert four.get(Counter.at(name="c")).total == 480
    assert 1 <= max(seen) <= 4


def test_sessions_that_broke_make_room_for_others(four: Store, url: str) -> None:
    with ThreadPoolExecutor(4) as clients:
        list(clients.map(lambda _: four.get(Counter.at(name="c")), range(40)))
    with psycopg.connect(url, autocommit=True) as admin:
        for _ in range(3):
            admin.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
            with ThreadPoolExecutor(12) as clients:
                list(clients.map(lambda _: four.get(Counter.at(name="c")), range(40)))
    assert sessions(url) <= 4


def test_whoever_finds_all_in_use_is_told_to_come_again(url: str) -> None:
    engine: Any = SqlEngine(PostgresConnector(f"{url}?connections=1"))
    connections = engine.connector.connections
    engine.connector.pool = SessionPool(lambda role: connections.connect(role=role), most=1, patience=0.05)
    held = engine.connector.pool.take(None)
    with pytest.raises(Busy) as busy:
        engine.connector.rows("select 1", ())
    assert isinstance(busy.value, Unavailable)
    engine.connector.pool.keep(held, None)
    assert engine.connector.rows("select 1", ()) == [(1,)]
    engine.close()


def every_verb(store: Store) -> list[Callable[[], object]]:
    ref = Counter.at(name="c")
    return [
        lambda: store.put(Counter(name="c")),
        lambda: store.get(ref),
        lambda: store.get_many([ref, Counter.at(name="d")]),
        lambda: store.patch(ref, the(Counter.total).add(1)),
        lambda: store.put_many([Counter(name=str(n)) for n in range(12)]),
        lambda: store.delete(ref),
        lambda: store.engine.expire([Counter.__shape__], now=store.clock.now()),
    ]


def test_no_verb_needs_a_second_session_while_it_has_one(url: str) -> None:
    """With a single one, whoever took two would wait for itself."""
    store = Store(SqlEngine(PostgresConnector(f"{url}?connections=1")))
    store.ensure()
    store.engine.ensure([Counter.__shape__])
    for verb in every_verb(store):
        verb()
    with store.change(by="ann") as change:
        for n in range(12):
            change.patch(Counter.at(name=str(n)), the(Counter.total).add(1))
    scoped = store.scoped("p")
    assert scoped.get_many([]) == []
    store.close()
