"""Whatever becomes of a statement, its session is given back, or given up if it could answer wrongly."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from penstock import Store, the
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.session import Session, plain_call
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


def cut(session: Session) -> None:
    """As whatever lies between may do: there is no word of the server why."""
    with socket.socket(fileno=os.dup(session.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("times", [1, 3], ids=["new", "prepared"])
def test_a_connection_that_is_cut_says_nothing_and_another_is_asked(url: str, times: int) -> None:
    with closing(PostgresConnector(url, sleep=lambda seconds: None)) as connector:
        for _ in range(times):
            assert connector.rows("select 7", ()) == [(7,)]
        session = connector.pool.take(None)
        connector.pool.keep(session, None)
        cut(session)
        assert connector.rows("select 7", ()) == [(7,)]
        assert session.closed
        assert connector.pool.count == 1


def test_a_statement_alone_meets_a_cut_as_several_do(url: str) -> None:
    with closing(PostgresConnector(url)) as connector:
        session = connector.pool.take(None)
        for _ in range(2):
            session.exchange([plain_call("select 7")])
        cut(session)
        with pytest.raises(psycopg.OperationalError):
            session.exchange([plain_call("select 7")])
        connector.pool.lose(session)


def test_many_large_statements_with_many_large_answers_do_not_wait_for_each_other(url: str) -> None:
    """The server takes no more before somebody has read what it says, and we must not wait for it to take more."""
    large = "x" * 1_000_000
    with closing(PostgresConnector(url)) as connector:
        session = connector.pool.take(None)
        answers: list[int] = []

        def exchange() -> None:
            results = session.exchange([session.call("select %s", (large,)) for _ in range(60)])
            answers.extend(len(session.read(result)[0][0]) for result in results)

        at_work = threading.Thread(target=exchange, daemon=True)
        at_work.start()
        at_work.join(60)
        if at_work.is_alive():
            cut(session)
        connector.pool.lose(session)
    assert answers == [len(large)] * 60
