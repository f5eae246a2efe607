"""The SQL of a query, shown without any database or driver."""

from __future__ import annotations

from typing import Any

from penstock.engines.sql.dialect import Dialect
from penstock.engines.sql.dialects import POSTGRES, SQLITE
from penstock.engines.sql.row_reads import counted, examined, filtered
from penstock.engines.sql.statement import Statement
from penstock.engines.sql.statements import Statements
from penstock.operations.item_collection import ItemCollection
from penstock.operations.reads import Query


def explain_sql(
    query: Query[Any] | ItemCollection[Any], *, limit: int = 50, examine: int | None = None
) -> dict[str, object]:
    """The statement each dialect would run for one page, and its parameters; of a collection, those of each kind."""
    out: dict[str, object] = {}
    for dialect in (POSTGRES, SQLITE):
        if isinstance(query, ItemCollection):
            out[dialect.name] = [_shown(_statement(m, dialect, limit, None)) for m in query.members]
        else:
            out[dialect.name] = _shown(_statement(query, dialect, limit, examine))
    return out


def _statement(query: Query[Any], dialect: Dialect, limit: int, examine: int | None) -> Statement:
    statements = Statements(query.pattern.entity, dialect)
    if query.fields == ():
        return counted(statements, query, 0, limit, examine if query.filter is not None else None)
    if query.filter is None and query.fields is None:
        return statements.find(query, limit + 1, None, 0)
    names = query.fields or tuple(query.pattern.entity.fields)
    needed = dict.fromkeys((*names, *statements.order(query), *query.pattern.entity.key.fields))
    columns = ", ".join(statements.column(n) for n in needed)
    if query.filter is not None and examine is not None:
        return examined(statements, query, None, 0, columns, examine, limit + 1)
    return filtered(statements, query, None, 0, columns, limit + 1)


def _shown(statement: Statement) -> dict[str, object]:
    return {"statement": statement.text, "parameters": [str(p) for p in statement.parameters]}
