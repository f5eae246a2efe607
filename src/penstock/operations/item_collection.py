"""Several kinds of records that lie in one partition, read together and in the order of their sort keys.

together(Project.at(project_id=p), Scene.of_project(project_id=p))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

from msgspec import Struct
from msgspec.structs import replace

from penstock.errors import InvalidValue
from penstock.operations.reads import Place, Query, Ref
from penstock.schema.shape import PatternShape

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
K = TypeVar("K", covariant=True)


class ItemCollection(Struct, Generic[K], frozen=True, eq=False):
    """Queries of one partition, whose records are found as one answer. Other kinds that lie there are passed over."""

    members: tuple[Query[Any], ...]
    backwards: bool = False

    def reversed(self) -> ItemCollection[K]:
        """The same records, last first."""
        turned = not self.backwards
        return replace(self, members=tuple(replace(m, backwards=turned) for m in self.members), backwards=turned)

    @property
    def label(self) -> str:
        """What it is called in errors and by the meter."""
        return " + ".join(m.pattern.label for m in self.members)

    def order(self, member: int, values: Mapping[str, Any]) -> int | bytes:
        """What a record of a member sorts by: its sort key, as the table has it."""
        key = self.members[member].pattern.key
        if key.sort is None or key.sort_attribute is None:
            return b""
        text = key.sort.encode(values)
        return int(text) if key.sort_attribute.number else text.encode()

    @property
    def least(self) -> int | bytes:
        """What sorts before everything."""
        attribute = self.members[0].pattern.key.sort_attribute
        return -(10**40) if attribute is not None and attribute.number else b""

    def is_before(self, one: Any, other: Any) -> bool:
        """Does one order come before another in the direction of the collection?"""
        return bool(one > other if self.backwards else one < other)

    def furthest(self, places: Sequence[Place | None]) -> Any:
        """The order of the last of some records, one of each member; None when there is none."""
        orders = [self.order(n, p) for n, p in enumerate(places) if isinstance(p, Mapping)]
        return (min if self.backwards else max)(orders) if orders else None


class Places(Struct, frozen=True):
    """Where a page of a collection ended: behind which record of each member; None: it has not begun."""

    members: tuple[Place | None, ...]
    last: int = 0
    "The member whose record was the last."


_Member = Ref[A] | Query[A]


@overload
def together(first: _Member[A], /) -> ItemCollection[A]: ...
@overload
def together(first: _Member[A], second: _Member[B], /) -> ItemCollection[A | B]: ...
@overload
def together(first: _Member[A], second: _Member[B], third: _Member[C], /) -> ItemCollection[A | B | C]: ...
@overload
def together(
    first: _Member[A], second: _Member[B], third: _Member[C], fourth: _Member[D], /
) -> ItemCollection[A | B | C | D]: ...
@overload
def together(
    first: _Member[A], second: _Member[B], third: _Member[C], fourth: _Member[D], fifth: _Member[F], /
) -> ItemCollection[A | B | C | D | F]: ...
@overload
def together(*members: _Member[Any]) -> ItemCollection[Any]: ...
def together(*members: _Member[Any]) -> ItemCollection[Any]:
    """Records of several kinds that share a partition of a table, or of an index, as one question."""
    if not members or not all(isinstance(m, Ref | Query) for m in members):
        raise InvalidValue("together takes keys and patterns with their parameters, such as Scene.of_project(…)")
    queries = tuple(_query(m) for m in members)
    _check(queries)
    backwards = queries[0].backwards
    return ItemCollection(tuple(replace(q, backwards=backwards) for q in queries), backwards)


def _query(member: _Member[Any]) -> Query[Any]:
    """One record is what its whole key finds."""
    if isinstance(member, Query):
        return member
    shape = member.shape
    pattern = PatternShape("at", shape, shape.key, None, shape.key.fields, frozenset(), None, False, "")
    return Query(pattern, member.key)


def _check(queries: Sequence[Query[Any]]) -> None:
    """They must really lie in one partition, so that one walk finds them."""
    first = queries[0]
    place, partition = _walked(first), first.pattern.key.partition.encode(first.values)
    kinds = set()
    for query in queries:
        shape = query.pattern.entity
        if query.fields is not None:
            raise InvalidValue(f"{query.pattern.label}: records of several kinds are read whole; leave select out")
        if shape in kinds:
            raise InvalidValue(f"{shape.name} is asked for twice in one collection; ask for each kind once")
        kinds.add(shape)
        if _walked(query) != place:
            raise InvalidValue(
                f"{query.pattern.label} walks {' of '.join(reversed(_walked(query)))}, {first.pattern.label} "
                f"{' of '.join(reversed(place))}; a collection lies in one table, or in one index"
            )
        if query.pattern.key.partition.encode(query.values) != partition:
            raise InvalidValue(
                f"{query.pattern.label} and {first.pattern.label} are asked for two partitions; "
                f"a collection lies in one"
            )


def _walked(query: Query[Any]) -> tuple[str, ...]:
    """The table, and the index where one is walked."""
    table, index = query.pattern.entity.table.name, query.pattern.index
    return (table,) if index is None else (table, index.place.name)
