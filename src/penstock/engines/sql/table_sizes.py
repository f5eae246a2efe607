"""How much the tables hold: counted where that is quick, and PostgreSQL's own estimate beyond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.dialect import literal, quote
from penstock.engines.sql.statements import Statements
from penstock.ports.engine import TableSize
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape

_COUNTED = 100_000
"So many rows are counted, of which each is a step in an index; beyond that an estimate will do."
_TOKENS = "tokens of commits, for a day"


def table_sizes(
    connector: Connector, statements_of: Callable[[EntityShape], Statements], shapes: Sequence[EntityShape]
) -> list[TableSize]:
    """The size of each entity's table, and of where commits are remembered."""
    sizes = [_size(connector, statements_of(shape).relation, shape) for shape in shapes]
    if connector.dialect.schemas:
        records, exact = _records(connector, "penstock.commits")
        sizes.append(TableSize("penstock.commits", (), records, exact, kept=_TOKENS))
    return sizes


def _size(connector: Connector, relation: str, shape: EntityShape) -> TableSize:
    records, exact = _records(connector, relation)
    oldest = first_end = None
    if exact and (moment := _moment(shape)) is not None:
        second = "extract(epoch from min({}))::bigint" if connector.dialect.schemas else "strftime('%s', min({}))"
        oldest = _one(connector, f"select {second.format(quote(moment))} from {relation}")
    if shape.expiry:
        column = quote(shape.fields[shape.expiry].column)
        first_end = _one(connector, f"select min({column}) from {relation} where {column} is not null")
    return TableSize(
        relation.replace('"', ""),
        (shape.label,),
        records,
        exact,
        oldest=None if oldest is None else int(oldest),
        first_end=first_end,
    )


def _moment(shape: EntityShape) -> str | None:
    """The column that tells since when a record is there."""
    moments = [f for f in shape.fields.values() if f.kind is Kind.INSTANT and not f.optional]
    return next((f.column for f in moments if f.name == "created_at"), moments[0].column if moments else None)


def _records(connector: Connector, relation: str) -> tuple[int, bool]:
    counted = int(_one(connector, f"select count(*) from (select 1 from {relation} limit {_COUNTED + 1}) as counted"))
    if counted <= _COUNTED:
        return counted, True
    if not connector.dialect.schemas:
        return _COUNTED, False
    estimate = _one(connector, f"select reltuples::bigint from pg_class where oid = {literal(relation)}::regclass")
    return max(int(estimate or 0), _COUNTED), False


def _one(connector: Connector, text: str) -> Any:
    rows = connector.rows(text, ())
    return rows[0][0] if rows else None
