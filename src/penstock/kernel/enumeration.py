"""Enumeration: the queries that together find every record of an entity, without reading anything else.

A store is never scanned. Every record can be found if the entity has a key or an index whose partitions are known
beforehand, because they are made of constants and of choices only, and in which every record takes part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

from penstock.declare.entity import Entity
from penstock.errors import DeclarationError
from penstock.operations.reads import ANYTHING, Query, Range
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape, IndexShape, KeyShape, PatternShape

E = TypeVar("E", bound=Entity)
Values = Mapping[str, Collection[Any]]


@dataclass(frozen=True, slots=True)
class Enumeration:
    """One path through all records: partition after partition, each in order."""

    pattern: PatternShape
    partitions: tuple[Mapping[str, Any], ...]

    def queries(self, bounds: Range[Any] = ANYTHING) -> Iterator[Query[Any]]:
        """One query for each partition; ``bounds`` are those of the first sort field."""
        for values in self.partitions:
            yield Query(self.pattern, values, bounds)


def enumerate_all(entity: type[E]) -> list[Query[E]]:
    """The queries that find every record of an entity once; DeclarationError where none could."""
    enumeration = enumeration_of(entity.__shape__)
    if enumeration is None:
        raise DeclarationError(
            f"{entity.__shape__.label}: its records cannot all be found without scanning; declare an index whose "
            f'partition is made of constants and choices only, such as IndexKey(…, "STATUS#{{status}}", …)'
        )
    return list(enumeration.queries())


def enumeration_of(shape: EntityShape, *, by: str | None = None, among: Values | None = None) -> Enumeration | None:
    """The enumeration of all records, or of those whose fields have values ``among`` these; None where there is none.

    ``by`` is the field that must come first in the order of each partition. A record without it is not found.
    """
    for key, index in _keys(shape):
        if by is not None and key.sort_fields[:1] != (by,):
            continue
        partitions = _partitions(shape, key, index)
        if partitions is not None and _takes_all(shape, key, index, by, among or {}):
            return Enumeration(_pattern(shape, key, index, "enumeration"), partitions)
    return None


def group_of(shape: EntityShape, per: Collection[str]) -> PatternShape | None:
    """The pattern that finds, in order, all records which share these fields; None where there is none."""
    for key, index in _keys(shape):
        led = len(set(per) - set(key.partition.names))
        leading = {*key.partition.names, *key.sort_fields[:led]}
        if set(per) == leading and led < len(key.sort_fields) and _takes_all(shape, key, index, None, {}):
            return _pattern(shape, key, index, "group", led)
    return None


def _keys(shape: EntityShape) -> Iterator[tuple[KeyShape, IndexShape | None]]:
    yield shape.key, None
    for index in shape.indexes.values():
        yield index.key, index


def _pattern(shape: EntityShape, key: KeyShape, index: IndexShape | None, name: str, led: int = 0) -> PatternShape:
    """The key as an access pattern: partition and ``led`` sort fields given, the next one perhaps bounded."""
    names = tuple(dict.fromkeys((*key.partition.names, *key.sort_fields[: led + 1])))
    ranged = key.sort_fields[led] if led < len(key.sort_fields) else None
    return PatternShape(name, shape, key, index, names, frozenset(), ranged, backwards=False, summary="")


def _partitions(shape: EntityShape, key: KeyShape, index: IndexShape | None) -> tuple[Mapping[str, Any], ...] | None:
    """Every partition there can be, as the values that make it; None when they cannot be known."""
    names = key.partition.names
    choices = []
    for name in names:
        if shape.fields[name].kind is not Kind.CHOICE:
            return None
        allowed = index.when.get(name) if index else None
        choices.append([m for m in shape.fields[name].python if allowed is None or m in allowed])
    return tuple(dict(zip(names, values, strict=True)) for values in product(*choices))


def _takes_all(shape: EntityShape, key: KeyShape, index: IndexShape | None, by: str | None, among: Values) -> bool:
    """Does every record, as far as its values are ``among`` these, take part in the key?"""
    if any(shape.fields[n].optional and n != by for n in key.fields):
        return False
    for name, allowed in (index.when if index else {}).items():
        wanted = among.get(name) or _all_values(shape, name)
        if wanted is None or not set(wanted) <= allowed:
            return False
    return True


def _all_values(shape: EntityShape, name: str) -> Collection[Any] | None:
    field = shape.fields[name]
    if field.optional:
        return None
    return list(field.python) if field.kind is Kind.CHOICE else (True, False) if field.kind is Kind.FLAG else None
