"""The SQL of a query, shown without any database or driver."""

from __future__ import annotations

from typing import Any

from penstock.engines.sql.dialects import POSTGRES, SQLITE
from penstock.engines.sql.statements import Statements
from penstock.operations.reads import Query


def explain_sql(query: Query[Any], *, limit: int = 50) -> dict[str, object]:
    """The statement each dialect would run for one page, and its parameters."""
    out: dict[str, object] = {}
    for dialect in (POSTGRES, SQLITE):
        statement = Statements(query.pattern.entity, dialect).find(query, limit + 1, None, 0)
        out[dialect.name] = {"statement": statement.text, "parameters": [str(p) for p in statement.parameters]}
    return out
