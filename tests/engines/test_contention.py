"""Eight processes over forty shared records, in random order: none is refused, none waits long, nothing is lost."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock import Store
from penstock.testing.entities import Counter, Session, Specimen
from tests.conftest import _drop_tables
from tests.engines.crowd import NAMES, Crowd, Writer, gather, open_at

LONGEST = 5.0
SERIAL = frozenset({"dynamodb-local"})
"They do one request at a time: nobody meets anybody there, and eight who wait in line take eight times what one does."
ROUNDS = {"sqlite": 8, "postgres": 6, "dynoxide": 3, "dynamodb-local": 1}
_counter = itertools.count()


@pytest.fixture
def crowd(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crowd]:
    """A place with the tables and the records that everybody writes to."""
    cleanup: Callable[[], None] = lambda: None  # noqa: E731
    if engine_name == "sqlite":
        crowd = Crowd("sqlite", str(tmp_path / "crowd.db"))
    elif engine_name == "postgres":
        crowd = Crowd("postgres", request.getfixturevalue("postgres_server").create_database("crowd"))
    else:
        url = request.getfixturevalue(engine_name.replace("-", "_") + "_server").url
        prefix = f"crowd{os.getpid()}_{next(_counter)}_"
        crowd = Crowd("dynamodb", url, prefix)
        cleanup = lambda: _drop_tables(url, prefix)  # noqa: E731
    store = Store(open_at(crowd))
    store.ensure()
    store.engine.ensure([Counter.__shape__, Specimen.__shape__, Session.__shape__])
    store.put_many([Counter(name=name) for name in NAMES])
    Writer(store, crowd.processes).work(1)  # what a server does for the first time is not what is measured
    store.put_many([Counter(name=name) for name in NAMES])
    store.close()
    yield crowd
    cleanup()


def _check(crowd: Crowd, engine_name: str) -> None:
    reports = gather(crowd)
    assert [error for report in reports for error in report.errors] == []
    assert len(reports) == crowd.processes
    slowest = {kind: max(r.slowest[kind] for r in reports) for kind in reports[0].slowest}
    store = Store(open_at(crowd))
    if max(slowest.values()) >= LONGEST and engine_name in SERIAL:
        # Only where the machine is so busy that one alone takes more than half a second for one write.
        alone = Writer(store, crowd.processes + 1)
        alone.work(1)
        in_line = {kind: crowd.processes * seconds for kind, seconds in alone.report.slowest.items()}
        assert all(seconds < max(LONGEST, in_line[kind]) for kind, seconds in slowest.items()), (slowest, in_line)
        reports.append(alone.report)
    else:
        assert max(slowest.values()) < LONGEST, slowest
    found = [c for c in store.get_many([Counter.at(name=name) for name in NAMES]) if c is not None]
    store.close()
    assert sum(c.total for c in found) == sum(r.total for r in reports)
    assert sum(c.balance for c in found) == sum(r.balance for r in reports)


def test_eight_processes_write_the_same_records_and_none_is_in_the_way_of_another(
    crowd: Crowd, engine_name: str
) -> None:
    crowd.rounds = ROUNDS[engine_name]
    _check(crowd, engine_name)


@pytest.mark.long
def test_eight_processes_go_on_writing_the_same_records_for_long(crowd: Crowd, engine_name: str) -> None:
    crowd.rounds = 10 * ROUNDS[engine_name]
    _check(crowd, engine_name)
