"""Whatever becomes of a statement, its session is given back, or given up if it could answer wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from penstock import Store, the
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.session import Session
from penstock.errors import Conflict, Misconfigured
from penstock.kernel.handle import patch
from penstock.testing.entities import Counter
from tests.conftest import chosen_engines

pytestmark = pytest.mark.skipif("postgres" not in chosen_engines(), reason="PENSTOCK_TEST_ENGINES does not name it")


@pytest.fixture(scope="module")
def url(postgres_server: Any) -> str:
    made: str = postgres_server.create_database("lost_sessions")
    with closing(SqlEngine(PostgresConnector(made))) as engine:
        engine.ensure([Counter.__shape__])
    return made


@pytest.fixture
def single(url: str) -> Iterator[Store]:
    """A store with one session, for which nobody waits."""
    connector = PostgresConnector(f"{url}?connections=1")
    connector.pool._patience = 0.0
    with closing(Store(SqlEngine(connector))) as store:
        yield store


def test_whoever_is_refused_gives_the_session_back(single: Store) -> None:
    connector: Any = single.engine.connector  # type: ignore[attr-defined]
    with pytest.raises(Conflict):
        single.commit([patch(Counter.at(name="absent"), the(Counter.total).add(1))])
    with pytest.raises(Misconfigured, match="nowhere"):
        connector.rows("select * from nowhere", ())
    crossed = [psycopg.errors.DeadlockDetected("deadlock detected")]

    def cross(session: Session) -> bool:
        if crossed:
            raise crossed.pop()
        return True

    assert connector._attempt(cross)
    assert connector.pool.count == 1
    assert connector.rows("select 1", ()) == [(1,)]


def test_whoever_is_interrupted_leaves_no_answer_to_the_next(single: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    connector: Any = single.engine.connector  # type: ignore[attr-defined]
    assert connector.rows("select 'first'", ()) == [("first",)]

    def interrupted(session: Session) -> Any:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "_results", interrupted)
    with pytest.raises(KeyboardInterrupt):
        connector.rows("select 'second'", ())
    assert connector.rows("select 'third'", ()) == [("third",)]
    assert connector.pool.count == 1


def test_after_one_session_broke_those_at_rest_are_not_tried_one_by_one(url: str) -> None:
    """There may be more of them than attempts, after a server was started again."""
    slept: list[float] = []
    with closing(PostgresConnector(url, sleep=slept.append)) as connector:
        sessions = [connector.pool.take(None) for _ in range(10)]
        for session in sessions:
            connector.pool.keep(session, None)
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(
                "select pg_terminate_backend(pid, 10000) from pg_stat_activity where pid = any(%s)",
                ([session.info.backend_pid for session in sessions],),
            )
        assert connector.rows("select 1", ()) == [(1,)]
        assert slept == [0.0]
        assert connector.pool.count == 1
