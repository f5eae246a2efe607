"""Some fields of the records of a pattern, where the whole of each is not needed.

for title, views in store.find(select(Film.by_status(status=Status.DONE), Film.title, Film.views)): ...
"""

from __future__ import annotations

from typing import Any, TypeVar, overload

from msgspec.structs import replace

from penstock.declare.attr import Attr, the
from penstock.errors import InvalidValue
from penstock.operations.reads import Query

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
G = TypeVar("G")


@overload
def select(query: Query[Any], first: A, /) -> Query[tuple[A]]: ...
@overload
def select(query: Query[Any], first: A, second: B, /) -> Query[tuple[A, B]]: ...
@overload
def select(query: Query[Any], first: A, second: B, third: C, /) -> Query[tuple[A, B, C]]: ...
@overload
def select(query: Query[Any], first: A, second: B, third: C, fourth: D, /) -> Query[tuple[A, B, C, D]]: ...
@overload
def select(query: Query[Any], first: A, second: B, third: C, fourth: D, fifth: F, /) -> Query[tuple[A, B, C, D, F]]: ...
@overload
def select(
    query: Query[Any], first: A, second: B, third: C, fourth: D, fifth: F, sixth: G, /
) -> Query[tuple[A, B, C, D, F, G]]: ...
@overload
def select(query: Query[Any], *fields: Any) -> Query[tuple[Any, ...]]: ...
def select(query: Query[Any], *fields: Any) -> Query[Any]:
    """The same question, answered with tuples of these fields, as `get` would give each of them.

    Less travels, and less is made of it; DynamoDB takes the same units, as it reads whole items.
    """
    if not isinstance(query, Query):
        raise InvalidValue("select takes a pattern with its parameters, and then fields such as Film.title")
    if not fields:
        raise InvalidValue(f"{query.pattern.label}: select names at least one field; to know how many, ask store.count")
    return replace(query, fields=tuple(_name(query, the(field)) for field in fields))


def _name(query: Query[Any], field: Attr[Any]) -> str:
    name = field.name_in(query.pattern.entity)
    if name is None:
        raise InvalidValue(f"{query.pattern.label} finds {query.pattern.entity.name}, which has no {field!r}")
    return name
