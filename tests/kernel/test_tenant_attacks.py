"""What the role of a bound session tries in SQL of its own, at every table there is: it is refused, or touches nothing.

Tables, columns and what may be done are taken from the declarations, so that a new entity is attacked by being there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors as pg

from penstock import Store
from penstock.domains import DOMAINS
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.isolation import TENANT
from penstock.engines.sql.postgres import PostgresConnector
from penstock.engines.sql.project_readers import CALLED, READER
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape
from penstock.work.working import WORKING
from tests.conftest import chosen_engines
from tests.kernel.test_scope import SCOPED
from tests.servers import Postgres, require

ONE, TWO = str(UUID(int=1)), str(UUID(int=2))
OTHERWISE = f"prj-user{ONE}"
ALL = (SYSTEM_RECORDS, *DOMAINS, WORKING, SCOPED)
SHAPES = [shape for domain in ALL for shape in domain.shapes]
OF_PROJECTS = [shape for shape in SHAPES if shape.project is not None]
LOCKS = ("share update exclusive", "share", "share row exclusive", "exclusive", "access exclusive")
Session = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Every table of the kernel and of all domains, with rows of two projects, owned by who is no superuser."""
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    with require(Postgres()) as server:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("create role keeper login createrole")
            admin.execute(f"create role {READER} nologin noinherit".encode())
            for name in (f"{CALLED}{ONE}", OTHERWISE):
                admin.execute(f'create role "{name}" login in role {READER}'.encode())
            admin.execute("create database kept owner keeper")
        url = server.url_of("kept").replace("postgres@", "keeper@")
        store = Store(SqlEngine(PostgresConnector(url)), own=SYSTEM_RECORDS)
        store.ensure(*ALL)
        store.close()
        with psycopg.connect(url) as owner:
            for shape in SHAPES:
                for project in (ONE, TWO):
                    for _ in range(rows_in(shape)):
                        owner.execute(*insert_of(shape, project))
        yield url


@pytest.fixture
def owner(url: str) -> Iterator[Session]:
    """The owner, in a transaction that is undone; `attempt` is what becomes the tenant."""
    with psycopg.connect(url) as connection, connection.transaction(force_rollback=True):
        yield connection


def relation(shape: EntityShape) -> str:
    return f'"{shape.domain}"."{shape.relation}"'


def rows_in(shape: EntityShape) -> int:
    """How many rows each project has in a table."""
    return 1 if all(field is shape.project for field in shape.key_fields) else 2


def value_of(field: FieldShape) -> Any:
    """Some value of a field, another each time where it may name a record."""
    plain: dict[Kind, Any] = {
        Kind.TEXT: uuid4().hex,
        Kind.IDENTIFIER: uuid4(),
        Kind.INTEGER: uuid4().int % 10**9,
        Kind.FLOAT: 0.5,
        Kind.DECIMAL: 1,
        Kind.FLAG: True,
        Kind.BYTES: b"x",
        Kind.INSTANT: datetime.now(UTC),
        Kind.DAY: datetime.now(UTC).date(),
        Kind.TEXTS: json.dumps(["x"]),
        Kind.DOCUMENT: json.dumps({}),
    }
    return sorted(m.value for m in field.python)[0] if field.kind is Kind.CHOICE else plain[field.kind]


def insert_of(shape: EntityShape, project: str) -> tuple[bytes, list[Any]]:
    fields = list(shape.fields.values())
    values = [project if shape.project is f else value_of(f) for f in fields]
    columns = ", ".join(f'"{f.column}"' for f in fields)
    return f"insert into {relation(shape)} ({columns}) values ({', '.join(['%s'] * len(fields))})".encode(), values


def rows_of(session: Session, shape: EntityShape) -> list[tuple[Any, ...]]:
    return session.execute(f"select ctid::text, r::text from {relation(shape)} as r order by 1".encode()).fetchall()


def attempt(owner: Session, text: str | bytes, parameters: list[Any] | None = None) -> int | None:
    """Do something as the tenant of project one: how many rows it touched or found, None when it was refused."""
    try:
        with owner.transaction():
            become(owner)
            cursor = owner.execute(text if isinstance(text, bytes) else text.encode(), parameters)
            found = cursor.fetchall() if cursor.description else None
            return cursor.rowcount if found is None else sum(1 for row in found if row != (False,))
    except (pg.InsufficientPrivilege, pg.FeatureNotSupported, pg.UndefinedFunction, pg.UndefinedTable):
        return None
    except pg.UniqueViolation:  # it was let in, as far as the database is concerned
        return 1
    finally:
        owner.execute("set local role none")


def become(session: Session) -> None:
    session.execute(f"set local role {TENANT}".encode())
    session.execute("select set_config('penstock.project', %s, true)", (ONE,))


# Tables of projects


@pytest.fixture(params=OF_PROJECTS, ids=lambda s: s.label)
def shape(request: pytest.FixtureRequest) -> EntityShape:
    found: EntityShape = request.param
    return found


def project_column(shape: EntityShape) -> str:
    assert shape.project is not None
    return f'"{shape.project.column}"'


def any_column(shape: EntityShape) -> str:
    """One that an update may set, the project last."""
    rest = [f for f in shape.fields.values() if f.name not in shape.key.fields]
    others = [f for f in rest if f is not shape.project]
    return f'"{(others or rest or shape.key_fields)[0].column}"'


def test_rows_of_another_project_are_neither_seen_nor_touched(owner: Session, shape: EntityShape) -> None:
    table, own, column = relation(shape), project_column(shape), any_column(shape)
    before = rows_of(owner, shape)
    places = [row[0] for row in owner.execute(f"select ctid::text from {table} where {own}::text = '{TWO}'".encode())]
    assert len(places) >= rows_in(shape)
    for text in (
        f"select 1 from {table} where {own}::text = '{TWO}'",
        f"select 1 from {table} where {own}::text = '{TWO}' for update",
        f"select 1 from {table} where {own}::text = '{TWO}' for key share",
        f"update {table} set {column} = {column} where {own}::text = '{TWO}'",
        f"update {table} set {own} = {own} where {own}::text = '{TWO}'",
        f"delete from {table} where {own}::text = '{TWO}'",
        *(f"select penstock.remove('{table}', '{place}')" for place in places),
        f"merge into {table} t using (select 1) s on t.{own}::text = '{TWO}' when matched then delete",
    ):
        assert not attempt(owner, text), text
        assert rows_of(owner, shape) == before, text
    assert attempt(owner, *insert_of(shape, TWO)) is None
    assert attempt(owner, f"update {table} set {own} = '{TWO}'") is None
    copied = f"create temp table gone as select * from {table} where {own}::text = '{TWO}'"
    assert not attempt(owner, copied)
    assert rows_of(owner, shape) == before


def test_a_row_without_a_project_is_nobodys(owner: Session, shape: EntityShape) -> None:
    assert shape.project is not None
    if not shape.project.optional:
        pytest.skip("every row has one")
    text, values = insert_of(shape, ONE)
    at = list(shape.fields).index(shape.project.name)
    values[at] = None
    owner.execute(text, values)
    assert not attempt(owner, f"select 1 from {relation(shape)} where {project_column(shape)} is null")
    assert (
        attempt(owner, text, [value_of(f) if f is not shape.project else None for f in shape.fields.values()]) is None
    )


def test_own_rows_are_had_as_far_as_the_declaration_says(owner: Session, shape: EntityShape) -> None:
    """And exactly so far: what a scope needs is granted, and what it does not need is not."""
    table, column = relation(shape), any_column(shape)
    rights = shape.rights
    before = rows_of(owner, shape)
    assert (attempt(owner, f"select 1 from {table}") == rows_in(shape)) is rights.read
    assert attempt(owner, f"delete from {table}") is None, "whoever may delete may lock the table for all"
    changed = attempt(owner, f"update {table} set {column} = {column}")
    assert changed == (rows_in(shape) if rights.change else None)
    if rights.read:
        removed = attempt(owner, f"select penstock.remove('{table}', ctid) from {table}")
        assert removed == (rows_in(shape) if rights.remove else None)
    if not rights.change and not rights.remove:
        assert rows_of(owner, shape) == before
        place = owner.execute(
            f"select ctid from {table} where {project_column(shape)}::text = '{ONE}'".encode()
        ).fetchone()
        assert place is not None
        assert attempt(owner, b"select penstock.remove(%s::text::regclass, %s::text::tid)", [table, place[0]]) is None
        assert rows_of(owner, shape) == before
    added = attempt(owner, *insert_of(shape, ONE))
    assert added == (1 if rights.add else None)


# All tables


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.label)
def test_no_table_is_locked_emptied_or_made_another(owner: Session, shape: EntityShape) -> None:
    table, column = relation(shape), any_column(shape)
    before = rows_of(owner, shape)
    for text in (
        *(f"lock table {table} in {mode} mode" for mode in LOCKS),
        f"truncate {table}",
        f"copy {table} from program 'true'",
        f"copy {table} to '/dev/null'",
        f"alter table {table} disable row level security",
        f"alter table {table} no force row level security",
        f"alter table {table} add column forged text",
        f"alter table {table} owner to {TENANT}",
        f"alter table {table} disable trigger all",
        f"create policy mine on {table} using (true)",
        f"drop policy penstock_project on {table}",
        f"drop table {table}",
        f"create index on {table} ({column})",
        f"create trigger mine after insert on {table} for each row execute function penstock.log_change('x')",
        f"create rule mine as on insert to {table} do instead nothing",
        f"comment on table {table} is 'mine'",
        f"create table {table.rsplit('.', 1)[0]}.mine ()",
        f"create function {table.rsplit('.', 1)[0]}.mine() returns int language sql as 'select 1'",
    ):
        try:
            result = attempt(owner, text)
        except (pg.ActiveSqlTransaction, pg.UndefinedObject):
            result = None
        assert result is None, text
    attempt(owner, f"grant all on {table} to public")  # of which a warning tells that nothing was granted
    assert rows_of(owner, shape) == before
    opened = owner.execute(
        "select 1 from aclexplode((select relacl from pg_class where oid = %s::regclass)) where grantee = 0", (table,)
    )
    assert not opened.fetchall()


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.project is None], ids=lambda s: s.label)
def test_a_table_of_no_project_is_closed(owner: Session, shape: EntityShape) -> None:
    for text in (
        f"select 1 from {relation(shape)}",
        f"update {relation(shape)} set {any_column(shape)} = {any_column(shape)}",
        f"delete from {relation(shape)}",
        f"select penstock.remove('{relation(shape)}', '(0,1)')",
    ):
        assert attempt(owner, text) is None, text
    assert attempt(owner, *insert_of(shape, ONE)) is None


# The log of changes


def test_nobody_forges_what_others_are_told(owner: Session) -> None:
    """By the trigger's function at a table of one's own, or by writing to the log."""
    log = "select transaction::text, position, relation, project, new::text from penstock.changes order by 1, 2"
    before = owner.execute(log).fetchall()
    assert {row[3] for row in before} >= {ONE, TWO}
    forged = '{"project_id": "' + TWO + '"}'
    trigger = (
        "create temp table parcels (project_id text, shelf text, number bigint); "
        "create trigger forging after insert on pg_temp.parcels for each row "
        "execute function penstock.log_change('\"scoped\".\"parcels\"', 'project_id'); "
        f"insert into pg_temp.parcels values ('{TWO}', 's', 1)"
    )
    for text in (
        trigger,
        "select penstock.log_change()",
        *(
            "insert into penstock.changes (relation, kind, new, cause, project) "
            f"values ('x', 'insert', '{forged}', 'user', '{project}')"
            for project in (ONE, TWO)
        ),
        "update penstock.changes set cause = 'expiry'",
        "delete from penstock.changes",
        "truncate penstock.changes",
        "select penstock.remove('penstock.changes', ctid) from penstock.changes",
        "select nextval('penstock.changes_position_seq')",
        "select setval('penstock.changes_position_seq', 1)",
        "insert into penstock.feed_order (transaction, first) values (pg_current_xact_id(), 1)",
        "update penstock.feed_order set first = 0",
        "delete from penstock.feed_order",
        "select nextval('penstock.feed_order_place_seq')",
        "select penstock.place_commit()",
        "insert into penstock.feed_trimmed values ('x', 1, 1, 1)",
        "delete from penstock.feed_trimmed",
        *(f"lock table penstock.{table} in {mode} mode" for table in ("changes", "feed_order") for mode in LOCKS),
    ):
        assert attempt(owner, text) is None, text
    assert owner.execute(log).fetchall() == before
    assert attempt(owner, b"select 1 from penstock.changes where project is distinct from %s", [ONE]) == 0


def test_the_function_itself_believes_no_other_table(owner: Session) -> None:
    """Also if it could be called: of a database where somebody attached it before it was closed."""
    owner.execute("grant execute on function penstock.log_change() to public")
    for name in ('"scoped"."parcels"', '"parcels"'):
        text = (
            "create temp table parcels (project_id text); create trigger forging after insert on pg_temp.parcels "
            f"for each row execute function penstock.log_change('{name}', 'project_id'); "
            f"insert into pg_temp.parcels values ('{TWO}')"
        )
        assert attempt(owner, text) is None


# The database


@pytest.mark.parametrize(
    "text",
    [
        "select * from penstock.commits",
        "delete from penstock.commits",
        "update penstock.commits set token = 'x'",
        "insert into penstock.commits (token, at) values ('x', now())",
        "lock table penstock.commits in exclusive mode",
        "create schema mine",
        "create role mine",
        f"alter role {TENANT} login",
        f"alter role {TENANT} bypassrls",
        f"grant keeper to {TENANT}",
        "set session authorization postgres",
        "select rolpassword from pg_authid",
        "select pg_read_file('/etc/passwd')",
        "create or replace function penstock.remove(regclass, tid) returns boolean language sql as 'select true'",
        "drop function penstock.remove(regclass, tid)",
        "create extension hstore",
        "create publication mine for all tables",
        "create event trigger mine on ddl_command_start execute function penstock.log_change()",
    ],
)
def test_nothing_else_is_the_tenants(owner: Session, text: str) -> None:
    assert attempt(owner, text) is None


def test_the_role_has_no_powers(owner: Session) -> None:
    powers = owner.execute(
        "select rolsuper or rolinherit or rolcreaterole or rolcreatedb or rolcanlogin or rolreplication "
        "or rolbypassrls, "
        "(select count(*) from pg_auth_members m where m.member = r.oid) from pg_roles r where rolname = %s",
        (TENANT,),
    ).fetchall()
    assert powers == [(False, 0)]
    owned = owner.execute(
        "select count(*) from pg_class where relowner = (select oid from pg_roles where rolname = %s)", (TENANT,)
    ).fetchall()
    assert owned == [(0,)]


# Users that are called after a project, with SQL of their own


@pytest.fixture
def reader(url: str) -> Iterator[Session]:
    """A database user of project one, who has no other right."""
    with psycopg.connect(url, user=f"{CALLED}{ONE}", autocommit=True) as connection:
        yield connection


def refused(session: Session, text: str, parameters: list[Any] | None = None) -> bool:
    """Is something not let through? Should it be, it is undone."""
    try:
        with session.transaction(force_rollback=True):
            session.execute(text.encode(), parameters)
    except (pg.InsufficientPrivilege, pg.FeatureNotSupported, pg.UndefinedObject, pg.InvalidParameterValue):
        return True
    return False


def seen(session: Session, shape: EntityShape) -> list[str]:
    return [row[0] for row in session.execute(f"select {project_column(shape)}::text from {relation(shape)}".encode())]


def test_a_user_called_after_a_project_reads_it_and_nothing_else(reader: Session, shape: EntityShape) -> None:
    """AC-45, F-AC-10: by their name, which they cannot set, as they can all that a session is bound by."""
    if not shape.rights.read:
        assert refused(reader, f"select 1 from {relation(shape)}")
        return
    assert seen(reader, shape) == [ONE] * rows_in(shape)
    for text in (f"set penstock.project = '{TWO}'", f"set session penstock.project = '{TWO}'", "reset all"):
        reader.execute(text.encode())
        assert seen(reader, shape) == [ONE] * rows_in(shape), text
    reader.execute("set row_security = off")
    assert refused(reader, f"select 1 from {relation(shape)}")
    reader.execute("reset row_security")
    reader.execute(f"set role {READER}".encode())
    assert seen(reader, shape) == []


def test_a_user_called_after_a_project_writes_nothing(reader: Session, owner: Session, shape: EntityShape) -> None:
    table, column = relation(shape), any_column(shape)
    before = rows_of(owner, shape)
    for project in (ONE, TWO):
        text, values = insert_of(shape, project)
        assert refused(reader, text.decode(), values)
    for statement in (
        f"update {table} set {column} = {column}",
        f"delete from {table}",
        f"truncate {table}",
        f"select 1 from {table} for update",
        f"select penstock.remove('{table}', '(0,1)')",
        f"alter policy {READER} on {table} using (true)",
        f"drop policy {READER} on {table}",
        *(f"lock table {table} in {mode} mode" for mode in LOCKS),
    ):
        assert refused(reader, statement), statement
    assert rows_of(owner, shape) == before


@pytest.mark.parametrize(
    "text",
    [
        f"set role {TENANT}",
        "set role keeper",
        "set session authorization keeper",
        f'set role "{CALLED}{TWO}"',
        f'alter role "{CALLED}{ONE}" rename to "{CALLED}{TWO}"',
        f'create role "{CALLED}{TWO}" login in role {READER}',
        f'alter role "{CALLED}{ONE}" bypassrls',
        "select * from penstock.changes",
        "select * from penstock.commits",
        "select penstock.log_change()",
        "create schema mine",
    ],
)
def test_such_a_user_becomes_nobody_else(reader: Session, text: str) -> None:
    assert refused(reader, text)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.project is None], ids=lambda s: s.label)
def test_to_such_a_user_a_table_of_no_project_is_closed(reader: Session, shape: EntityShape) -> None:
    assert refused(reader, f"select 1 from {relation(shape)}")


def test_whoever_is_called_otherwise_reads_nothing(url: str) -> None:
    """Also when what follows the eighth letter of the name is a project's id."""
    with psycopg.connect(url, user=OTHERWISE, autocommit=True) as session:
        for shape in OF_PROJECTS:
            if shape.rights.read:
                assert seen(session, shape) == [], shape


def test_views_and_statistics_tell_such_a_user_of_one_project(reader: Session, url: str) -> None:
    """AC-32…AC-34: each view of every domain."""
    with psycopg.connect(url, autocommit=True) as everybody:
        everybody.execute("update assetcreator.jobs set status = 'running'")
        everybody.execute("update assetcreator.steps set status = 'paused'")
        everybody.execute("analyze assetcreator.jobs")
        for domain in DOMAINS:
            for view in domain.view_shapes:
                text = f'select * from "{domain.name}"."{view.name}"'.encode()
                told = str(reader.execute(text).fetchall())
                assert TWO not in told
                assert (ONE in told) is (ONE in str(everybody.execute(text).fetchall()))
    running = reader.execute("select project_id from assetcreator.v_jobs_in_progress").fetchall()
    assert set(running) == {(ONE,)}
    assert reader.execute("select 1 from pg_stats where schemaname = 'assetcreator'").fetchall() == []


def test_what_such_users_had_too_much_is_told_and_taken_back(url: str, reader: Session) -> None:
    """And without the policy they would see everything, so that the tests above would notice."""
    store = Store(SqlEngine(PostgresConnector(url)), own=SYSTEM_RECORDS)

    def todo() -> list[str]:
        return [s.name for s in store.ensure(*ALL, dry_run=True) if s.kind == "isolate readers"]

    assert todo() == []
    with psycopg.connect(url, autocommit=True) as everybody:
        for text in (
            f"alter policy {READER} on assetcreator.jobs using (true)",
            f"drop policy {READER} on assetcreator.steps",
            f"grant insert on assetcreator.assets to {READER}",
            f"grant select on penstock.changes to {READER}",
        ):
            everybody.execute(text.encode())
    (jobs, steps) = (next(s for s in SHAPES if s.label == f"assetcreator.{name}") for name in ("Job", "Step"))
    assert {*seen(reader, jobs)} == {*seen(reader, steps)} == {ONE, TWO}
    assert sorted(todo()) == [
        *("assetcreator.assets", "assetcreator.jobs", "assetcreator.steps", "penstock.changes"),
    ]
    store.ensure(*ALL)
    assert todo() == []
    assert {*seen(reader, jobs)} == {*seen(reader, steps)} == {ONE}
    store.close()
