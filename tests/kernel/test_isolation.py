"""Row-level security (AC-45, F-AC-10): hand-written SQL in a session bound to a project sees and changes only that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import psycopg
import pytest
from psycopg import errors as pg

from penstock import Store
from penstock.domains.assetcreator.bookkeeping import Audit
from penstock.domains.assetcreator.model import DOMAIN, Asset, Job, JobPlace, Project, Step
from penstock.domains.musicvideo.model import DOMAIN as MUSIC
from penstock.domains.videos.model import DOMAIN as VIDEOS
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.isolation import TENANT
from penstock.engines.sql.postgres import BoundConnector, PostgresConnector
from penstock.errors import Misconfigured, OutOfScope
from penstock.kernel.handle import put
from penstock.operations.plan import PlanStep as Done
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.shape import EntityShape
from tests.conftest import chosen_engines
from tests.domains.strangers import record_of
from tests.kernel.test_plans import PATTERNS, _statements
from tests.kernel.test_scope import NOT_A_SCOPES, SCOPED, Parcel
from tests.kernel.two_projects import JOBS, ONE, TWO, everything, fill
from tests.servers import Postgres, require

DOMAINS = (DOMAIN, MUSIC, VIDEOS, SCOPED)
TABLES = [s for d in (SYSTEM_RECORDS, *DOMAINS) for s in d.shapes]
VIEWS = ("v_jobs_in_progress", "v_steps_needing_review", "v_assets_by_type")
Session = psycopg.Connection[tuple[Any, ...]]


def open_at(url: str) -> Store:
    return Store(SqlEngine(PostgresConnector(url)), own=SYSTEM_RECORDS)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server of one's own: roles are of a whole server."""
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    with require(Postgres()) as server:
        yield server


@pytest.fixture(scope="module")
def url(server: Postgres) -> str:
    """A database owned by a user who is no superuser, as it should be, with two projects in it."""
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("create role keeper login createrole")
        admin.execute("create database kept owner keeper")
    url = server.url_of("kept").replace("postgres@", "keeper@")
    store = open_at(url)
    store.ensure(*DOMAINS)
    scopes = {p: store.scoped(p) for p in (ONE, TWO)}
    fill(scopes)
    made = {type(record) for record in everything(store)}
    for entity in DOMAIN.entities:
        for project in (ONE, TWO) if entity not in made else ():
            scopes[project].put(record_of(entity, project, store.clock.now()))
    for n, project in enumerate((ONE, TWO) * 3):
        scopes[project].put(Parcel(project_id=project, shelf="s", number=n))
    store.close()
    return url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = open_at(url)
    yield store
    store.close()


@pytest.fixture
def session(store: Store) -> Iterator[Session]:
    """The very session a store bound to project one uses, bound as it binds it, in a transaction that is undone."""
    connector: BoundConnector = cast(Any, store.engine).bound(ONE).connector
    session = connector._take()
    with session.transaction(force_rollback=True):
        for call in connector._binding():
            session.execute(call.text.encode(), [bytes(v or b"").decode() for v in call.values])
        yield session
    session.close()


def sql(text: str) -> bytes:
    """psycopg takes literal strings, or bytes, for SQL."""
    return text.encode()


def relation(shape: EntityShape) -> str:
    return f'"{shape.domain}"."{shape.relation}"'


def projects_in(session: Session, shape: EntityShape) -> list[str]:
    assert shape.project is not None
    rows = session.execute(sql(f'select "{shape.project.column}"::text from {relation(shape)}')).fetchall()
    return [row[0] for row in rows]


OF_PROJECTS = [s for s in TABLES if s.project is not None]
SEEN = [s for s in OF_PROJECTS if s.rights.read]
OF_NONE = [s for s in TABLES if s.project is None or not s.rights.read]


# One project


@pytest.mark.parametrize("shape", SEEN, ids=lambda s: s.label)
def test_a_select_without_any_condition_sees_one_project(session: Session, url: str, shape: EntityShape) -> None:
    """AC-45: also of tables that have no project in the documents (F-AC-10: steps, versions, outbox, idempotency)."""
    assert set(projects_in(session, shape)) <= {ONE}
    with psycopg.connect(url) as owner:
        both = projects_in(owner, shape)
    assert both.count(ONE) == len(projects_in(session, shape))
    if shape.domain == "assetcreator":
        assert set(both) == {ONE, TWO}, "the test would show nothing"


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_shows_one_project(session: Session, view: str) -> None:
    session.execute("set local role none")
    session.execute("update assetcreator.jobs set status = 'running'")
    seen = session.execute(sql(f"select project_id from assetcreator.{view}")).fetchall()
    assert {row[0] for row in seen} == {ONE, TWO}
    session.execute(sql(f"set local role {TENANT}"))
    rows = session.execute(sql(f"select project_id from assetcreator.{view}")).fetchall()
    assert {row[0] for row in rows} == {ONE}
    assert len(seen) == 2 * len(rows)


def test_an_update_and_a_delete_without_any_condition_touch_one_project(session: Session) -> None:
    assert session.execute("update assetcreator.steps set approved_by = 'me'").rowcount == 2 * JOBS
    assert session.execute("update assetcreator.jobs set current_step = 'rig'").rowcount == JOBS
    removed = session.execute("select penstock.remove('assetcreator.steps', ctid) from assetcreator.steps").fetchall()
    assert removed == [(True,)] * 2 * JOBS
    session.execute("set local role none")
    assert projects_in(session, Step.__shape__) == [TWO] * 2 * JOBS
    told = session.execute("select distinct approved_by from assetcreator.steps").fetchall()
    assert told == [(None,)]


def test_a_row_of_another_project_is_neither_inserted_nor_made(session: Session) -> None:
    foreign = "insert into assetcreator.job_places (job_id, project_id) values ('x', 'p2')"
    for statement in (
        foreign,
        "insert into assetcreator.job_places (job_id, project_id) values ('x', null)",
        "update assetcreator.job_places set project_id = 'p2'",
        "insert into assetcreator.job_places (job_id, project_id) values ('p2-j0', 'p1') "
        "on conflict (job_id) do update set project_id = excluded.project_id",
    ):
        with pytest.raises((pg.InsufficientPrivilege, pg.NotNullViolation)), session.transaction():
            session.execute(sql(statement))
    session.execute(sql(foreign.replace("p2", "p1")))


@pytest.mark.parametrize("shape", OF_NONE, ids=lambda s: s.label)
def test_a_table_of_no_project_is_closed(session: Session, shape: EntityShape) -> None:
    with pytest.raises(pg.InsufficientPrivilege):
        session.execute(sql(f"select * from {relation(shape)}"))


def test_the_log_of_changes_shows_one_project_and_is_written_by_its_trigger_only(session: Session) -> None:
    whose = "select distinct coalesce(new ->> 'project_id', new ->> 'id') from penstock.changes"
    parcels = "select count(*) from penstock.changes where relation like '%parcels%'"
    assert session.execute(whose).fetchall() == [(ONE,)]
    assert session.execute(parcels).fetchall() == [(3,)]
    session.execute("update scoped.parcels set owner = gen_random_uuid()")
    assert session.execute(parcels).fetchall() == [(6,)]
    for statement in ("insert into penstock.changes (relation) values ('x')", "delete from penstock.changes"):
        with pytest.raises(pg.InsufficientPrivilege), session.transaction():
            session.execute(sql(statement))
    with pytest.raises(pg.InsufficientPrivilege):
        session.execute("select * from penstock.commits")


def test_a_session_stays_bound(store: Store, url: str) -> None:
    """What ends a role or a setting leaves the session with less, never with more."""
    connector = cast(Any, store.engine).bound(ONE).connector
    session = connector._take()
    for statement in ("reset role", "reset all", "discard all", "reset penstock.project"):
        session.execute(statement)
        assert session.execute("select current_user").fetchall() == [(TENANT,)]
        assert set(projects_in(session, Step.__shape__)) <= {ONE}
    assert projects_in(session, Step.__shape__) == []
    session.close()
    with psycopg.connect(url) as nobody:
        nobody.execute(sql(f"set role {TENANT}"))
        assert projects_in(nobody, Step.__shape__) == [], "a session that names no project sees none"


def test_one_session_serves_many_projects_and_never_two(store: Store) -> None:
    """Sessions are shared, and set to a project before each use; eight threads try to meet another's."""
    store.scoped(ONE)
    failures: list[object] = []

    def work(number: int) -> None:
        for n in range(60):
            project = (ONE, TWO)[(n + number) % 2]
            found = {s.project_id for s in store.scoped(project).find(Step.by_status(status="paused"))}  # type: ignore[arg-type]
            raw = cast(Any, store.engine).bound(project).connector.rows("select project_id from assetcreator.steps", ())
            if found != {project} or {r[0] for r in raw} != {project}:
                failures.append((project, found))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_session_that_broke_is_replaced_by_a_bound_one(store: Store, server: Postgres) -> None:
    scoped = store.scoped(ONE)
    assert scoped.lookup(Project.at(project_id=ONE)) is not None
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'keeper'")
    other = store.scoped(TWO)
    assert other.lookup(Project.at(project_id=ONE)) is None
    assert other.lookup(Project.at(project_id=TWO)) is not None
    assert scoped.lookup(Project.at(project_id=ONE)) is not None


# The engine beneath the scope, by itself


def test_the_bound_engine_alone_is_safe_and_says_out_of_scope(store: Store) -> None:
    """What a scope would refuse before, the database refuses."""
    bound = Store(store.engine.bound(ONE), own=SYSTEM_RECORDS)
    assert {s.project_id for s in bound.find(Step.of_job(job_id="p2-j0"))} == set()
    assert bound.lookup(JobPlace.at(job_id="p2-j0")) is None
    for attempt in (
        lambda: bound.put(JobPlace(job_id="p2-j0", project_id=ONE)),
        lambda: bound.put(JobPlace(job_id="x", project_id=TWO)),
        lambda: bound.put_many([JobPlace(job_id="x", project_id=TWO)]),
        lambda: bound.commit([put(JobPlace(job_id="y", project_id=ONE)), put(JobPlace(job_id="x", project_id=TWO))]),
        lambda: bound.ensure(DOMAIN),
        lambda: bound.engine.expire(DOMAIN.shapes, now=bound.clock.now()),
        lambda: bound.engine.bound(TWO),
    ):
        with pytest.raises(OutOfScope):
            attempt()
    bound.delete(JobPlace.at(job_id="p2-j0"))
    assert store.get(JobPlace.at(job_id="p2-j0")).project_id == TWO
    assert store.get_many([JobPlace.at(job_id="x"), JobPlace.at(job_id="y")]) == [None, None]


# Owners, operators and others


def test_the_owner_sees_all_and_is_bound_once_it_becomes_the_tenant(url: str) -> None:
    """Row security is forced, so that it is the policy, not ownership, that lets the owner see everything."""
    with psycopg.connect(url) as owner:
        assert set(projects_in(owner, Step.__shape__)) == {ONE, TWO}
        forced = owner.execute(
            "select bool_and(relrowsecurity and relforcerowsecurity) from pg_class where oid = any(%s::regclass[])",
            ([relation(s) for s in OF_PROJECTS],),
        ).fetchall()
        assert forced == [(True,)]
        with owner.transaction(force_rollback=True):
            owner.execute(sql(f"set local role {TENANT}"))
            owner.execute("select set_config('penstock.project', 'p2', true)")
            assert set(projects_in(owner, Step.__shape__)) == {TWO}
        with owner.transaction(force_rollback=True):
            for policy in ("penstock_owner", "penstock_others"):
                owner.execute(sql(f"drop policy {policy} on assetcreator.steps"))
            assert projects_in(owner, Step.__shape__) == []


def test_another_role_sees_what_it_is_granted(url: str, server: Postgres) -> None:
    """Policies are for the tenant: an analyst, or an application that does not own the tables, is not made blind."""
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("create role analyst login")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("grant usage on schema assetcreator to analyst")
        owner.execute("grant select on assetcreator.steps to analyst")
    with psycopg.connect(url.replace("keeper@", "analyst@")) as analyst:
        assert set(projects_in(analyst, Step.__shape__)) == {ONE, TWO}
        with pytest.raises(pg.InsufficientPrivilege):
            analyst.execute("select * from assetcreator.jobs")


# Twins that lack something, to show that the tests above would notice


@contextmanager
def as_tenant(url: str, *sabotage: str) -> Iterator[Session]:
    with psycopg.connect(url) as owner, owner.transaction(force_rollback=True):
        for statement in sabotage:
            owner.execute(sql(statement))
        owner.execute(sql(f"set local role {TENANT}"))
        owner.execute("select set_config('penstock.project', 'p1', true)")
        yield owner


@pytest.mark.parametrize(
    "sabotage",
    [
        "alter policy penstock_project on assetcreator.steps using (true)",
        "alter policy penstock_others on assetcreator.steps using (true)",
        "alter table assetcreator.steps disable row level security",
    ],
)
def test_a_twin_whose_policy_lets_all_pass_leaks(url: str, sabotage: str) -> None:
    with as_tenant(url) as sound:
        assert set(projects_in(sound, Step.__shape__)) == {ONE}
    with as_tenant(url, sabotage) as twin:
        assert set(projects_in(twin, Step.__shape__)) == {ONE, TWO}


def test_a_twin_without_the_policy_is_closed(url: str) -> None:
    with as_tenant(url, "drop policy penstock_project on assetcreator.steps") as twin:
        assert projects_in(twin, Step.__shape__) == []


def test_a_twin_whose_view_runs_with_its_owners_rights_leaks(url: str) -> None:
    sabotage = "alter view assetcreator.v_steps_needing_review set (security_invoker = false)"
    with as_tenant(url, sabotage) as twin:
        rows = twin.execute("select project_id from assetcreator.v_steps_needing_review").fetchall()
    assert {row[0] for row in rows} == {ONE, TWO}


# Plans


def _plans(engine: SqlEngine, *, constant: bool | None = None) -> Iterator[tuple[str, str]]:
    """The plan of each statement; those of patterns of one partition for all, of all others, or of both."""
    for pattern in PATTERNS:
        if pattern.entity in OF_PROJECTS and constant in (None, not pattern.key.partition.names):
            for text, parameters in _statements(engine, pattern):
                rows = engine.connector.rows(f"explain (costs off) {text}", parameters)
                yield text, "\n".join(str(row[0]) for row in rows)


def test_policies_change_no_plan_of_the_owners(url: str) -> None:
    """The owner's policy is a constant: the very same plans as without row security."""
    engine = SqlEngine(PostgresConnector(f"{url}?options=-c%20enable_seqscan%3Doff"))
    secured = dict(_plans(engine))
    assert len(secured) > 20
    tables = [relation(s) for s in OF_PROJECTS]
    with psycopg.connect(url, autocommit=True) as owner:
        try:
            for table in tables:
                owner.execute(sql(f"alter table {table} disable row level security"))
            assert dict(_plans(engine)) == secured
        finally:
            for table in tables:
                owner.execute(sql(f"alter table {table} enable row level security"))
    engine.close()


def test_a_bound_session_walks_the_same_indexes(url: str) -> None:
    engine = SqlEngine(PostgresConnector(f"{url}?options=-c%20enable_seqscan%3Doff"))
    for text, plan in _plans(engine.bound(ONE)):
        assert "Seq Scan" not in plan, (text, plan)
    for text, plan in _plans(engine.bound(ONE), constant=False):  # of the others, all are walked in their order
        assert "Index Cond" in plan, (text, plan)
    engine.close()


# Ensuring


def _kinds(steps: list[Done]) -> set[str]:
    return {s.kind for s in steps}


def test_ensuring_again_has_nothing_to_isolate(store: Store) -> None:
    assert "isolate projects" not in _kinds(store.ensure(*DOMAINS))
    assert _kinds(store.ensure(*DOMAINS)) == _kinds(store.ensure(*DOMAINS, dry_run=True))


def test_tables_from_before_are_isolated_and_keep_their_rows(server: Postgres) -> None:
    url = server.create_database("before")
    store = open_at(url)
    store.ensure(*DOMAINS)
    store.put(JobPlace(job_id="a", project_id=ONE))
    store.put(JobPlace(job_id="b", project_id=TWO))
    with psycopg.connect(url, autocommit=True) as admin:
        for shape in OF_PROJECTS:
            for policy in ("penstock_owner", "penstock_others"):
                admin.execute(sql(f"drop policy {policy} on {relation(shape)}"))
            for how in ("no force", "disable"):
                admin.execute(sql(f"alter table {relation(shape)} {how} row level security"))
        admin.execute("drop owned by penstock_tenant")  # its grants, and the policies that are for it
        admin.execute("alter view assetcreator.v_assets_by_type reset (security_invoker)")
        admin.execute("drop policy penstock_others on penstock.changes")
        admin.execute("alter table penstock.changes drop column project")
    with pytest.raises(Misconfigured, match="tables apply"):
        store.scoped(ONE)
    told = store.ensure(*DOMAINS, dry_run=True)
    with pytest.raises(Misconfigured):
        store.scoped(ONE)
    done = store.ensure(*DOMAINS)
    assert {(s.kind, s.name) for s in told} == {(s.kind, s.name) for s in done}
    assert {"isolate projects", "grant", "add column"} <= _kinds(done)
    scoped = store.scoped(ONE)
    assert [r and r.project_id for r in scoped.get_many([JobPlace.at(job_id=j) for j in "ab"])] == [ONE, None]
    scoped.put(Parcel(project_id=ONE, shelf="s", number=1))
    assert len(scoped.engine.changes(SCOPED.shapes)) == 1
    store.close()


def _held(admin: Session) -> list[tuple[Any, ...]]:
    """All that the role may do with any table."""
    return admin.execute(
        "select c.oid::regclass::text, a.privilege_type from pg_class c, aclexplode(c.relacl) a "
        "where a.grantee = %s::regrole order by 1, 2",
        (TENANT,),
    ).fetchall()


def test_what_a_former_version_granted_is_told_and_taken_back(server: Postgres) -> None:
    """It had every table in whole, the log's function was anybody's, and nothing removed rows for it."""
    url = server.create_database("former")
    store = open_at(url)
    store.ensure(*DOMAINS)
    with psycopg.connect(url, autocommit=True) as admin:
        sound = _held(admin)
        for shape in OF_PROJECTS:
            admin.execute(sql(f"grant select, insert, update, delete on {relation(shape)} to {TENANT}"))
        for statement in (
            f"grant all on penstock.commits, penstock.changes to {TENANT}",
            "grant execute on function penstock.log_change() to public",
            "drop function penstock.remove(regclass, tid)",
            "drop policy penstock_remove on assetcreator.steps",
            "create policy penstock_remove on penstock.audit for delete to penstock_tenant using (true)",
            "alter policy penstock_project on assetcreator.jobs using (true) with check (true)",
            "alter policy penstock_others on assetcreator.assets to penstock_tenant",
            f"alter role {TENANT} bypassrls createdb",
            f"grant pg_read_all_data to {TENANT}",
        ):
            admin.execute(sql(statement))
        assert _held(admin) != sound
        with pytest.raises(Misconfigured, match="tables apply"):
            store.scoped(ONE)
        told = store.ensure(*DOMAINS, dry_run=True)
        assert _held(admin) != sound, "a plan changes nothing"
        done = store.ensure(*DOMAINS)
        assert {(s.kind, s.name) for s in told} == {(s.kind, s.name) for s in done}
        assert {"restrict role", "restrict function", "isolate projects", "grant", "create function"} <= _kinds(done)
        assert {relation(s).replace('"', "") for s in OF_PROJECTS} <= {s.name for s in done}
        assert _held(admin) == sound
        assert admin.execute(
            "select rolbypassrls or rolcreatedb, pg_has_role(oid, 'pg_read_all_data', 'member'), "
            "has_function_privilege('public', 'penstock.log_change()', 'execute') from pg_roles where rolname = %s",
            (TENANT,),
        ).fetchall() == [(False, False, False)]
        policies = admin.execute("select tablename, policyname, cmd, qual from pg_policies order by 1, 2").fetchall()
        assert ("audit", "penstock_remove") not in {row[:2] for row in policies}
        assert not [row for row in policies if row[1] in ("penstock_project", "penstock_remove") and row[3] == "true"]
    assert not _kinds(store.ensure(*DOMAINS)) & {"isolate projects", "grant", "restrict role", "restrict function"}
    assert store.scoped(ONE).lookup(JobPlace.at(job_id="none")) is None
    store.close()


def test_a_user_who_may_not_restrict_the_role_is_told_what_to_have_run(store: Store, server: Postgres) -> None:
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(sql(f"alter role {TENANT} createdb"))
        try:
            advice = [s.detail for s in store.ensure(*DOMAINS, dry_run=True) if s.is_advice]
            assert len(advice) == 1
            assert f"`alter role {TENANT} nocreatedb`" in advice[0]
        finally:
            admin.execute(sql(f"alter role {TENANT} nocreatedb"))


@pytest.mark.parametrize("attempt", NOT_A_SCOPES)
def test_what_is_not_a_scopes_the_database_itself_refuses(
    store: Store, attempt: Callable[[Store, Audit], object]
) -> None:
    bound = Store(store.engine.bound(ONE), own=SYSTEM_RECORDS)
    line = next(iter(bound.find(Audit.of_project(project_id=ONE))))
    with pytest.raises(OutOfScope, match="PostgreSQL: permission denied"):
        attempt(bound, line)
    assert bound.get(line.ref) == line


def test_many_databases_of_one_server_may_be_ensured_at_once() -> None:
    """The role is of the whole server, and the lock of ensuring of one database."""
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    with require(Postgres()) as fresh:
        urls = [fresh.create_database(f"d{n}") for n in range(4)]
        failures: list[BaseException] = []

        def run(url: str) -> None:
            try:
                open_at(url).ensure(DOMAIN)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run, args=(url,)) for url in urls * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        for url in urls:
            store = open_at(url)
            assert store.scoped(ONE).lookup(JobPlace.at(job_id="x")) is None
            store.close()


def test_a_user_who_may_not_create_roles_is_told_who_can() -> None:
    """Everything but scoping works; an administrator runs what the step says, and then scoping works too."""
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    with require(Postgres()) as fresh, psycopg.connect(fresh.url, autocommit=True) as admin:
        admin.execute("create role modest login")
        admin.execute("create database small owner modest")
        url = fresh.url_of("small").replace("postgres@", "modest@")
        store = open_at(url)
        advice = [s for s in store.ensure(DOMAIN) if s.is_advice]
        assert advice
        assert "`penstock tables apply`" in advice[0].detail
        store.put(JobPlace(job_id="b", project_id=TWO))
        _refused(lambda: store.scoped(ONE), "no role")
        assert store.scoped(ONE, enforce=False).lookup(JobPlace.at(job_id="b")) is None
        create, grant = advice[0].detail.split("`")[1].split("; ")
        admin.execute(sql(create))
        steps = store.ensure(DOMAIN)
        assert [s.name for s in steps if s.is_advice] == ["grant penstock_tenant to modest"]
        _refused(lambda: store.scoped(ONE), "may not become")
        admin.execute(sql(grant))
        assert not [s for s in store.ensure(DOMAIN) if s.is_advice]
        scoped = store.scoped(ONE)
        assert scoped.lookup(JobPlace.at(job_id="b")) is None
        scoped.put(JobPlace(job_id="a", project_id=ONE))
        assert len(store.get_many([JobPlace.at(job_id=j) for j in "ab"])) == 2
        assert list(scoped.find(Job.of_project(project_id=TWO))) == []
        assert scoped.lookup(Asset.at(project_id=ONE, asset_id="none")) is None
        store.close()


def _refused(attempt: Callable[[], object], why: str) -> None:
    with pytest.raises(Misconfigured, match=why) as refused:
        attempt()
    assert "enforce=False" in str(refused.value)
