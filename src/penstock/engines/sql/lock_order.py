"""The order in which commits come to records, on PostgreSQL: one for all, so that no two wait for each other.

PostgreSQL locks a row when a statement comes to it. Of two commits that come to the same rows in different orders, each
may have what the other waits for; then it ends one of them, after a second. So the statements of a commit are carried
out by relation and key, whatever order they were given in. One that works on a set of rows comes to them in that order
too: an insert takes them as they are given, and an update joins them, as they are given, with the key's index (see what
`Connections` relies on). Several texts for one relation, however, would go over it more than once. There, the rows are
locked first, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from penstock.engines.sql.sets import FEWEST, alike, as_rows, joined, keys_within
from penstock.engines.sql.statement import Statement

LOCKING = " for no key update of r"
"How a text ends that locks rows and does nothing else."
TypesOf = Callable[[str], tuple[str, ...]]
"The types of a text's parameters."


def in_order(statements: Sequence[Statement]) -> list[int] | None:
    """The positions of statements in the order of their places; None if they are in that order already.

    Whose record nobody else can write comes last: it waits for no one, and no one for it.
    """
    if len([s for s in statements if s.place is not None]) < 2:
        return None
    placed = [(s.place, position) for position, s in enumerate(statements) if s.place is not None]
    ordered = sorted(placed)
    if ordered == placed:
        return None
    return [p for _, p in ordered] + [p for p, s in enumerate(statements) if s.place is None]


def arranged(statements: Sequence[Statement], types_of: TypesOf) -> list[Statement] | None:
    """Statements in order, those of one text joined into one where there are many; None if there are not."""
    if len(statements) < FEWEST:
        return None
    of_relations: dict[str, list[Statement]] = {}
    alone: list[Statement] = []
    for statement in statements:
        if statement.place is None:
            alone.append(statement)
        else:
            of_relations.setdefault(statement.place[0], []).append(statement)
    out = [s for members in of_relations.values() for s in _of_relation(members, types_of)]
    out += _of_relation(alone, types_of)
    return None if len(out) >= len(statements) else out


def _of_relation(statements: list[Statement], types_of: TypesOf) -> list[Statement]:
    """What is done to one relation, or to records that nobody else can write."""
    sets = {text: found for text, found in alike(statements).items() if "bytea" not in types_of(text)}  # not of JSON
    if not sets:
        return statements
    # What is locked already may be done in any order, and is done in one that makes for few different texts.
    out = _locked(statements, types_of)
    out += [_as_one([statements[p] for p in sets[text]], types_of(text)) for text in sorted(sets)]
    return out + sorted((s for s in statements if s.text not in sets), key=lambda s: s.text)


def _as_one(statements: list[Statement], types: tuple[str, ...]) -> Statement:
    first = statements[0]
    rows = len(statements) if first.must_touch else None
    text = joined(first.text, first.pivot or "", types)
    parameters = (as_rows([s.parameters for s in statements]),)
    return Statement(text, parameters, must_touch=first.must_touch, rows=rows, place=first.place)


def _locked(statements: list[Statement], types_of: TypesOf) -> list[Statement]:
    """What locks all of the records in their order, if what follows would not come to them so."""
    first = statements[0]
    if first.place is None or first.locks is None or all(s.text == first.text for s in statements):
        return []
    keys = as_rows([s.place[1] for s in statements if s.place is not None])
    return [Statement(_locking(first.locks, types_of(first.locks)), (keys,), place=first.place)]


@lru_cache(maxsize=256)
def _locking(text: str, types: tuple[str, ...]) -> str:
    """The text that locks each of many rows in turn, where ``text`` finds one."""
    head, pivot = text.split(" as r where ", 1)
    casts = ", ".join(f"p{n}::{kind} as p{n}" for n, kind in enumerate(types))
    columns = ", ".join(f"p{n} text" for n in range(len(types)))
    names = ", ".join(f"p{n}" for n in range(len(types)))
    rows = f"rows from (json_to_recordset(%s::json) as ({columns})) with ordinality as j({names}, turn)"
    where = keys_within(f" where {pivot}", [f"v.p{n}" for n in range(len(types))])
    return f"with v as materialized (select {casts}, turn from {rows}) {head} as r, v{where} order by v.turn{LOCKING}"
