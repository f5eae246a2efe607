"""Indexes are made, and made anew where they are declared otherwise, while others read and write.

PostgreSQL builds them concurrently, each by itself and outside of any transaction: one that takes the place of another
is built beside it first. What was broken off stands as an invalid one, which is dropped and built anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex

from penstock.engines.sql.connector import Connector, HeldByOthers
from penstock.engines.sql.dialect import Dialect
from penstock.engines.sql.index_definition import IndexDefinition, declared_index
from penstock.engines.sql.nullability import THEN
from penstock.errors import Unavailable
from penstock.operations.plan import PlanStep

PATIENCE = "30s"
"So long each of the transactions is waited for that began before an index; nobody waits for the index meanwhile."
_NAME_BYTES = 63
_CONCURRENTLY = (" concurrently ", "alter index ")


def index_steps(
    dialect: Dialect, domain: str | None, table: sa.Table, standing: Mapping[str, IndexDefinition] | None
) -> Iterator[PlanStep]:
    """What makes the indexes of a table those that are declared; None stands for a table that is made just now."""
    for index in sorted(table.indexes, key=lambda i: str(i.name)):
        name = str(index.name)
        there = (standing or {}).get(name)
        if there == declared_index(index):
            continue
        if not dialect.schemas:
            dropped = [f'drop index "{name}"'] if there is not None else []
            texts = [*dropped, _created(dialect, index, name)]
        elif standing is None:
            texts = [_created(dialect, index, name)]
        else:
            texts = list(_concurrently(dialect, domain, index, name, standing))
        yield PlanStep("create index" if len(texts) == 1 else "replace index", name, THEN.join(texts))


def _concurrently(
    dialect: Dialect, domain: str | None, index: sa.Index, name: str, standing: Mapping[str, IndexDefinition]
) -> Iterator[str]:
    def dropped(which: str) -> str:
        return f"drop index concurrently if exists {dialect.relation(domain, which)}"

    there, aside = standing.get(name), f"{name[: _NAME_BYTES - 3]}__2"
    if there is None and aside not in standing:
        yield _created(dialect, index, name, concurrently=True)
        return
    if there is not None and not there.is_valid and aside not in standing:
        yield dropped(name)
        yield _created(dialect, index, name, concurrently=True)
        return
    if standing.get(aside) != declared_index(index):
        if aside in standing:
            yield dropped(aside)
        yield _created(dialect, index, aside, concurrently=True)
    yield dropped(name)
    yield f'alter index {dialect.relation(domain, aside)} rename to "{name}"'


def _created(dialect: Dialect, index: sa.Index, name: str, *, concurrently: bool = False) -> str:
    kind = postgresql.dialect() if dialect.schemas else sqlite.dialect()  # type: ignore[no-untyped-call]
    text = " ".join(str(CreateIndex(index, if_not_exists=True).compile(dialect=kind)).split())
    head, _, rest = text.partition(" ON ")
    assert head.startswith("CREATE INDEX IF NOT EXISTS ")
    return f'CREATE INDEX {"CONCURRENTLY " if concurrently else ""}IF NOT EXISTS "{name}" ON {rest}'


def is_built_alone(step: PlanStep) -> bool:
    """Must a step be carried out outside of any transaction?"""
    return step.kind in ("create index", "replace index") and any(t in step.detail.lower() for t in _CONCURRENTLY)


def drop_alone(connector: Connector, indexes: Sequence[str]) -> None:
    """Drop indexes, by their relations, while others read and write."""
    try:
        with connector.administration(alone=True) as connection:
            connection.exec_driver_sql(f"set lock_timeout = '{PATIENCE}'")
            for index in indexes:
                connection.exec_driver_sql(f"drop index concurrently if exists {index}".replace("%", "%%"))
    except HeldByOthers as error:
        raise Unavailable(
            "PostgreSQL: drop index: a transaction that began before it does not end; find it in pg_stat_activity, end "
            "it, and run the command again"
        ) from error


def build_alone(connector: Connector, planned: Callable[[sa.Connection], list[PlanStep]]) -> None:
    """Carry out such steps, one process at a time: what another has built meanwhile is planned no more."""
    step: PlanStep | None = None
    try:
        with connector.administration(alone=True) as connection:
            connection.exec_driver_sql(f"set lock_timeout = '{PATIENCE}'")
            for step in filter(is_built_alone, planned(connection)):
                for text in step.detail.split(THEN):
                    connection.exec_driver_sql(text.replace("%", "%%"))
    except HeldByOthers as error:
        assert step is not None
        raise Unavailable(
            f"PostgreSQL: {step.kind} {step.name}: a transaction that began before it does not end; find it in "
            f"pg_stat_activity, end it, and run `penstock tables apply`"
        ) from error
