"""Stores on every engine: `store` runs a test once for each of them."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from penstock import Domain, FrozenClock, Store
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests import watch
from tests.homes import Homes, dynamo_access, dynamo_client, table_names
from tests.seldom import leave_to_long_runs
from tests.web import client

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["tests.servers.fixtures", "tests.browser.fixtures"]

# How long an example takes says nothing on a machine that does other things as well.
settings.register_profile("penstock", deadline=None)
settings.load_profile("penstock")

LONGEST = (
    "tests/browser/test_every_screen.py",
    "tests/cli/test_ending.py",
    "tests/cli/test_serving.py",
    "tests/transfer/test_live_copy.py",
    "tests/web/test_access.py",
)
"Begun first, so that nobody waits for one of them at the end."
ENGINES = ("sqlite", "postgres", "dynoxide", "dynamodb-local")
_counter = itertools.count()


def chosen_engines() -> tuple[str, ...]:
    """All of them, or those PENSTOCK_TEST_ENGINES names."""
    named = os.environ.get("PENSTOCK_TEST_ENGINES", "").split() or list(ENGINES)
    if unknown := set(named) - set(ENGINES):
        raise pytest.UsageError(f"PENSTOCK_TEST_ENGINES names {', '.join(unknown)}; there are {', '.join(ENGINES)}")
    return tuple(named)


def pytest_configure(config: pytest.Config) -> None:
    _keep_bytecode()
    _spare_the_disk()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # In the background of a script: whatever is started here would not hear Ctrl-C, which some tests send.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # Under nohup: the same for a terminal that is closed, which some tests pretend.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    from penstock.engines.dynamodb import DynamoEngine
    from penstock.engines.sql.engine import SqlEngine

    for engine in (SqlEngine, DynamoEngine):
        watch.watch(engine)


def _spare_the_disk() -> None:
    """No test cuts the power, so nobody waits for the disk; what cannot be synchronised fails as ever."""

    def fsync(fd: Any) -> None:
        os.fstat(fd if isinstance(fd, int) else fd.fileno())

    os.fsync = fsync


def _keep_bytecode() -> None:
    """Many tests start processes; where no bytecode is kept, each of them compiles all of Penstock anew."""
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Collected without looking for garbage, of which there is none: a third of the time went there.

    What was collected stays to the end, so that nobody looks through it later either.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(30_000, 20, 100)  # a system is put together from so many objects that looking took a tenth


@pytest.hookimpl(tryfirst=True)  # before those are left out that are marked
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_to_long_runs(items)
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.fixture(autouse=True)
def nothing_that_opens_by_itself_is_stored() -> Iterator[None]:
    """MV-60, F-TA-5: no attribute anywhere holds a signature, and none that holds keys a URL."""
    watch.seen.clear()
    yield
    assert watch.seen == []


@pytest.fixture(autouse=True)
def nothing_of_a_client_goes_on() -> Iterator[None]:
    """What one test has asked of an application leaves no thread to the next."""
    yield
    client.end()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine_name" in metafunc.fixturenames:
        everywhere = metafunc.definition.get_closest_marker("every_engine")
        chosen = [_marked(name, metafunc.module.__name__, everywhere) for name in chosen_engines()]
        metafunc.parametrize("engine_name", chosen, scope="session")


def _marked(name: str, module: str, everywhere: pytest.Mark | None) -> Any:
    """What every engine must do, each does. What is built on that, some do on long runs only.

    DynamoDB Local, which is slow, has nothing else than dynoxide, which speaks the same protocol, and only long runs
    have it; DynamoDB's protocol at all what is built on the kernel; and all but the embedded
    engine what a domain does, except for what is marked: its story, and what happens to it in the middle of a write or
    twice at the same time. An engine that the mark names has it always. Whoever names engines has everything on each.
    """
    if os.environ.get("PENSTOCK_TEST_ENGINES") or (everywhere is not None and name in everywhere.args):
        return name
    seldom = name in (("dynamodb-local",) if everywhere else _SELDOM.get(module.split(".")[1], ("dynamodb-local",)))
    return pytest.param(name, marks=pytest.mark.long) if seldom else name


_SELDOM = {
    **dict.fromkeys(("events", "files", "lifecycle", "runtime", "work"), ("dynoxide", "dynamodb-local")),
    "domains": ("postgres", "dynoxide", "dynamodb-local"),
}
"By room, which engines only long runs have."


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def open_engine(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Engine]]:
    """Opens an empty store of the engine at hand; every call in one test opens the same one.

    Where a test asks for `store` as well, the tables are there already.
    """
    if "store" in request.fixturenames:
        opener, cleanup = furnished(engine_name, request, tmp_path, request.getfixturevalue("furniture"))
    else:
        opener, cleanup = _opener(engine_name, request, tmp_path)
    opened: list[Engine] = []

    def open_one() -> Engine:
        opened.append(opener())
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()
    cleanup()


@pytest.fixture(scope="module")
def shared_engine(
    engine_name: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Engine]]:
    """Opens one store for all tests of a module, which costs much less than an empty one for each.

    A test that uses it gives its records names of their own, and does not mind what others have left.
    """
    opener, cleanup = _opener(engine_name, request, tmp_path_factory.mktemp("shared"), shared=True)
    opened: list[Engine] = []

    def open_one() -> Engine:
        opened.append(opener())
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()
    cleanup()


@pytest.fixture
def store(open_engine: Callable[[], Engine], clock: FrozenClock) -> Store:
    """A store with the tables of the kernel and all five domains, empty, and a clock that stands still."""
    return Store(open_engine(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)


def all_domains() -> list[Domain]:
    from penstock.domains import DOMAINS

    return list(DOMAINS)


def _opener(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, *, shared: bool = False
) -> tuple[Callable[[], Engine], Callable[[], None]]:
    if name == "sqlite":
        from penstock.engines.sql.engine import SqlEngine
        from penstock.engines.sql.sqlite import SqliteConnector

        return lambda: SqlEngine(SqliteConnector(str(tmp_path / "store.db"))), lambda: None
    if name == "postgres":
        return _postgres_database(request) if shared else _postgres_opener(request)
    return _dynamodb_opener(request.getfixturevalue(name.replace("-", "_") + "_server").url)


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    """Whose tables are there for a test that asks for `store`."""
    return tuple(all_domains())


@pytest.fixture(scope="session")
def homes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Homes:
    return Homes(request, tmp_path_factory.mktemp("homes"))


def furnished(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, domains: tuple[Domain, ...]
) -> tuple[Callable[[], Engine], Callable[[], None]]:
    """As `_opener`, with tables that were made once."""
    homes = request.getfixturevalue("homes")
    if name == "sqlite":
        (tmp_path / "store.db").write_bytes(homes.file(domains))
        return _opener(name, request, tmp_path)
    home = homes.at(name, domains)
    return home.open, home.empty


def _postgres_opener(request: pytest.FixtureRequest) -> tuple[Callable[[], Engine], Callable[[], None]]:
    import psycopg

    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.postgres import PostgresConnector

    url: str = request.getfixturevalue("postgres_server").url

    def wipe() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(
                "select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'"
            ).fetchall()
            for (schema,) in found:
                connection.execute(f'drop schema "{schema}" cascade'.encode())
            connection.execute("create schema public")

    return lambda: SqlEngine(PostgresConnector(url)), wipe


def _postgres_database(request: pytest.FixtureRequest) -> tuple[Callable[[], Engine], Callable[[], None]]:
    from penstock.engines.sql.engine import SqlEngine
    from penstock.engines.sql.postgres import PostgresConnector

    server = request.getfixturevalue("postgres_server")
    url = server.create_database(f"shared_{next(_counter)}")
    return lambda: SqlEngine(PostgresConnector(url)), lambda: None


def _dynamodb_opener(url: str) -> tuple[Callable[[], Engine], Callable[[], None]]:
    from penstock.engines.dynamodb import DynamoEngine

    prefix = f"t{os.getpid()}_{next(_counter)}_"

    def open_one() -> Engine:
        return DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test", table_prefix=prefix)

    return open_one, lambda: _drop_tables(url, prefix)


def _drop_tables(url: str, prefix: str) -> None:
    """DynamoDB Local keeps a thread for each table with a TTL, and soon has none left for its work."""
    for name in list(table_names(url, prefix)):
        dynamo_client(url).delete_table(TableName=name)


@pytest.fixture
def dynamo_url(dynoxide_server: Any) -> str:
    return str(dynoxide_server.url)


@pytest.fixture
def dynamo(homes: Homes, clock: FrozenClock) -> Iterator[Store]:
    """A store on DynamoDB's protocol with the documents' own table names, empty for each test."""
    home = homes.at("dynoxide", (*all_domains(), WORKING), prefix="")
    engine = home.open()
    yield Store(engine, clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    engine.close()
    home.empty()


@pytest.fixture
def raw_table(dynamo: Store, dynamo_url: str) -> Callable[[str], Any]:
    """boto3's own view of a table, to see what is really stored."""
    import boto3

    resource = boto3.resource("dynamodb", **dynamo_access(dynamo_url))
    return lambda name: resource.Table(name)
