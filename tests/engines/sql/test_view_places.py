"""A view follows the tables that it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.schema.shape import ViewShape
from tests.kernel.layouts.films import film
from tests.servers import Postgres

TITLES = ViewShape("titles", "cinema", "select title from {Film}")


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlEngine]:
    at: Any = SqliteConnector(str(tmp_path / "a.db")) if request.param == "sqlite" else None
    if at is None:
        server: Postgres = request.getfixturevalue("postgres_server")
        at = PostgresConnector(server.create_database("views"))
    with closing(SqlEngine(at)) as opened:
        yield opened


def test_a_view_of_a_table_that_has_moved_is_one_of_the_other(engine: SqlEngine) -> None:
    before, after = film().__shape__, film(relation="films_2").__shape__
    engine.ensure([before], views=[TITLES])
    assert engine.ensure([before], views=[TITLES]) == []
    assert "replace view" in {step.kind for step in engine.ensure([after], views=[TITLES])}
    assert engine.ensure([after], views=[TITLES]) == []
    with engine.connector.administration(reading=True) as connection:
        view = '"cinema"."titles"' if engine.connector.dialect.schemas else '"cinema_titles"'
        table = '"cinema"."films_2"' if engine.connector.dialect.schemas else '"cinema_films_2"'
        assert connection.exec_driver_sql(f"select count(*) from {view}").scalar() == 0
    with engine.connector.administration() as connection:
        connection.exec_driver_sql(f"insert into {table} (film_id, title) values ('a', 'here')")
        assert connection.exec_driver_sql(f"select title from {view}").scalars().all() == ["here"]
