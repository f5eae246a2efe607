"""Many statements of one text as a single one over a set of rows, for PostgreSQL.

A hundred parts in one statement cost the server a hundred plans to start; one part that joins a hundred rows costs one.
The rows travel as one JSON parameter, because that is by far the quickest to make.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from penstock.engines.sql.statement import Statement

FEWEST = 4
"Below this many, the single statements are as fast."
_encode = msgspec.json.Encoder().encode


def alike(statements: Sequence[Statement]) -> dict[str, list[int]]:
    """The positions of statements by their text, of those texts that are worth joining."""
    if len(statements) < FEWEST:
        return {}
    positions: dict[str, list[int]] = {}
    for position, statement in enumerate(statements):
        if statement.pivot is not None:
            positions.setdefault(statement.text, []).append(position)
    return {text: found for text, found in positions.items() if len(found) >= FEWEST}


def as_rows(parameters: Sequence[Sequence[Any]]) -> str:
    """The parameters of statements of one text, as the one parameter of the joined one."""
    names = [f"p{n}" for n in range(len(parameters[0]))]
    return _encode([dict(zip(names, given, strict=True)) for given in parameters]).decode()


@lru_cache(maxsize=512)
def joined(text: str, pivot: str, types: tuple[str, ...]) -> str:
    """The text that does for all rows what ``text``, whose parameters have these types, does for one."""
    casts = ", ".join(f"p{n}::{kind} as p{n}" for n, kind in enumerate(types))
    columns = ", ".join(f"p{n} text" for n in range(len(types)))
    rows = f"select {casts} from json_to_recordset(%s::json) as j({columns})"
    names = [f"v.p{n}" for n in range(len(types))]
    before, after = text.split(pivot, 1)
    met = before.count("%s")
    own = names[met : met + pivot.count("%s")]
    head, tail = _filled(before, names[:met]), _filled(after, names[met + len(own) :])
    if pivot.startswith("values"):  # an insert's values become a selection
        return f"{head}select {', '.join(own)} from ({rows}) as v{tail}"
    return f"with v as materialized ({rows}) {head} from v{keys_within(pivot, own)}{tail}"


def keys_within(pivot: str, values: Sequence[str]) -> str:
    """The condition that a row has one of the keys in v.

    They are said twice, so that a plan made while the table is small goes through the key's index all the same.
    """
    keys = zip(_KEY.findall(pivot), values, strict=True)
    within = "".join(f" and {key} = any(array(select {value} from v))" for key, value in keys)
    return f"{_filled(pivot, values)}{within}"


_KEY = re.compile(r'(r\."(?:[^"]|"")+") = %s')


def _filled(text: str, values: Sequence[str]) -> str:
    """The text with each of its marks replaced."""
    pieces = text.split("%s")
    return pieces[0] + "".join(value + piece for value, piece in zip(values, pieces[1:], strict=True))
