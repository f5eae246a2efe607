"""Setting columns to what others of the same row are, a page of rows at a time, without reading them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.dialect import quote
from penstock.engines.sql.row_scans import place_of, read_place
from penstock.engines.sql.statements import Statements
from penstock.operations.copied_page import CopiedPage


def copy_columns(
    connector: Connector, statements: Statements, pairs: Mapping[str, str], after: str | None, limit: int
) -> CopiedPage:
    """One page, in the order of the key; what is written is one statement."""
    begin = () if after is None else tuple(read_place(statements, after))
    last = connector.rows(f"{statements.scan(resumed=bool(begin))} offset {limit - 1}", (*begin, 1))
    place = place_of(statements, last[0]) if last else None
    end = () if place is None else tuple(read_place(statements, place))
    within = _within(statements, begin=bool(begin), end=bool(end))
    written = _written(connector, _update(statements, pairs, within), (*begin, *end))
    if place is not None:
        return CopiedPage(place, limit, written)
    ((left,),) = connector.rows(f"select count(*) from {statements.relation} as r where {within}", begin)
    return CopiedPage(None, left, written)


def _written(connector: Connector, update: str, parameters: tuple[Any, ...]) -> int:
    """How many rows an update has touched; to have SQLite return them takes as long as to write them."""
    first, then = connector.dialect.counted
    found = connector.rows(first.format(u=update), parameters)
    ((number,),) = connector.rows(then, ()) if then else found
    return int(number)


def _within(statements: Statements, *, begin: bool, end: bool) -> str:
    key = ", ".join(statements.column(n) for n in statements.shape.key.fields)
    marks = ", ".join([statements.dialect.mark] * len(statements.shape.key.fields))
    bounds = [f"({key}) {sign} ({marks})" for sign, is_there in ((">", begin), ("<=", end)) if is_there]
    return " and ".join(bounds) or "true"


def _update(statements: Statements, pairs: Mapping[str, str], within: str) -> str:
    column, columns = statements.column, statements.shape.fields
    made = ", ".join(f"{quote(columns[into].column)} = {column(of)}" for of, into in pairs.items())
    other = " or ".join(f"{column(into)} {statements.dialect.unlike} {column(of)}" for of, into in pairs.items())
    return f"update {statements.relation} as r set {made} where {within} and ({other})"
