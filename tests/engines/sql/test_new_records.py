"""What nobody else can have written is inserted without asking; what stands there all the same is told as ever."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock import FrozenClock, Store, the
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.errors import Conflict
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Missing
from penstock.operations.writes import Put
from penstock.testing.entities import Counter, Session
from tests.conftest import chosen_engines
from tests.servers import Postgres


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    server: Postgres = request.getfixturevalue("postgres_server")
    store = Store(SqlEngine(PostgresConnector(server.create_database("new"))), clock=FrozenClock())
    store.engine.ensure((Counter.__shape__, Session.__shape__))
    yield store
    store.close()


def new(name: str) -> Put:
    made = put(Counter(name=name))
    return Put(made.shape, made.values, Missing(), witness=True)


@pytest.mark.parametrize("count", [1, 2, 9], ids=["one", "a few", "so many that they are joined"])
@pytest.mark.parametrize("beside", [("a",), ("b", "a")], ids=["beside one", "beside several in another order"])
def test_where_a_record_stands_the_write_that_meets_it_is_told_and_none_is_done(
    store: Store, count: int, beside: tuple[str, ...]
) -> None:
    names = [f"new {n}" for n in range(count)]
    in_the_way, last = names[-1], len(beside) + count - 1
    store.put_many([*(Session(user=user, session_id="s") for user in beside), Counter(name=in_the_way, total=7)])
    others = [patch(Session.at(user=user, session_id="s"), the(Session.device).set("d")) for user in beside]

    for _ in range(2):  # also by a connection that has met it before
        with pytest.raises(Conflict) as refused:
            store.commit([*others, *map(new, names)])
        assert refused.value.position == last
    assert store.get(Counter.at(name=in_the_way)).total == 7
    assert store.get_many([Counter.at(name=name) for name in names[:-1]]) == [None] * (count - 1)

    store.delete(Counter.at(name=in_the_way))
    store.commit([*others, *map(new, names)])
    assert None not in store.get_many([Counter.at(name=name) for name in names])


def test_many_are_written_where_others_have_ended_and_none_where_one_still_stands(store: Store) -> None:
    users, ended = [f"user {n}" for n in range(6)], int(store.clock.now().timestamp()) - 1
    store.put(Session(user=users[2], session_id="s", visits=7, ends_at=ended))
    writes = [put(Session(user=user, session_id="s", visits=1), when=Missing()) for user in users]
    store.commit(writes)
    found = store.get_many([Session.at(user=user, session_id="s") for user in users])
    assert [session and session.visits for session in found] == [1] * 6
    store.delete(Session.at(user=users[0], session_id="s"))
    with pytest.raises(Conflict) as refused:
        store.commit(writes)
    assert refused.value.position == 1
