"""Commits come to records in one order, so that no two wait for each other; what others do may still cross them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from penstock import Count, Entity, FrozenClock, Store, Table, key, the
from penstock.engines.sql.dialects import POSTGRES
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.errors import Conflict, Unavailable
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Missing, Present
from penstock.operations.writes import Check, Delete, Write
from penstock.schema.shape import KEPT, EntityShape
from penstock.testing.entities import Counter, Session, Specimen, specimen
from tests.conftest import chosen_engines
from tests.servers import Postgres


class Account(Entity, table=Table("penstock_test_accounts", partition="name")):
    """What a store that is bound to a project may add, and nobody but the store itself change."""

    __rights__ = KEPT

    name: str
    paid: Count = 0
    owed: Count = 0

    @key("{name}")
    def at(self, *, name: str) -> None: ...


NAMES = [f"{n:02d}" for n in range(30)]
SHAPES = (Counter.__shape__, Session.__shape__, Specimen.__shape__, Account.__shape__)
IMPATIENT = "?options=-c%20deadlock_timeout%3D20ms"
"PostgreSQL looks for those who wait for each other after a second; here, sooner."


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> str:
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    server: Postgres = request.getfixturevalue("postgres_server")
    url = server.create_database("order")
    engine = SqlEngine(PostgresConnector(url))
    engine.ensure(SHAPES)
    engine.close()
    return url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_at(url) as store:
        for shape in SHAPES:
            store.engine.connector.run(f"delete from {relation(shape)}", ())  # type: ignore[attr-defined]
        store.put_many([Counter(name=name) for name in NAMES])
        store.put_many([Session(user=name, session_id="s") for name in NAMES])
        store.put_many([specimen(shelf=name) for name in NAMES])
        yield store


@contextmanager
def open_at(url: str, **options: Any) -> Iterator[Store]:
    store = Store(SqlEngine(PostgresConnector(url, **options)), clock=FrozenClock())
    yield store
    store.close()


def relation(shape: EntityShape) -> str:
    return POSTGRES.relation(shape.domain, shape.relation)


def shuffled(writes: list[Any]) -> list[Any]:
    random.Random(7).shuffle(writes)
    return writes


def counted(names: list[str]) -> list[Write]:
    return [patch(Counter.at(name=n), the(Counter.total).add(1)) for n in names]


def weighed(names: list[str]) -> list[Write]:
    return [patch(Counter.at(name=n), the(Counter.balance).add(Decimal(1))) for n in names]


def gone(names: list[str], when: Any = None) -> list[Write]:
    return [Delete(Counter.__shape__, {"name": n}, when) for n in names]


def seen(names: list[str]) -> list[Write]:
    return [Check(Counter.__shape__, {"name": n}, Present()) for n in names]


def written(names: list[str], when: Any = None) -> list[Write]:
    return [put(Counter(name=n, total=1), when=when) for n in names]


COMMITS: dict[str, Callable[[], list[Write]]] = {
    "two patches": lambda: counted(NAMES[1::-1]),
    "three patches": lambda: counted(NAMES[2::-1]),
    "three puts": lambda: written(NAMES[2::-1]),
    "three deletes": lambda: gone(NAMES[2::-1]),
    "three deletes of what stands": lambda: gone(NAMES[2::-1], Present()),
    "one of each": lambda: [*seen(["03"]), *gone(["02"]), *counted(["01"]), *written(["00"])],
    "thirty patches": lambda: shuffled(counted(NAMES)),
    "thirty puts": lambda: shuffled(written(NAMES)),
    "thirty puts of what stands": lambda: shuffled(written(NAMES, Present())),
    "patches of two kinds": lambda: shuffled(counted(NAMES[::2]) + weighed(NAMES[1::2])),
    "a set behind one patch": lambda: [*weighed(["29"]), *counted(NAMES[:9])],
    "puts, patches, deletes and checks": lambda: shuffled(
        counted(NAMES[::4]) + written(NAMES[1::4]) + gone(NAMES[2::4]) + seen(NAMES[3::4])
    ),
    "another table first": lambda: [put(Session(user=NAMES[0], session_id="s")), *counted(NAMES[9::-1])],
}


@contextmanager
def waiting(url: str, action: Callable[[], object], *, beside: int = 0) -> Iterator[Callable[[], object]]:
    """An action in a thread, which waits for a lock as others may; what is yielded waits for its end."""
    with ThreadPoolExecutor(1) as pool:
        done: Future[object] = pool.submit(action)
        _until_locked(url, done, beside + 1)
        yield lambda: done.result(30)


def _until_locked(url: str, done: Future[object], count: int) -> None:
    text = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    with psycopg.connect(url, autocommit=True) as looking:
        while len(looking.execute(text).fetchall()) < count:
            assert not done.done(), f"it waited for nobody: {done.exception()}"


def locked_rest(held: psycopg.Connection[Any], first: str) -> None:
    """Lock all but the first record of every table, or fail at once with those that somebody else has."""
    held.execute(f"select from {relation(Counter.__shape__)} where name <> %s for update nowait".encode(), (first,))
    for shape in SHAPES[1:]:
        held.execute(f"select from {relation(shape)} for update nowait".encode())


@pytest.mark.parametrize("kind", COMMITS)
def test_whoever_waits_for_the_first_record_has_locked_no_other(store: Store, url: str, kind: str) -> None:
    writes = COMMITS[kind]()
    with psycopg.connect(url) as held:
        held.execute(f"select from {relation(Counter.__shape__)} where name = %s for update".encode(), (NAMES[0],))
        with waiting(url, lambda: store.commit(writes)) as finish:
            locked_rest(held, NAMES[0])
            held.rollback()
            finish()


@pytest.mark.parametrize(
    "action",
    [
        lambda store: store.put_many([Counter(name=n) for n in NAMES[::-1]]),
        lambda store: store.delete_many([Counter.at(name=n) for n in NAMES[::-1]]),
    ],
    ids=["put_many", "delete_many"],
)
def test_many_are_written_in_order_too(store: Store, url: str, action: Callable[[Store], None]) -> None:
    with psycopg.connect(url) as held:
        held.execute(f"select from {relation(Counter.__shape__)} where name = %s for update".encode(), (NAMES[0],))
        with waiting(url, lambda: action(store)) as finish:
            locked_rest(held, NAMES[0])
            held.rollback()
            finish()


@pytest.mark.parametrize("among", [0, 3000])
def test_a_set_is_written_in_order_however_the_table_has_grown(store: Store, url: str, among: int) -> None:
    """A plan is made of what PostgreSQL knows of a table; the order is not."""
    store.put_many([Session(user=f"{n % 3} {n}", session_id=f"{n:04d}") for n in range(among)])
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("analyze" if among else "select 1")
    writes = shuffled([patch(Session.at(user=n, session_id="s"), the(Session.visits).add(1)) for n in NAMES])
    text = f'select from {relation(Session.__shape__)} where "user" {{}} %s for update nowait'
    with open_at(url) as fresh, psycopg.connect(url) as held:
        held.execute(text.format("=").encode(), (NAMES[0],))
        with waiting(url, lambda: fresh.commit(writes)) as finish:
            held.execute(text.format("<>").encode(), (NAMES[0],))
            held.rollback()
            finish()


def test_what_projects_may_only_add_is_changed_in_order_too(store: Store, url: str) -> None:
    store.put_many([Account(name=name) for name in NAMES])
    writes = [patch(Account.at(name=n), the(Account.paid).add(1)) for n in NAMES[::2]]
    writes += [patch(Account.at(name=n), the(Account.owed).add(1)) for n in NAMES[1::2]]
    text = f"select from {relation(Account.__shape__)} where name {{}} %s for update nowait"
    with psycopg.connect(url) as held:
        held.execute(text.format("=").encode(), (NAMES[0],))
        with waiting(url, lambda: store.commit(writes)) as finish:
            held.execute(text.format("<>").encode(), (NAMES[0],))
            held.rollback()
            finish()


def test_new_records_are_written_in_order(store: Store, url: str) -> None:
    """What is not there cannot be locked, but whoever inserts it is waited for."""
    names = [f"new {n:02d}" for n in range(12)]
    with psycopg.connect(url) as held:
        text = f"insert into {relation(Counter.__shape__)} (name, total, balance) values (%s, 1, 0)".encode()
        held.execute(text, (names[0],))
        with waiting(url, lambda: store.commit(written(names[::-1]))) as finish:
            for name in names[1:]:
                held.execute(text, (name,))  # for which nobody is waited
            held.rollback()
            finish()


def test_the_reaper_leaves_what_others_write(store: Store, url: str) -> None:
    clock = store.clock
    assert isinstance(clock, FrozenClock)
    ends = int(clock.now().timestamp()) - 5
    store.put_many([Session(user=n, session_id="s", ends_at=ends) for n in NAMES])
    with psycopg.connect(url) as held:
        text = f'select from {relation(Session.__shape__)} where "user" = %s for update'.encode()
        held.execute(text, (NAMES[3],))
        assert store.engine.expire(SHAPES, now=clock.now()) == len(NAMES) - 1
    assert store.engine.expire(SHAPES, now=clock.now()) == 1


# What is only looked at


@pytest.mark.parametrize("several", [False, True], ids=["one after the other", "as a set"])
def test_what_a_commit_has_checked_nobody_changes_until_it_has_ended(store: Store, url: str, several: bool) -> None:
    """Else a lease that it has looked at could be another's by the time it writes."""
    checked, changed = (NAMES[:9], NAMES[9:18]) if several else (NAMES[:1], NAMES[1:2])
    free = f"select name from {relation(Counter.__shape__)} where name = any(%s) for update skip locked".encode()
    with psycopg.connect(url) as held, psycopg.connect(url, autocommit=True) as successor:
        held.execute(free, (changed[-1:],))
        with waiting(url, lambda: store.commit([*seen(checked), *counted(changed)])) as finish:
            found = successor.execute(free, (checked,)).fetchall()
            held.rollback()
            finish()
        assert found == []
        assert len(successor.execute(free, (checked,)).fetchall()) == len(checked)


# What others do


@pytest.mark.parametrize("kind", ["three patches", "thirty patches", "thirty puts"])
def test_a_commit_that_crosses_somebody_else_s_transaction_is_made_again(store: Store, url: str, kind: str) -> None:
    """Their order is their own. PostgreSQL ends the one of the two that was the last to wait, which here is ours."""
    writes = COMMITS[kind]()
    first, middle, last = NAMES[0], NAMES[1], max(w.key["name"] for w in writes)
    text = f"update {relation(Counter.__shape__)} set balance = balance + 7 where name = %s".encode()
    with open_at(url + IMPATIENT) as impatient, psycopg.connect(url) as theirs, psycopg.connect(url) as between:
        theirs.execute("set deadlock_timeout = '60s'")
        theirs.execute(text, (last,))
        between.execute(text, (middle,))
        with waiting(url, lambda: impatient.commit(writes)) as finish:
            with waiting(url, lambda: theirs.execute(text, (first,)), beside=1) as go_on:
                between.commit()
                go_on()
            theirs.commit()
            finish()
    assert store.get(Counter.at(name=first)).total == 1
    assert store.get(Counter.at(name=last)).total == 1


def test_what_always_crosses_is_told_at_last(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    connector = PostgresConnector(url, sleep=slept.append)
    crossed = threading.Event()

    def cross(_: Any) -> None:
        crossed.set()
        raise psycopg.errors.DeadlockDetected("deadlock detected")

    with pytest.raises(Unavailable, match="deadlock detected"):
        connector._attempt(cross)
    assert crossed.is_set()
    assert 20 <= sum(slept) <= 40, "for as long as others may be in the way, and not for ever"
    connector.close()


def test_where_transactions_are_serializable_they_are_made_again_too(store: Store, url: str) -> None:
    strict = f"{url}?options=-c%20default_transaction_isolation%3Dserializable"
    with open_at(strict) as serial, ThreadPoolExecutor(8) as pool:
        writes = counted(NAMES[:2])
        list(pool.map(lambda n: serial.commit(writes if n % 2 else writes[::-1]), range(80)))
    assert [c and c.total for c in store.get_many([Counter.at(name=n) for n in NAMES[:2]])] == [80, 80]


# What is told


@pytest.mark.parametrize("names", [NAMES[:3], NAMES], ids=["three", "thirty"])
def test_a_refusal_tells_the_position_in_which_a_write_was_given(store: Store, names: list[str]) -> None:
    writes = shuffled(counted(names))
    absent = [patch(Counter.at(name=f"{n} absent"), the(Counter.total).add(1)) for n in (names[-1], names[0])]
    with pytest.raises(Conflict) as refused:
        store.commit([*writes[:2], *absent, *writes[2:]])
    assert refused.value.position == 2
    assert store.get(Counter.at(name=names[0])).total == 0


def test_a_number_that_grows_too_large_is_told_after_a_refusal_that_was_given_before_it(store: Store) -> None:
    most = put(Counter(name="00", total=2**63 - 1))
    store.commit([most])
    writes = [*written(["01"], Missing()), *counted(["00"])]
    with pytest.raises(Conflict) as refused:
        store.commit(writes)
    assert refused.value.position == 0


def test_the_order_of_a_commit_is_that_of_its_keys_and_not_of_a_hash(store: Store, url: str) -> None:
    """Keys of every kind have one order, which every process finds."""
    from penstock.engines.sql.lock_order import in_order

    engine: Any = store.engine
    writes = COMMITS["puts, patches, deletes and checks"]()
    statements = [engine.statements(w.shape).write(w, 0) for w in writes]
    order = in_order(statements)
    assert order is not None
    assert [writes[p].key["name"] for p in order] == NAMES
    assert in_order([statements[p] for p in order]) is None
