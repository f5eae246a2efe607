"""Tokens by which PostgreSQL knows a commit again are kept for a day, and found without looking at all of them."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from penstock import Store, the
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.kernel.handle import patch
from penstock.lifecycle.reaper import Reaper
from penstock.testing.entities import Counter
from tests.conftest import chosen_engines

pytestmark = pytest.mark.skipif("postgres" not in chosen_engines(), reason="PENSTOCK_TEST_ENGINES does not name it")


def test_tokens_older_than_a_day_are_removed_by_the_reaper(postgres_server: Any) -> None:
    from penstock import open_store

    url = postgres_server.create_database("tokens")
    store: Store = open_store(url)
    store.ensure()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "insert into penstock.commits select n::text, now() - interval '25 hours' from generate_series(1, 25000) n"
        )
        connection.execute("insert into penstock.commits values ('young', now() - interval '23 hours')")
        Reaper(store, [], owner="a").run_once()
        left = [token for (token,) in connection.execute("select token from penstock.commits").fetchall()]
        assert "young" in left
        assert len(left) < 10, "the young one, and those of the reaper's own lease"
        index = connection.execute("select indexdef from pg_indexes where indexname = 'commits_at'").fetchone()
        assert index is not None
    assert [step for step in store.ensure(dry_run=True) if not step.is_advice] == []
    store.close()


def test_one_save_leaves_its_token_in_the_statement_that_asks_for_nothing_else(postgres_server: Any) -> None:
    """Most commits are such a save, and whether it ran before has to be asked only after an answer was lost."""
    url = postgres_server.create_database("saves")
    store = Store(SqlEngine(PostgresConnector(url)))
    store.engine.ensure([Counter.__shape__])
    store.put(Counter(name="a"))
    store.commit([patch(Counter.at(name="a"), the(Counter.total).add(1))])
    with psycopg.connect(url) as looking:
        ((said,),) = looking.execute(
            "select query from pg_stat_activity where datname = current_database() and query like '%penstock.commits%' "
            "and pid <> pg_backend_pid()"
        ).fetchall()
        assert looking.execute("select count(*) from penstock.commits").fetchall() == [(1,)]
    assert said.startswith("with done as (update ")
    assert store.get(Counter.at(name="a")).total == 1
    store.close()
