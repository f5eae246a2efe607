"""Every access pattern of every domain is answered from an index: no database ever reads a whole table for one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from penstock.declare.pattern import ask
from penstock.domains import DOMAINS
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.statements import Statements
from penstock.operations.reads import Query, Range
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape, PatternShape
from penstock.testing.entities import SUITE
from penstock.work.working import WORKING
from tests.conftest import chosen_engines

NOW = 2_114_380_800
PATTERNS = [p for domain in (*DOMAINS, SUITE) for p in domain.patterns]
SHAPES = list(dict.fromkeys(s for domain in (SYSTEM_RECORDS, *DOMAINS, WORKING, SUITE) for s in domain.shapes))


def _value(field: FieldShape, pattern: PatternShape | None = None) -> Any:
    """Some value that a key may hold."""
    moment = datetime(2037, 1, 1, tzinfo=UTC)
    if field.kind is Kind.CHOICE:
        allowed = pattern.index.when.get(field.name) if pattern and pattern.index else None
        return sorted(allowed or field.python)[0]
    plain = {
        Kind.TEXT: "x",
        Kind.IDENTIFIER: UUID(int=1),
        Kind.INTEGER: 5,
        Kind.INSTANT: moment,
        Kind.DAY: moment.date(),
    }
    return plain[field.kind]


def _questions(pattern: PatternShape) -> Iterator[Query[Any]]:
    """The pattern with its parameters: as few as must be, all, and a range of each form."""
    fields = pattern.entity.fields
    equal = {n: _value(fields[n], pattern) for n in pattern.parameters if n != pattern.ranged}
    needed = {n: v for n, v in equal.items() if n not in pattern.optional}
    yield ask(pattern, needed)
    yield ask(pattern, equal)
    if pattern.ranged is not None:
        value = _value(fields[pattern.ranged], pattern)
        for bounds in (Range(value, value), Range(low=value, open_low=True), Range(high=value)):
            yield ask(pattern, equal | {pattern.ranged: bounds})
        if fields[pattern.ranged].kind is Kind.TEXT:
            yield ask(pattern, equal | {pattern.ranged: Range(prefix="x")})


def _statements(engine: SqlEngine, pattern: PatternShape) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The SQL of a pattern: first page and next, forwards and backwards."""
    fields = pattern.entity.fields
    for query in _questions(pattern):
        for asked in (query, query.reversed()):
            statements: Statements = engine.statements(pattern.entity)
            names = dict.fromkeys((*pattern.key.fields, *pattern.entity.key.fields))
            place = {n: query.values.get(n, _value(fields[n], pattern)) for n in names}
            for after in (None, place):
                statement = statements.find(asked, 51, after, NOW)
                yield statement.text, statement.parameters


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlEngine]:
    from penstock.engines.sql.sqlite import SqliteConnector

    if "sqlite" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    engine = _prepared(SqlEngine(SqliteConnector(str(tmp_path_factory.mktemp("plans") / "plans.db"))))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def postgres(request: pytest.FixtureRequest) -> Iterator[SqlEngine]:
    from penstock.engines.sql.postgres import PostgresConnector

    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name the engine this is about")
    url = request.getfixturevalue("postgres_server").create_database("plans")
    # An empty table is always read whole, so the planner is told not to unless it must.
    engine = _prepared(SqlEngine(PostgresConnector(f"{url}?options=-c%20enable_seqscan%3Doff")))
    yield engine
    engine.close()


def _prepared(engine: SqlEngine) -> SqlEngine:
    for domain in (SYSTEM_RECORDS, *DOMAINS, WORKING, SUITE):
        engine.ensure(domain.shapes, views=domain.view_shapes)
    return engine


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.label)
def test_sqlite_answers_a_pattern_from_an_index(sqlite: SqlEngine, pattern: PatternShape) -> None:
    for text, parameters in _statements(sqlite, pattern):
        rows = sqlite.connector.rows(f"explain query plan {text}", parameters)
        plan = [str(row[3]) for row in rows]
        assert not [p for p in plan if p.startswith("SCAN") and "USING" not in p], (text, plan)
        assert any(re.search(r"SEARCH r USING .*(INDEX|PRIMARY KEY)|SCAN r USING INDEX", p) for p in plan), (text, plan)
        assert not [p for p in plan if "TEMP B-TREE" in p], f"sorted anew: {text} {plan}"


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.label)
def test_postgres_answers_a_pattern_from_an_index(postgres: SqlEngine, pattern: PatternShape) -> None:
    for text, parameters in _statements(postgres, pattern):
        plan = "\n".join(str(row[0]) for row in postgres.connector.rows(f"explain {text}", parameters))
        assert "Seq Scan" not in plan, (text, plan)
        if "One-Time Filter: false" in plan:
            continue  # nothing follows the only record of a partition, and nothing is looked at to know that
        assert re.search(r"Index (Only )?Scan|Bitmap Index Scan", plan), (text, plan)
        constant = not pattern.key.partition.names  # all of an entity, in order
        assert "Index Cond" in plan or constant, (text, plan)


def _many(engine: SqlEngine, shape: EntityShape, count: int) -> tuple[str, tuple[Any, ...]]:
    """The SQL that gets so many records by their keys."""
    key = {n: _value(shape.fields[n]) for n in shape.key.fields}
    statement = engine.statements(shape).get_many([key] * count, NOW)
    return statement.text, statement.parameters


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.label)
def test_sqlite_gets_many_by_the_index_of_their_key(sqlite: SqlEngine, shape: EntityShape) -> None:
    for count in (2, 200):
        text, parameters = _many(sqlite, shape, count)
        plan = [str(row[3]) for row in sqlite.connector.rows(f"explain query plan {text}", parameters)]
        assert not [p for p in plan if p.startswith("SCAN r")], (text, plan)
        key = " AND ".join(f"{shape.fields[n].column}=?" for n in shape.key.fields)
        found = re.compile(rf"SEARCH r USING .*\(({re.escape(key)}|rowid=\?)\)", re.IGNORECASE)
        assert any(map(found.search, plan)), (text, plan)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.label)
def test_postgres_gets_many_by_the_index_of_their_key(postgres: SqlEngine, shape: EntityShape) -> None:
    for count in (2, 200):
        text, parameters = _many(postgres, shape, count)
        plan = "\n".join(str(row[0]) for row in postgres.connector.rows(f"explain {text}", parameters))
        assert "Seq Scan" not in plan, (text, plan)
        asked = re.search("Index Cond: (.*)", plan)
        assert asked, (text, plan)
        assert "VALUES" in asked[1], (text, plan)


def test_no_pattern_is_forgotten() -> None:
    assert len(PATTERNS) == sum(len(s.patterns) for d in (*DOMAINS, SUITE) for s in d.shapes)
    assert len({p.label for p in PATTERNS}) == len(PATTERNS)
