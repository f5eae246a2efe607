"""Tables are looked at without disturbing anybody, and changed without keeping others waiting."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from penstock import Entity, Store, Table, key
from penstock.engines.sql import held_writes, schema
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.sqlite import SqliteConnector
from penstock.errors import Misconfigured, StoreMoved, Unavailable
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.shape import EntityShape
from penstock.testing.entities import SUITE, Watched
from tests.servers import Postgres

Session = psycopg.Connection[tuple[Any, ...]]
_EARLY = Table("held", partition="PK", feed=True)
_LATE = Table("held", partition="PK", feed=True)


class _Bare(Entity, table=_EARLY, relation="held"):
    name: str

    @key("{name}")
    def at(self, *, name: str) -> None: ...


class _Quiet(Entity, table=Table("held", partition="PK", feed=False), relation="held"):
    name: str

    @key("{name}")
    def at(self, *, name: str) -> None: ...


class _Dressed(Entity, table=_LATE, relation="held"):
    name: str
    coat: str | None = None

    @key("{name}")
    def at(self, *, name: str) -> None: ...


@pytest.fixture
def url(postgres_server: Postgres) -> str:
    return postgres_server.create_database("ensuring")


@contextmanager
def engine_at(url: str) -> Iterator[SqlEngine]:
    with closing(SqlEngine(PostgresConnector(url))) as engine:
        yield engine


@contextmanager
def writing(url: str, table: str) -> Iterator[Session]:
    """Somebody who has written to a table, and does not end."""
    with psycopg.connect(url) as session:
        session.execute(f"insert into {table} (name) values ('theirs')".encode())
        yield session
        session.rollback()


# Nothing is missing


def test_ensuring_what_stands_waits_for_nobody_who_writes(url: str) -> None:
    with engine_at(url) as engine:
        engine.ensure([_Bare.__shape__])
        with writing(url, "held"):
            began = time.monotonic()
            assert engine.ensure([_Bare.__shape__]) == []
            assert time.monotonic() - began < 5


def test_ensuring_what_stands_waits_for_nobody_who_locks_the_table(url: str) -> None:
    with engine_at(url) as engine, psycopg.connect(url) as other:
        engine.ensure([_Bare.__shape__])
        other.execute("lock table held in access exclusive mode")
        assert engine.ensure([_Bare.__shape__]) == []


def test_ensuring_what_stands_waits_for_nobody_who_makes_tables(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_TRIES", 1)
    with engine_at(f"{url}?options=-c%20lock_timeout%3D200ms") as engine, psycopg.connect(url) as other:
        engine.ensure([_Bare.__shape__])
        other.execute("select pg_advisory_xact_lock(7363570)")  # as whoever makes tables does
        assert engine.ensure([_Bare.__shape__]) == []
        with pytest.raises(Unavailable, match="others hold"):
            engine.ensure([_Dressed.__shape__])


def test_ensuring_what_stands_in_a_file_waits_for_nobody_who_writes_to_it(tmp_path: Path) -> None:
    at = tmp_path / "a.db"
    with (
        closing(SqlEngine(SqliteConnector(str(at), busy_seconds=0.0))) as engine,
        closing(sqlite3.connect(at)) as other,
    ):
        engine.ensure([_Bare.__shape__])
        other.execute("begin immediate")
        assert engine.ensure([_Bare.__shape__]) == []
        with pytest.raises(Unavailable, match="locked"):
            engine.ensure([_Dressed.__shape__])


def test_a_service_that_does_not_own_its_tables_starts_when_nothing_is_missing(url: str) -> None:
    with closing(Store(SqlEngine(PostgresConnector(url)), own=SYSTEM_RECORDS)) as owner:
        owner.ensure(SUITE)
    _let_in(url)
    with closing(Store(SqlEngine(PostgresConnector(_as_servant(url))), own=SYSTEM_RECORDS)) as store:
        assert [s for s in store.ensure(SUITE) if not s.is_advice] == []
        store.put(Watched(shelf="s", label="a"))
        assert [e.key["label"] for e in store.engine.changes(SUITE.shapes)] == ["a"]


def test_what_is_missing_is_said_to_a_service_that_may_not_create_it(url: str) -> None:
    with engine_at(url) as owner:
        owner.ensure([_Bare.__shape__])
    _let_in(url)
    with engine_at(_as_servant(url)) as engine, pytest.raises(Misconfigured) as refused:
        engine.ensure([_Dressed.__shape__])
    assert "must be owner of table held" in str(refused.value)
    assert "Missing is: add column held.coat" in str(refused.value)


def _as_servant(url: str) -> str:
    return url.replace("postgres@", "servant@")


def _let_in(url: str) -> None:
    """To read and write what stands, no more."""
    with psycopg.connect(url, autocommit=True) as admin:
        if not admin.execute("select 1 from pg_roles where rolname = 'servant'").fetchall():
            admin.execute("create role servant login")
        schemas = admin.execute(
            "select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'"
        ).fetchall()
        for (name,) in schemas:
            admin.execute(f'grant usage on schema "{name}" to servant'.encode())
            admin.execute(f'grant select, insert, update, delete on all tables in schema "{name}" to servant'.encode())


# What stands otherwise


@pytest.mark.parametrize(
    ("damage", "mended"),
    [
        ("drop trigger penstock_log_change on {held}", "create trigger"),
        ("alter table {held} disable trigger penstock_log_change", "create trigger"),
        ("drop trigger penstock_place_commit on penstock.changes", "create trigger"),
        ("alter table penstock.changes disable trigger penstock_place_commit", "create trigger"),
        (
            "create or replace trigger penstock_log_change after insert on {held} for each row "
            "execute function penstock.log_change('held')",
            "create trigger",
        ),
        ("alter function penstock.log_change() security invoker", "create function"),
        ("alter function penstock.log_change() reset search_path", "create function"),
        ("alter function penstock.place_commit() set search_path = public", "create function"),
        (
            "create or replace function penstock.log_change() returns trigger language plpgsql security definer "
            "set search_path = pg_catalog, pg_temp as $$ begin return null; end $$",
            "create function",
        ),
        ("grant execute on function penstock.place_commit() to public", "restrict function"),
    ],
)
def test_what_stands_otherwise_is_found_and_mended(url: str, damage: str, mended: str) -> None:
    with engine_at(url) as engine:
        engine.ensure([_Bare.__shape__])
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(damage.format(held="held").encode())
        assert mended in {s.kind for s in engine.ensure([_Bare.__shape__], dry_run=True)}
        engine.ensure([_Bare.__shape__])
        assert engine.ensure([_Bare.__shape__]) == []
        Store(engine).put(_Bare(name="a"))
        assert [e.key for e in engine.changes([_Bare.__shape__])] == [{"name": "a"}]


# Something is missing, and others use the table


def test_a_table_that_others_use_grows_when_they_let_go_and_nobody_waits_for_long_meanwhile(url: str) -> None:
    with engine_at(url) as engine:
        engine.ensure([_Bare.__shape__])
        done: list[Any] = []
        growing = threading.Thread(target=lambda: done.append(engine.ensure([_Dressed.__shape__])))
        with writing(url, "held"):
            growing.start()
            with psycopg.connect(url, autocommit=True) as third:
                third.execute("set lock_timeout = '5s'")
                for n in range(5):  # each would wait behind whoever waits for the table
                    third.execute("insert into held (name) values (%s)", (f"third {n}",))
            assert done == []
        growing.join(60)
        assert ("add column", "held.coat") in [(s.kind, s.name) for s in done[0]]
        assert len(engine.changes([_Dressed.__shape__])) == 5


def test_a_table_that_others_never_let_go_of_is_given_up_with_a_clear_word(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_TRIES", 2)
    with engine_at(url) as engine:
        engine.ensure([_Bare.__shape__])
        with (
            writing(url, "held"),
            pytest.raises(Unavailable, match=r"add column held\.coat: others hold .* pg_stat_activity"),
        ):
            engine.ensure([_Dressed.__shape__])
        engine.ensure([_Dressed.__shape__])
        assert engine.ensure([_Dressed.__shape__]) == []


def test_writes_are_refused_when_those_under_way_have_ended_or_not_at_all(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def let_go_at_last(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            writer.rollback()

    with closing(SqlEngine(PostgresConnector(url, sleep=let_go_at_last))) as engine, psycopg.connect(url) as writer:
        engine.ensure([_Bare.__shape__])
        writer.execute("insert into held (name) values ('theirs')")
        monkeypatch.setattr(held_writes, "_TRIES", 1)
        with pytest.raises(Unavailable, match="do not let go"):
            engine.hold_writes([_Bare.__shape__], told="moved")
        monkeypatch.setattr(held_writes, "_TRIES", 2)
        engine.hold_writes([_Bare.__shape__], told="moved")
        with pytest.raises(StoreMoved, match="moved"):
            Store(engine).put(_Bare(name="a"))


@pytest.fixture(params=["postgres", "sqlite"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlEngine]:
    """An engine of each kind."""
    at = SqliteConnector(str(tmp_path / "a.db")) if request.param == "sqlite" else None
    with closing(SqlEngine(at or PostgresConnector(request.getfixturevalue("url")))) as engine:
        yield engine


def test_writes_of_every_kind_are_refused_with_the_words_that_were_said_last(
    either: SqlEngine,
) -> None:
    store = Store(either)
    either.ensure([_Bare.__shape__])
    stands = _Bare(name="stands")
    store.put(stands)
    for told in ("it moves", 'it\'s 100 % moved to "there"'):
        either.hold_writes([_Bare.__shape__], told=told)
        for write in (
            partial(store.create, _Bare(name="new")),
            partial(store.put, stands),
            partial(store.delete, stands.ref),
        ):
            with pytest.raises(StoreMoved, match=re.escape(told)):
                write()
    either.hold_writes([_Bare.__shape__], told=None)
    store.delete(stands.ref)
    assert store.lookup(_Bare.at(name="new")) is None


def test_where_writes_are_taken_again_nothing_is_logged_for_a_feed_that_is_no_longer(
    either: SqlEngine,
) -> None:
    either.ensure([_Bare.__shape__])
    for entity in (_Bare, _Quiet):
        either.hold_writes([entity.__shape__], told="moved")
        either.hold_writes([entity.__shape__], told=None)
        Store(either).put(entity(name=entity.__name__))
    assert [entry.key["name"] for entry in either.changes([_Bare.__shape__])] == ["_Bare"]


def test_many_tables_are_looked_at_with_as_many_questions_as_one(
    either: SqlEngine,
) -> None:
    either.ensure(SUITE.shapes)
    one, many = (asked(either, shapes) for shapes in ([Watched.__shape__], SUITE.shapes))
    assert many == one


def asked(engine: SqlEngine, shapes: Sequence[EntityShape]) -> int:
    """How many statements it takes to see that nothing is missing."""
    texts: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        texts.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        assert engine.ensure(shapes) == []
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    return len(texts)
