"""Whose usage it was: the project of what is read or written, and the partition key that was asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.cost.footprint import Footprint
from penstock.cost.meter import NOBODY
from penstock.operations.reads import Query
from penstock.schema.shape import EntityShape, KeyShape

PERSONAL = "(a key that tells of a person)"


def project_of(shape: EntityShape, *known: Mapping[str, Any]) -> str:
    """The project that some values of a record name."""
    if shape.project is not None:
        for values in known:
            if (project := values.get(shape.project.name)) is not None:
                return str(project)
    return NOBODY


def project_of_write(done: Footprint) -> str:
    """The project of a record that is written."""
    return project_of(done.write.shape, done.write.key, done.after.values, done.before.values)


def project_of_query(query: Query[Any], records: Iterable[Any]) -> str:
    """The project that a query asks for, or the one of all that it has found."""
    asked = project_of(query.pattern.entity, query.values)
    if asked != NOBODY or query.fields is not None:
        return asked
    found = {project_of(record.__shape__, record.__dict__) for record in records}
    return found.pop() if len(found) == 1 else NOBODY


def partition_of(shape: EntityShape, values: Mapping[str, Any]) -> str:
    """The partition of a table in which a record lies."""
    return _partition(shape, shape.key, shape.table.name, values)


def partition_of_query(query: Query[Any]) -> str:
    """The partition that a query reads, of a table or of an index."""
    shape, index = query.pattern.entity, query.pattern.index
    place = shape.table.name if index is None else f"{shape.table.name}.{index.place.name}"
    return _partition(shape, query.pattern.key, place, query.values)


def _partition(shape: EntityShape, key: KeyShape, place: str, values: Mapping[str, Any]) -> str:
    if any(shape.fields[name].personal is not None for name in key.partition.names):
        return f"{place} {PERSONAL}"
    return f"{place} {key.partition.encode(values)}"
