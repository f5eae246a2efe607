"""An index of SQL is what is declared: its columns, their order and its condition, not its name alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from penstock.engines.sql import index_building
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.nullability import THEN
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.errors import Unavailable
from penstock.schema.shape import EntityShape
from tests.kernel.layouts.films import film
from tests.servers import Postgres


class _Mood(Enum):
    GAY = "gay"
    SAD = "it's sad"


FIELDS: dict[str, Any] = {
    "title": str,
    "stars": int,
    "mood": _Mood,
    "hidden": bool,
    "day": date,
    "note": str | None,
}
SHELF = ("SHELF#{title}", "{stars:06d}")


def _film(**options: Any) -> EntityShape:
    shape: EntityShape = film(FIELDS, defaults={"note": None}, **options).__shape__
    return shape


OTHERS = {
    "a condition": (_film(index=SHELF), _film(index=SHELF, when={"stars": frozenset({1})})),
    "another condition": (
        _film(index=SHELF, when={"mood": frozenset({_Mood.GAY})}),
        _film(index=SHELF, when={"mood": frozenset(_Mood)}),
    ),
    "no condition": (_film(index=SHELF, when={"hidden": frozenset({True})}), _film(index=SHELF)),
    "other columns": (_film(index=SHELF), _film(index=("SHELF#{title}", "{day}"))),
    "another order of columns": (_film(index=SHELF), _film(index=("SHELF#{stars:06d}", "{title}"))),
    "another direction": (_film(sql_indexes=(("title", "stars"),)), _film(sql_indexes=(("title", "-stars"),))),
}
ALIKE = {
    "several values": {"mood": frozenset(_Mood), "stars": frozenset({1, 22, -3})},
    "one of each kind": {
        "hidden": frozenset({False}),
        "note": frozenset({"Öl (in) ANY"}),
    },
}


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlEngine]:
    at: Any = SqliteConnector(str(tmp_path / "a.db")) if request.param == "sqlite" else None
    with closing(SqlEngine(at or PostgresConnector(request.getfixturevalue("url")))) as opened:
        yield opened


@pytest.fixture
def url(postgres_server: Postgres) -> str:
    return postgres_server.create_database("indexes")


@pytest.fixture
def postgres(url: str) -> Iterator[SqlEngine]:
    with closing(SqlEngine(PostgresConnector(url))) as opened:
        yield opened


def _kinds(engine: SqlEngine, shape: EntityShape, *, dry_run: bool = False) -> set[str]:
    return {step.kind for step in engine.ensure([shape], dry_run=dry_run)}


@pytest.mark.parametrize("kind", OTHERS)
def test_an_index_that_is_declared_otherwise_is_replaced(engine: SqlEngine, kind: str) -> None:
    """Names alone were compared, and an index stayed what it was."""
    old, new = OTHERS[kind]
    engine.ensure([old])
    assert _kinds(engine, new, dry_run=True) == {"replace index"}
    assert _kinds(engine, new) == {"replace index"}
    assert _kinds(engine, new) == set()
    assert _kinds(engine, old, dry_run=True) == {"replace index"}


@pytest.mark.parametrize("kind", ALIKE)
def test_an_index_that_is_as_declared_stays(engine: SqlEngine, kind: str) -> None:
    shape = _film(index=SHELF, when=ALIKE[kind], sql_indexes=(("note", "-day"),))
    engine.ensure([shape])
    assert _kinds(engine, shape, dry_run=True) == set()


# PostgreSQL, where others go on meanwhile


def _texts(engine: SqlEngine, shape: EntityShape) -> list[str]:
    """The statements that change anything."""
    texts: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        texts.append(statement.lower())

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        engine.ensure([shape])
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    return [text for text in texts if text.startswith(("create", "drop", "alter"))]


def _valid(url: str) -> Sequence[tuple[str, bool]]:
    with psycopg.connect(url) as session:
        return session.execute(
            "select i.relname, x.indisvalid from pg_index x join pg_class i on i.oid = x.indexrelid "
            "where x.indrelid = 'cinema.films'::regclass and not x.indisprimary order by 1"
        ).fetchall()


def test_a_table_that_stands_gets_its_index_while_others_write(postgres: SqlEngine, url: str) -> None:
    postgres.ensure([_film()])
    assert [text[:32] for text in _texts(postgres, _film(index=SHELF))] == ["create index concurrently if not"]
    _, new = OTHERS["a condition"]
    texts = _texts(postgres, new)
    assert [text.split(" on ")[0] for text in texts] == [
        'create index concurrently if not exists "films_gsi1__2"',
        'drop index concurrently if exists "cinema"."films_gsi1"',
        'alter index "cinema"."films_gsi1__2" rename to "films_gsi1"',
    ]
    assert _valid(url) == [("films_gsi1", True)]


def test_an_index_whose_building_was_broken_off_is_built_anew(postgres: SqlEngine, url: str) -> None:
    shape = _film(index=SHELF)
    postgres.ensure([shape])
    with psycopg.connect(url) as session:
        session.execute("update pg_index set indisvalid = false where indexrelid = 'cinema.films_gsi1'::regclass")
    assert _kinds(postgres, shape) == {"replace index"}
    assert _valid(url) == [("films_gsi1", True)]


@pytest.mark.parametrize(
    ("done", "unfit", "left"),
    [(1, None, 2), (2, None, 2), (1, "films_gsi1__2", 4), (1, "films_gsi1", 2)],
    ids=["built", "dropped", "while it was built", "while it was dropped"],
)
def test_replacing_that_was_broken_off_is_gone_on_with(
    postgres: SqlEngine, url: str, done: int, unfit: str | None, left: int
) -> None:
    old, new = OTHERS["other columns"]
    postgres.ensure([old])
    (step,) = postgres.ensure([new], dry_run=True)
    with psycopg.connect(url, autocommit=True) as session:
        for text in step.detail.split(THEN)[:done]:
            session.execute(text.encode())
        if unfit is not None:
            session.execute(
                "update pg_index set indisvalid = false where indexrelid = %s::regclass", (f"cinema.{unfit}",)
            )
    assert _kinds(postgres, new, dry_run=True) == {"replace index"}
    assert len(_texts(postgres, new)) == left, "what is done already is not done again"
    assert _valid(url) == [("films_gsi1", True)]
    assert _kinds(postgres, new) == set()


def test_nobody_waits_while_an_index_is_waited_for(postgres: SqlEngine, url: str) -> None:
    postgres.ensure([_film()])
    done: list[Any] = []
    building = threading.Thread(target=lambda: done.append(postgres.ensure([_film(index=SHELF)])))
    with psycopg.connect(url) as writer, psycopg.connect(url, autocommit=True) as third:
        writer.execute("delete from cinema.films")
        building.start()
        third.execute("set lock_timeout = '5s'")
        while not third.execute("select 1 from pg_stat_progress_create_index").fetchall():
            building.join(0.01)
        third.execute("delete from cinema.films")
        assert done == []
        writer.rollback()
    building.join(60)
    assert [step.kind for step in done[0]] == ["create index"]


def test_of_two_who_would_build_an_index_the_second_waits_and_finds_it_built(postgres: SqlEngine, url: str) -> None:
    postgres.ensure([_film()])
    (step,) = postgres.ensure([_film(index=SHELF)], dry_run=True)
    waits: list[float] = []
    with ExitStack() as first, psycopg.connect(url, autocommit=True) as session:
        first.enter_context(postgres.connector.administration(alone=True))

        def end_building(seconds: float) -> None:
            waits.append(seconds)
            session.execute(step.detail.encode())
            first.close()

        with closing(SqlEngine(PostgresConnector(url, sleep=end_building))) as second:
            assert _texts(second, _film(index=SHELF)) == []
    assert waits
    assert _valid(url) == [("films_gsi1", True)]


def test_a_transaction_that_never_ends_is_told(postgres: SqlEngine, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_building, "PATIENCE", "100ms")
    postgres.ensure([_film()])
    with psycopg.connect(url) as writer:
        writer.execute("delete from cinema.films")
        with pytest.raises(Unavailable, match=r"create index films_gsi1: .* pg_stat_activity"):
            postgres.ensure([_film(index=SHELF)])
    assert _kinds(postgres, _film(index=SHELF)) == {"replace index"}
    assert _valid(url) == [("films_gsi1", True)]


def test_a_transaction_for_which_an_index_cannot_be_dropped_is_told(
    postgres: SqlEngine, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_building, "PATIENCE", "100ms")
    postgres.ensure([_film(index=SHELF)])
    with psycopg.connect(url) as writer:
        writer.execute("delete from cinema.films")
        with pytest.raises(Unavailable, match=r"drop index: .* pg_stat_activity"):
            index_building.drop_alone(postgres.connector, ["cinema.films_gsi1"])
    index_building.drop_alone(postgres.connector, ["cinema.films_gsi1"])
    assert _valid(url) == []
