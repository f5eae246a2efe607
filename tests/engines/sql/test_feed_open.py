"""The feed of PostgreSQL goes on while others write, and tells what they have written when they have ended."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import psycopg
import pytest

from penstock import Store
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.postgres_log_schema import NUMBERS, UNDER_WAY
from penstock.errors import FeedTrimmed, InvalidCursor
from penstock.kernel.handle import put
from penstock.operations.feed_entry import FeedEntry
from penstock.testing.entities import SUITE, Alarm, Watched
from tests.servers import Postgres

Session = psycopg.Connection[tuple[Any, ...]]
WATCHED, ALARMS = "penstock_suite.watched", "penstock_suite.alarm"


@pytest.fixture
def url(postgres_server: Postgres) -> str:
    return postgres_server.create_database("open")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with closing(Store(SqlEngine(PostgresConnector(url)))) as opened:
        opened.engine.ensure(SUITE.shapes)
        yield opened


@pytest.fixture
def connect(url: str) -> Iterator[Any]:
    """Opens sessions in which nothing commits by itself."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(_session(url))


@contextmanager
def _session(url: str) -> Iterator[Session]:
    session = psycopg.connect(url)
    try:
        yield session
    finally:
        session.close()


def write(session: Session, label: str, *, count: int = 0) -> None:
    session.execute(
        f"insert into {WATCHED} (shelf, label, count, seen) values ('s', %s, %s, 0) "
        f"on conflict (shelf, label) do update set count = excluded.count".encode(),
        (label, count),
    )


class Reader:
    """Somebody who follows the feed from a place, and notes what is told."""

    def __init__(self, store: Store) -> None:
        self._engine = store.engine
        self.position = store.engine.feed_end(SUITE.shapes)

    def next(self, *, limit: int = 100) -> list[str]:
        """What is new, by its labels."""
        part = self._engine.changes(SUITE.shapes, after=self.position, limit=limit)
        self.position = part.position
        return [label(e) for e in part]


def label(entry: FeedEntry) -> str:
    return str(entry.key.get("label") or entry.key["bell"])


@pytest.fixture
def reader(store: Store) -> Reader:
    return Reader(store)


def test_who_has_written_elsewhere_and_is_open_is_not_waited_for(store: Store, reader: Reader, connect: Any) -> None:
    other = connect()
    other.execute("create table elsewhere (n int)")
    other.execute("insert into elsewhere values (1)")
    store.put(Watched(shelf="s", label="a"))
    assert reader.next() == ["a"]
    other.commit()
    assert reader.next() == []


def test_who_writes_in_another_database_is_not_waited_for(
    store: Store, reader: Reader, postgres_server: Postgres
) -> None:
    url = postgres_server.create_database("another")
    with closing(Store(SqlEngine(PostgresConnector(url)))) as another, _session(url) as session:
        another.engine.ensure(SUITE.shapes)
        write(session, "theirs")
        session.execute("set constraints all immediate")  # so that its place is taken, and it is under way
        store.put(Watched(shelf="s", label="ours"))
        assert reader.next() == ["ours"]
        session.commit()
        assert reader.next() == []


def test_who_cannot_say_that_he_is_under_way_does_not_end(store: Store, reader: Reader, connect: Any) -> None:
    """Somebody else has the lock by which he says so, and has it alone: the feed would pass over what he writes."""
    holder, writer = connect(), connect()
    place = "coalesce(pg_sequence_last_value('penstock.feed_order_place_seq'), 0)"
    holder.execute(f"select pg_advisory_xact_lock({UNDER_WAY * NUMBERS} + {place})")
    writer.execute("set lock_timeout = '50ms'")
    writer.commit()
    write(writer, "a")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        writer.commit()
    assert reader.next() == []
    holder.rollback()
    write(writer, "b")
    writer.commit()
    assert reader.next() == ["b"]


def test_who_has_written_to_the_log_and_is_open_is_told_when_he_has_ended(
    store: Store, reader: Reader, connect: Any
) -> None:
    slow = connect()
    write(slow, "slow")
    store.put(Watched(shelf="s", label="quick"))
    assert reader.next() == ["quick"]
    write(slow, "slow again")
    store.put(Watched(shelf="s", label="quicker"))
    assert reader.next() == ["quicker"]
    slow.commit()
    assert reader.next() == ["slow", "slow again"]


def test_an_old_transaction_that_writes_to_the_log_late_is_told_late(
    store: Store, reader: Reader, connect: Any
) -> None:
    old = connect()
    old.execute("select pg_current_xact_id()")
    store.put(Watched(shelf="s", label="a"))
    assert reader.next() == ["a"]
    write(old, "late")
    store.put(Watched(shelf="s", label="b"))
    assert reader.next() == ["b"]
    old.commit()
    assert reader.next() == ["late"]


def test_whoever_has_taken_a_place_and_is_not_visible_yet_is_waited_for(
    store: Store, reader: Reader, connect: Any
) -> None:
    """The moment within a commit, held open: a place is taken, later ones are seen, and this one is not."""
    first, third = connect(), connect()
    store.put(Watched(shelf="s", label="before"))
    write(first, "first")
    first.execute("set constraints all immediate")
    store.put(Watched(shelf="s", label="second"))
    assert reader.next() == ["before"]
    write(third, "third")
    third.execute("set constraints all immediate")
    first.commit()
    assert reader.next() == ["first", "second"]
    third.commit()
    assert reader.next() == ["third"]


def test_what_a_transaction_writes_after_its_place_is_taken_is_told_with_the_rest(
    store: Store, reader: Reader, connect: Any
) -> None:
    early = connect()
    write(early, "a")
    early.execute("set constraints all immediate")
    write(early, "b")
    store.put(Watched(shelf="s", label="c"))
    early.commit()
    assert reader.next() == ["a", "b", "c"]


def test_of_two_that_change_in_one_commit_one_is_not_told_without_the_other(
    store: Store, reader: Reader, connect: Any
) -> None:
    """Also if others write between them, and are still open."""
    whole, between = connect(), connect()
    write(whole, "first half")
    write(between, "between")
    whole.execute(f"insert into {ALARMS} (shelf, bell) values ('s', 'second half')".encode())
    whole.commit()
    assert reader.next() == ["first half", "second half"]
    between.commit()
    assert reader.next() == ["between"]


def test_changes_of_one_record_are_told_in_the_order_in_which_they_were_made(
    store: Store, reader: Reader, connect: Any
) -> None:
    """Whoever wrote first of all wrote this record last."""
    last, first = connect(), connect()
    write(last, "other")
    write(first, "shared", count=1)
    first.commit()
    write(last, "shared", count=2)
    last.commit()
    told = store.engine.changes(SUITE.shapes)
    assert [e.new.count for e in told if label(e) == "shared"] == [1, 2]


def test_what_is_taken_back_is_not_told_and_not_waited_for(store: Store, reader: Reader, connect: Any) -> None:
    other = connect()
    write(other, "undone")
    other.execute("set constraints all immediate")
    store.put(Watched(shelf="s", label="a"))
    assert reader.next() == []
    other.rollback()
    assert reader.next() == ["a"]


def test_a_savepoint_that_is_taken_back_leaves_the_rest_to_be_told(store: Store, reader: Reader, connect: Any) -> None:
    other = connect()
    other.execute("savepoint one")
    write(other, "undone")
    other.execute("set constraints all immediate")
    other.execute("rollback to savepoint one")
    other.execute("set constraints all deferred")
    store.put(Watched(shelf="s", label="between"))
    assert reader.next() == ["between"]
    write(other, "kept")
    other.execute("savepoint two")
    write(other, "kept too")
    other.execute("release savepoint two")
    other.execute("savepoint three")
    write(other, "undone as well")
    other.execute("rollback to savepoint three")
    other.commit()
    assert reader.next() == ["kept", "kept too"]


def test_a_writer_that_dies_is_not_waited_for(store: Store, reader: Reader, connect: Any, url: str) -> None:
    dying = connect()
    write(dying, "never")
    dying.execute("set constraints all immediate")
    store.put(Watched(shelf="s", label="a"))
    assert reader.next() == []
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("select pg_terminate_backend(%s, 10000)", (dying.info.backend_pid,))
    assert reader.next() == ["a"]


def test_a_prepared_transaction_is_told_when_it_is_committed(
    store: Store, reader: Reader, connect: Any, url: str
) -> None:
    other = connect()
    write(other, "prepared")
    other.execute("prepare transaction 'held'")
    store.put(Watched(shelf="s", label="after"))
    assert reader.next() == [], "its place is before that of the other"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("commit prepared 'held'")
    assert reader.next() == ["prepared", "after"]


def test_a_bound_reader_waits_for_the_same_and_hears_the_same(store: Store, connect: Any, url: str) -> None:
    from tests.kernel.test_scope import SCOPED, Parcel

    store.ensure(SCOPED)
    scoped = store.scoped("p1")
    position = scoped.engine.feed_end(SCOPED.shapes)
    other = connect()
    other.execute("insert into scoped.parcels (project_id, shelf, number) values ('p1', 's', 1)")
    scoped.put(Parcel(project_id="p1", shelf="s", number=2))
    store.put(Parcel(project_id="p2", shelf="s", number=3))
    told = scoped.engine.changes(SCOPED.shapes, after=position)
    assert [e.key["number"] for e in told] == [2]
    other.execute("set constraints all immediate")
    scoped.put(Parcel(project_id="p1", shelf="s", number=4))
    assert scoped.engine.changes(SCOPED.shapes, after=told.position) == []
    other.commit()
    assert [e.key["number"] for e in scoped.engine.changes(SCOPED.shapes, after=told.position)] == [1, 4]


def test_under_constant_load_all_is_told_once_and_soon(store: Store, url: str) -> None:
    """Writers of one and of several records, some of whom are open for a while; the feed is read all the time."""
    reader, told, rounds = Reader(store), list[str](), 0
    stop = threading.Event()
    written: list[list[str]] = [[] for _ in range(4)]

    def work(number: int) -> None:
        with _session(url) as session:
            n = 0
            while not stop.is_set():
                labels = [f"{number}-{n + k}" for k in range(1 + number)]
                for one in labels:
                    write(session, one)
                session.commit()
                written[number] += labels
                n += len(labels)

    writers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    with _session(url) as idle:
        write(idle, "open all the while")
        for writer in writers:
            writer.start()
        while len(told) < 400:
            told += reader.next(limit=50)
            rounds += 1
            assert rounds < 20_000
        stop.set()
        for writer in writers:
            writer.join()
        while new := reader.next():
            told += new
        assert sorted(told) == sorted(one for labels in written for one in labels)
        for number in range(4):
            assert [one for one in told if one.startswith(f"{number}-")] == written[number]
        idle.commit()
        assert reader.next() == ["open all the while"]


# Positions of earlier versions


def _as_it_was(url: str) -> None:
    """The log of an earlier version, which was ordered by the ids of transactions."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("drop trigger penstock_place_commit on penstock.changes")
        admin.execute("drop function penstock.place_commit()")
        admin.execute("drop table penstock.feed_order, penstock.feed_trimmed")
        admin.execute("alter table penstock.changes drop column at")


def test_a_position_of_an_earlier_version_is_understood(store: Store, url: str) -> None:
    _as_it_was(url)
    store.commit([put(Watched(shelf="s", label=x)) for x in "ab"])
    for x in "cd":
        store.put(Watched(shelf="s", label=x))
    with psycopg.connect(url) as session:
        log = session.execute(
            "select transaction::text, position, new ->> 'label' from penstock.changes order by transaction, position"
        ).fetchall()
    store.engine.ensure(SUITE.shapes)
    store.put(Watched(shelf="s", label="e"))
    labels = [*(row[2] for row in log), "e"]
    assert [label(e) for e in store.engine.changes(SUITE.shapes)] == labels
    for n, (transaction, position, _) in enumerate(log):
        told = store.engine.changes(SUITE.shapes, after=f"{transaction}:{position}")
        assert [label(e) for e in told] == labels[n + 1 :]
        assert store.engine.changes(SUITE.shapes, after=told.position) == []
    end = f"{int(log[-1][0])}:{2**63 - 1}"
    assert [label(e) for e in store.engine.changes(SUITE.shapes, after=end)] == ["e"]
    assert [label(e) for e in store.engine.changes(SUITE.shapes, after=f"{2**60}:1")] == []
    store.engine.trim(SUITE.shapes, before=f"{log[1][0]}:{log[1][1]}")
    assert [label(e) for e in store.engine.changes(SUITE.shapes)] == ["c", "d", "e"]
    with pytest.raises(FeedTrimmed):
        store.engine.changes(SUITE.shapes, after=f"{int(log[0][0]) - 1}:{2**63 - 1}")


def test_an_upgrade_waits_for_those_who_are_writing(store: Store, url: str, connect: Any) -> None:
    reader = Reader(store)
    _as_it_was(url)
    open_, done = connect(), list[Any]()
    write(open_, "of before")
    upgrading = threading.Thread(target=lambda: done.append(store.engine.ensure(SUITE.shapes)))
    upgrading.start()
    write(open_, "of before, too")
    assert not done
    open_.commit()
    upgrading.join(60)
    assert done
    store.put(Watched(shelf="s", label="after"))
    assert reader.next() == ["of before", "of before, too", "after"]
    assert store.engine.ensure(SUITE.shapes) == []


@pytest.mark.parametrize("wrong", ["", "x", "@", "@1", "1", "1:x", "@1:2:3", "-1:2", "@-1:2"])
def test_what_is_no_position_is_refused(store: Store, wrong: str) -> None:
    with pytest.raises(InvalidCursor, match="not a position"):
        store.engine.changes([Alarm.__shape__], after=wrong)


# Forgetting


def test_changes_are_forgotten_without_keeping_writers_waiting(store: Store, connect: Any) -> None:
    store.put(Watched(shelf="s", label="a"))
    end = store.engine.feed_end(SUITE.shapes)
    open_ = connect()
    write(open_, "a", count=1)
    write(open_, "b")
    assert end is not None
    assert store.engine.trim(SUITE.shapes, before=end) == 1
    open_.commit()
    assert [label(e) for e in store.engine.changes(SUITE.shapes, after=end)] == ["a", "b"]


def test_the_order_of_what_was_forgotten_is_forgotten_as_well(store: Store, url: str) -> None:
    for n in range(5):
        store.commit([put(Watched(shelf="s", label=f"{n}")), put(Alarm(shelf="s", bell=f"{n}"))])
    end = store.engine.feed_end(SUITE.shapes)
    assert end is not None
    with psycopg.connect(url, autocommit=True) as admin:
        store.engine.trim([Watched.__shape__], before=end)
        assert admin.execute("select count(*) from penstock.feed_order").fetchall() == [(5,)], "of the alarms"
        store.engine.trim(SUITE.shapes, before=end)
        assert admin.execute("select count(*) from penstock.feed_order").fetchall() == [(0,)]
