"""Tables that cannot grow as they are asked to, and rows that lack what a newer declaration needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import JsonValue

from penstock import Entity, Store, Table, key, open_store
from penstock.engines.sql.dialects import POSTGRES
from penstock.engines.sql.rows import compile_codec
from penstock.errors import DamagedRecord, Misconfigured, Unavailable
from penstock.schema.shape import ViewShape
from tests.servers import Postgres


class _Draft(Entity, table=Table("growing-early", partition="PK", sort="SK"), relation="page"):
    name: str

    @key("PAGE#{name}", "PAGE")
    def at(self, *, name: str) -> None:
        "A page by its name."


class _Page(Entity, table=Table("growing-late", partition="PK", sort="SK"), relation="page"):
    name: str
    title: str
    hidden: bool

    @key("PAGE#{name}", "PAGE")
    def at(self, *, name: str) -> None:
        "A page by its name."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(f"sqlite:///{tmp_path}/pages.db")) as opened:
        yield opened


def test_a_row_that_lacks_a_field_without_a_default_is_told_by_the_field(store: Store) -> None:
    store.engine.ensure([_Draft.__shape__])
    store.put(_Draft(name="first"))
    store.engine.ensure([_Page.__shape__])
    with pytest.raises(DamagedRecord, match=r"_Page\(name=first\) has no title, hidden.*give .* a default"):
        store.get(_Page.at(name="first"))


def test_a_file_that_is_no_database_cannot_be_given_tables(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database, but a text of some length\n" * 40)
    store = open_store(f"sqlite:///{tmp_path}/notes.txt")
    with pytest.raises(Unavailable, match=r"cannot open the SQLite file .*notes\.txt: file is not a database"):
        store.engine.ensure([_Draft.__shape__])


def test_a_directory_cannot_be_given_tables(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"cannot open the SQLite file .*: unable to open database file"):
        open_store(f"sqlite:///{tmp_path}").engine.ensure([_Draft.__shape__])


def test_a_statement_that_sqlite_refuses_is_told_with_its_reason(store: Store) -> None:
    broken = ViewShape("titles", "pages", "select from {_Draft}")
    with pytest.raises(Misconfigured, match=r'SQLite refuses `create view "pages_titles".*`: near "from"'):
        store.engine.ensure([_Draft.__shape__], views=[broken])
    assert "create table" in {s.kind for s in store.engine.ensure([_Draft.__shape__], dry_run=True)}


def test_what_postgresql_refuses_to_create_is_told_with_its_reason(postgres_server: Postgres) -> None:
    with closing(open_store(postgres_server.create_database("growing"))) as store:
        broken = ViewShape("titles", "public", "select title from {_Draft}")
        with pytest.raises(Misconfigured, match=r'PostgreSQL refuses `create view .*`: column "title" does not exist'):
            store.engine.ensure([_Draft.__shape__], views=[broken])


def test_what_postgresql_does_not_let_its_user_create_is_told_with_what_to_do(postgres_server: Postgres) -> None:
    url = postgres_server.create_database("growing")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role penstock_guest_of_growing nologin")
    try:
        guest = f"{url}{'&' if '?' in url else '?'}options=-c%20role%3Dpenstock_guest_of_growing"
        with closing(open_store(guest)) as store, pytest.raises(Misconfigured, match=r"permission denied.*; grant it"):
            store.engine.ensure([_Draft.__shape__])
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("drop role penstock_guest_of_growing")


def test_a_document_that_is_null_is_not_a_missing_one() -> None:
    class Loose(Entity, table=Table("growing-loose", partition="PK", sort="SK")):
        name: str
        anything: Any
        json_of_any_form: JsonValue

        @key("LOOSE#{name}", "LOOSE")
        def at(self, *, name: str) -> None:
            "By its name."

    read = compile_codec(Loose.__shape__, POSTGRES).record(("first", None, None))  # null, as psycopg gives it
    assert read == Loose(name="first", anything=None, json_of_any_form=None)
