"""Tokens by which PostgreSQL knows a commit again are kept for a day, and found without looking at all of them."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from penstock import Store
from penstock.lifecycle.reaper import Reaper
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
