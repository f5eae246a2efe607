"""What a session with PostgreSQL remembers of statements: so much and no more, on both sides alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.session import plain_call
from penstock.errors import Misconfigured
from tests.conftest import chosen_engines

pytestmark = pytest.mark.skipif("postgres" not in chosen_engines(), reason="PENSTOCK_TEST_ENGINES does not name it")

KNOWN = 200
"So many texts a session knows."


@pytest.fixture(scope="module")
def url(postgres_server: Any) -> str:
    made: str = postgres_server.create_database("known_texts")
    return made


@pytest.fixture
def single(url: str) -> Iterator[PostgresConnector]:
    with closing(PostgresConnector(f"{url}?connections=1")) as connector:
        yield connector


def prepared(connector: PostgresConnector) -> list[str]:
    """The texts the server has prepared for the one session there is, without those of this question itself."""
    found = connector.rows("select statement from pg_prepared_statements order by prepare_time", ())
    return [text for (text,) in found if "pg_prepared_statements" not in text]


def test_what_came_twice_is_prepared_and_of_much_the_oldest_is_forgotten(single: PostgresConnector) -> None:
    """A server keeps what is prepared in memory, for each session, as long as the session lasts."""
    for number in range(KNOWN + 50):
        for _ in range(3):
            assert single.rows(f"select {number}", ()) == [(number,)]
    known = prepared(single)
    assert KNOWN - 5 <= len(known) <= KNOWN
    assert "select 0" not in known, "the one that was not used for longest"
    assert single.rows("select 0", ()) == [(0,)], "it can be asked again, of course"


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_what_is_used_again_and_again_is_not_forgotten(single: PostgresConnector, binary: bool) -> None:
    """Sent alone it takes a shorter way, which counts as well."""
    session = single.pool.take(None)
    for number in range(KNOWN + 50):
        for text in ("select 'often'", f"select {number}"):
            for _ in range(2):
                session.exchange([plain_call(text)._replace(binary=binary)])
    single.pool.keep(session, None)
    assert prepared(single)[0] == "select 'often'", "it was prepared once, before all that are still known"


def test_the_same_text_is_another_with_values_of_other_types(single: PostgresConnector) -> None:
    for _ in range(3):
        for value in (1, "one"):
            assert single.rows("select %s as n", (value,)) == [(value,)]
    assert prepared(single) == ["select $1 as n"] * 2


def test_what_could_not_be_prepared_is_asked_anew(single: PostgresConnector) -> None:
    """A table that was missing may be there the next time."""
    asked = "select n from soon"
    for _ in range(3):
        with pytest.raises(Misconfigured):
            single.rows(asked, ())
    single.rows("create table soon as select 7 as n", ())
    for _ in range(3):
        assert single.rows(asked, ()) == [(7,)]
    assert asked in prepared(single), "nor is it thought that sessions change from one statement to the next"
