"""Behind a proxy that hands out sessions by transaction, everything is right or refused; nothing works unprotected."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any, cast
from uuid import uuid4

import psycopg
import pytest

from penstock import Store, open_store, the
from penstock.domains.assetcreator.model import DOMAIN, Asset, Job, JobPlace, Project, Step
from penstock.domains.assetcreator.stages import Status
from penstock.domains.musicvideo.model import DOMAIN as MUSIC
from penstock.engines.sql import connections
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.isolation import TENANT
from penstock.engines.sql.postgres import BoundConnector, PostgresConnector
from penstock.engines.sql.session import Call
from penstock.errors import Conflict, Misconfigured
from penstock.events.relay import Relay
from penstock.ports.engine import Engine
from penstock.ports.waiting import PollingWaiter
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing import EngineSuite
from penstock.testing.promises.batches import Batches
from penstock.testing.promises.commits import Commits
from penstock.testing.promises.feed import FeedPromises
from penstock.testing.promises.paging import Paging
from tests.conftest import chosen_engines
from tests.kernel.test_scope import SCOPED, Parcel
from tests.kernel.two_projects import ONE, TWO, everything, fill, project_of, questions
from tests.ports.test_waiting import Noted, announce
from tests.servers import Postgres, require
from tests.servers.pooling_proxy import PoolingProxy

PROJECTS = (ONE, TWO, "p3")
WHO = (
    "select current_user::text, current_setting('penstock.project', true), array_agg(distinct project_id)::text[] "
    "from assetcreator.steps"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server of one's own: roles are of a whole server."""
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    with require(Postgres()) as server, psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("create role keeper login createrole")
        yield server


def new_database(server: Postgres, name: str) -> str:
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(f"create database {name} owner keeper".encode())
    return server.url_of(name).replace("postgres@", "keeper@")


@pytest.fixture(scope="module")
def url(server: Postgres) -> str:
    """Three projects, filled without any proxy, in a database whose owner is no superuser."""
    url = new_database(server, "pooled")
    store = open_at(url)
    store.ensure(DOMAIN, MUSIC, SCOPED)
    fill({p: store.scoped(p) for p in PROJECTS})
    store.close()
    return url


def open_at(url: str) -> Store:
    return Store(SqlEngine(PostgresConnector(url)), own=SYSTEM_RECORDS)


def connector_of(store: Store) -> Any:
    return cast(Any, store.engine).connector


@pytest.fixture(params=["ignores settings", "refuses settings", "in disguise", "announced"])
def through(request: pytest.FixtureRequest, server: Postgres, url: str) -> Iterator[str]:
    """The database's URL through a proxy of each kind: as it is found out, or as the URL says."""
    kind = request.param
    with PoolingProxy(server.port, refuses=kind.startswith("refuses"), disguised=kind == "in disguise") as proxy:
        yield proxy.url_of(url) + ("?pool=transaction" if kind == "announced" else "")
        assert proxy.changes, "the proxy never changed a session, so nothing was shown"


@pytest.fixture
def store(through: str) -> Iterator[Store]:
    store = open_at(through)
    yield store
    store.close()


# One project


def at_once(works: list[Callable[[], None]]) -> None:
    """All of them at the same time; the first failure is raised."""
    failures: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_every_read_is_of_its_project_while_others_read_theirs(store: Store) -> None:
    """More clients than sessions, in turns with the operator: none is another, and none the owner unasked."""

    def tenant(project: str) -> None:
        scoped = store.scoped(project)
        raw = cast(Any, store.engine).bound(project).connector
        for _ in range(25):
            assert raw.rows(WHO, ()) == [(TENANT, project, [project])]
            assert {s.project_id for s in scoped.find(Step.by_status(status=Status.PAUSED))} == {project}
            assert scoped.lookup(Project.at(project_id=project)) is not None

    def operator() -> None:
        for _ in range(25):
            who, _, projects = connector_of(store).rows(WHO, ())[0]
            assert (who, set(projects)) == ("keeper", set(PROJECTS))
            assert {project_of(s) for s in store.find(Step.by_status(status=Status.PAUSED))} == set(PROJECTS)

    at_once([*(partial(tenant, p) for p in PROJECTS * 2), operator, operator])


def test_every_write_is_of_its_project_while_others_write_theirs(store: Store) -> None:
    def work(project: str) -> None:
        scoped = store.scoped(project)
        for n in range(12):
            job = f"{project}-{uuid4().hex}"
            with scoped.change(by="worker") as change:
                change.create(JobPlace(job_id=job, project_id=project))
                change.emit("job.placed", Parcel(project_id=project, shelf=job, number=1))
            scoped.put(Parcel(project_id=project, shelf=job, number=n))
            scoped.patch(Parcel.at(shelf=job, number=n), the(Parcel.ts).set(scoped.clock.now()))
            scoped.put_many(Parcel(project_id=project, shelf=job, number=m) for m in range(100, 105))
            assert {p.project_id for p in scoped.find(Parcel.on_shelf(shelf=job))} == {project}
            scoped.delete(Parcel.at(shelf=job, number=n))
            scoped.delete_many(Parcel.at(shelf=job, number=m) for m in range(100, 105))
            assert store.get(JobPlace.at(job_id=job)).project_id == project
            assert scoped.first(Parcel.on_shelf(shelf=job)) is None

    at_once([partial(work, p) for p in PROJECTS * 2])


def test_what_a_scope_is_refused_it_is_refused_here(store: Store) -> None:
    one = store.scoped(ONE)
    theirs = [r for r in everything(store) if project_of(r) == TWO]
    assert theirs
    for record in theirs:
        assert one.lookup(record.ref) is None
    for query in questions():
        assert {project_of(r) for r in one.find(query)} <= {ONE}
    with pytest.raises(Conflict):
        one.put(JobPlace(job_id="p2-j0", project_id=ONE))
    assert store.get(JobPlace.at(job_id="p2-j0")).project_id == TWO


def test_nothing_is_left_in_a_session(store: Store, request: pytest.FixtureRequest) -> None:
    """Neither a role, nor a project, nor a setting, nor a statement: the next may be anybody."""
    store.scoped(ONE).put(Parcel(project_id=ONE, shelf="left", number=1))
    list(store.scoped(TWO).find(Job.by_status(status=Status.PENDING)))
    for _ in range(3):
        assert store.lookup(Asset.at(project_id=ONE, asset_id="hero")) is not None
    with psycopg.connect(connector_of(store).url, autocommit=True, prepare_threshold=None) as stranger:
        for _ in range(4):
            left = stranger.execute(
                "select current_setting('penstock.project', true), current_setting('penstock.cause', true)"
            ).fetchall()
            assert [value or "" for value in left[0]] == ["", ""]
    if "in disguise" not in request.node.name:  # which itself begins its sessions with our settings
        with psycopg.connect(connector_of(store).url, autocommit=True, prepare_threshold=None) as stranger:
            for _ in range(4):
                left = stranger.execute(
                    "select current_user::text, current_setting('enable_seqscan'), "
                    "(select count(*) from pg_prepared_statements where name <> '')"
                ).fetchall()
                assert left == [("keeper", "on", 0)]


# A statement that is not where it should be


class Astray(BoundConnector):
    """A twin whose binding goes to another server than its statements."""

    _role: str | None = None

    def _binding(self) -> tuple[Call, ...]:
        return ()


@pytest.mark.parametrize(
    "attempt",
    [
        lambda s: s.lookup(Project.at(project_id=ONE)),
        lambda s: list(s.find(Step.by_status(status=Status.PAUSED))),
        lambda s: s.get_many([Project.at(project_id=ONE), Project.at(project_id=TWO)]),
        lambda s: s.put(Parcel(project_id=ONE, shelf="a", number=1)),
        lambda s: s.create(Parcel(project_id=ONE, shelf="a", number=1)),
        lambda s: s.put_many([Parcel(project_id=ONE, shelf="a", number=1)]),
        lambda s: s.delete(Parcel.at(shelf="s", number=0)),
        lambda s: s.delete_many([Parcel.at(shelf="s", number=0)]),
        lambda s: s.patch(JobPlace.at(job_id="p1-j0"), the(JobPlace.project_id).set(ONE)),
        lambda s: s.patch(Asset.at(project_id=ONE, asset_id="hero"), the(Asset.latest_version).add(1)),
        lambda s: s.engine.changes(SCOPED.shapes),
    ],
)
def test_a_statement_that_is_not_bound_does_nothing_and_says_so(url: str, attempt: Callable[[Store], object]) -> None:
    """As the owner of the tables it would see and write everything."""
    whole = PostgresConnector(url)
    store = open_at(url)
    store.put(Parcel(project_id=ONE, shelf="s", number=0))
    before = [*everything(store), *store.find(Parcel.on_shelf(shelf="s")), *store.find(Parcel.on_shelf(shelf="a"))]
    astray = Store(SqlEngine(Astray(whole, ONE)), own=SYSTEM_RECORDS)
    with pytest.raises(Misconfigured, match="sends one transaction to several servers"):
        attempt(astray)
    after = [*everything(store), *store.find(Parcel.on_shelf(shelf="s")), *store.find(Parcel.on_shelf(shelf="a"))]
    assert after == before
    store.close()
    whole.close()


def test_a_session_of_another_project_does_nothing_either(url: str) -> None:
    whole = PostgresConnector(url)

    class Mistaken(BoundConnector):
        def _binding(self) -> tuple[Call, ...]:
            return (self.connections.binding(role=TENANT, project=TWO),)

    mistaken = Store(SqlEngine(Mistaken(whole, ONE)), own=SYSTEM_RECORDS)
    attempts: list[Callable[[], object]] = [
        lambda: mistaken.lookup(Project.at(project_id=TWO)),
        lambda: mistaken.put(JobPlace(job_id="x", project_id=TWO)),
        lambda: mistaken.delete(JobPlace.at(job_id="p2-j0")),
    ]
    for attempt in attempts:
        with pytest.raises(Misconfigured):
            attempt()
    whole.close()


# What a session would have to remember


def test_a_proxy_is_found_out_and_a_straight_line_is_not(through: str, url: str) -> None:
    for address, shared in ((through, True), (url, False)):
        store = open_at(address)
        for _ in range(4):
            store.lookup(Project.at(project_id=ONE))
        assert connector_of(store).connections.shared is shared
        store.close()


def test_a_proxy_that_keeps_sessions_and_swallows_what_they_start_with_is_found_out(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query there could take any index, or none, and moments would be told in the server's own zone."""
    monkeypatch.setattr(connections, "_options", lambda settings: "")
    with closing(open_at(url)) as store:
        store.lookup(Project.at(project_id=ONE))
        assert connector_of(store).connections.shared


def test_whoever_waits_looks_again_and_again(store: Store) -> None:
    """Notifications reach nobody there."""
    for _ in range(4):
        store.lookup(Project.at(project_id=ONE))
    waiter = cast(Any, store.engine.listen())
    assert isinstance(waiter._deaf, PollingWaiter)
    assert waiter.wait(30)
    waiter.close()
    assert not waiter.wait(30)


def test_a_relay_delivers_what_is_announced(store: Store) -> None:
    for _ in range(4):
        store.lookup(Project.at(project_id=ONE))
    sink, stop = Noted(), threading.Event()
    thread = threading.Thread(target=Relay(store, sink, owner="relay").run, args=(stop,))
    thread.start()
    try:
        sink.arrived.clear()
        announce(store)
        assert sink.arrived.wait(30)
    finally:
        stop.set()
        thread.join()


def test_settings_of_the_url_are_made_in_every_transaction(server: Postgres, url: str) -> None:
    with PoolingProxy(server.port) as proxy:
        store = open_at(f"{proxy.url_of(url)}?options=-c%20statement_timeout%3D4321%20-c%20DateStyle%3DSQL%2C%5C%20DMY")
        for connector in (connector_of(store), cast(Any, store.engine).bound(ONE).connector):
            for _ in range(4):
                told = connector.rows("select current_setting('statement_timeout'), current_setting('DateStyle')", ())
                assert told == [("4321ms", "SQL, DMY")]
                settings = "select current_setting('timezone'), current_setting('enable_seqscan')"
                assert connector.rows(settings, ()) == [("UTC", "off")]
        store.close()


def test_the_role_that_the_url_says_is_that_of_every_transaction_also_on_a_straight_line(server: Postgres) -> None:
    with PoolingProxy(server.port) as proxy:
        for way in (proxy.url_of(server.url), server.url):
            with closing(PostgresConnector(f"{way}?options=-c%20role%3Dpg_monitor")) as connector:
                assert [connector.rows("select current_user::text", ()) for _ in range(3)] == [[("pg_monitor",)]] * 3


def test_tables_are_made_through_it(server: Postgres) -> None:
    url = new_database(server, "made")
    with PoolingProxy(server.port) as proxy:
        store = open_at(proxy.url_of(url))
        store.ensure(DOMAIN, SCOPED)
        assert not [s for s in store.ensure(DOMAIN, SCOPED) if s.kind in ("isolate projects", "create table", "grant")]
        store.scoped(ONE).put(JobPlace(job_id="a", project_id=ONE))
        assert store.scoped(TWO).lookup(JobPlace.at(job_id="a")) is None
        store.close()


def test_more_statements_than_a_session_remembers(url: str) -> None:
    """The oldest are forgotten, at both ends, and known again when they come again."""
    store = open_at(url)
    connector = connector_of(store)
    for _ in range(3):
        for n in range(230):
            assert connector.rows(f"select %s::int + {n}", (1,)) == [(1 + n,)]
            assert connector.rows(f"select %s::int + {n}", (1,)) == [(1 + n,)]
    kept = connector.rows("select count(*) from pg_prepared_statements", ())[0][0]
    assert 100 < kept <= 200
    assert not connector.connections.shared
    store.close()


# What the URL says


def test_a_proxy_that_keeps_sessions_may_be_trusted_to(url: str, server: Postgres) -> None:
    store = open_at(f"{url}?pool=session")
    for _ in range(3):
        assert store.scoped(ONE).lookup(Project.at(project_id=ONE)) is not None
    assert connector_of(store).rows("select current_setting('timezone')", ()) == [("UTC",)]
    assert not connector_of(store).connections.shared
    store.close()
    with PoolingProxy(server.port) as proxy:
        liar = open_at(f"{proxy.url_of(url)}?pool=session")
        with pytest.raises(Misconfigured, match="pool=transaction"):
            for _ in range(12):
                liar.lookup(Project.at(project_id=ONE))
        liar.close()


@pytest.mark.parametrize("said", ["pool=statement", "pool=", "pool=session&pool=transaction"])
def test_another_word_is_refused(said: str) -> None:
    with pytest.raises(Misconfigured, match="session or transaction"):
        open_store(f"postgresql://u:secret@h/d?{said}")


def test_options_that_are_no_settings_are_refused() -> None:
    with pytest.raises(Misconfigured, match="-c name=value"):
        open_store("postgresql://h/d?options=-o%20x")


# The promises of an engine, through the proxy


class Proxied:
    @pytest.fixture
    def known_as(self) -> str:
        return "postgres"

    @pytest.fixture
    def engine(self, server: Postgres) -> Iterator[Engine]:
        with PoolingProxy(server.port, sessions=3) as proxy:
            engine = SqlEngine(PostgresConnector(proxy.url_of(_emptied(server))))
            yield engine
            engine.close()


class TestThroughAProxy(Proxied, Commits, Batches, Paging, FeedPromises):
    """What is most at risk where sessions change: what is prepared, what is one transaction, who hears of it."""


@pytest.mark.long
class TestAllThroughAProxy(Proxied, EngineSuite):
    """Everything."""


def _emptied(server: Postgres) -> str:
    url = server.url_of("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("select nspname from pg_namespace where nspname !~ '^pg_|^information_schema$'")
        for (schema,) in found.fetchall():
            connection.execute(f'drop schema "{schema}" cascade'.encode())
        connection.execute("create schema public")
    return url
