"""Finds the records that point at files, or hold the folders they lie in: all of them, or the one that a key tells.

A store is never scanned. All records of an entity are enumerated (see `penstock.kernel.enumeration`), or partition
by partition through another entity of the domain that has one: scenes through their projects. Where neither is possible
the entity is said to be hidden; its records are then only found by keys that tell which record, or which partition, it
is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.files.held_files import HeldFiles
from penstock.kernel.enumeration import enumeration_of, group_of
from penstock.kernel.store import Store
from penstock.operations.reads import Query, Ref, Unreadable
from penstock.schema.object_key import folders_above
from penstock.schema.shape import EntityShape


class References:
    """The records of some domains that may point at files."""

    def __init__(self, store: Store, domains: Iterable[Domain]) -> None:
        self._store = store
        self._domains = list(domains)
        self._entities = {e: d for d in self._domains for e in d.entities if e.__shape__.pointing}
        self.hidden = [entity for entity in self._entities if not self._is_found(entity)]
        self.unreadable: list[Unreadable] = []
        "Records that were met and cannot be read: nobody knows which files they need."
        # Hundreds of files lie in one folder, and tell the same of who may hold it.
        self._readings_of_folder = lru_cache(maxsize=1024)(self._read_folder)

    def records(self) -> Iterator[Entity]:
        """Every record that may point at files, of all entities that are not hidden."""
        for entity in self._entities:
            if entity not in self.hidden:
                yield from self._all(entity)

    def may_be_hidden(self, key: str) -> bool:
        """Could a record that cannot be found, or not be read, point at this file?"""
        damaged = {u.shape for u in self.unreadable}
        return any(
            entity.__shape__ in damaged
            or (entity in self.hidden and not set(entity.__shape__.key.partition.names) <= set(values))
            for entity, values in self._readings(key)
        )

    def are_told(self, key: str) -> bool:
        """Does the key tell every record that may point at it, so that `told` finds those that do?"""
        damaged = {u.shape for u in self.unreadable}
        return all(
            set(entity.__shape__.key.partition.names) <= set(values) and entity.__shape__ not in damaged
            for entity, values in self._readings(key)
        )

    def told(self, keys: Iterable[str], *, leaving: Iterable[Entity] = ()) -> set[str]:
        """Those of the keys at which a record points that the key itself tells; or may, as it cannot be read.

        A record also points at whatever lies in a folder that it holds. Records that are ``leaving`` do not count.
        """
        refs: dict[tuple[str, str], tuple[Ref[Any], set[str]]] = {}
        partitions: dict[tuple[Any, ...], tuple[Query[Any], list[str]]] = {}
        for key in keys:
            for entity, values in self._readings(key):
                shape = entity.__shape__
                names = shape.key.partition.names
                group = group_of(shape, names)
                if set(shape.key.fields) <= set(values):
                    ref = entity.__key__.of(values)
                    refs.setdefault(_name(ref), (ref, set()))[1].add(key)
                elif set(names) <= set(values) and group is not None:
                    where = {name: values[name] for name in names}
                    partitions.setdefault((entity, *where.values()), (Query(group, where), []))[1].append(key)
        left_out = {_name(record.ref) for record in leaving}
        asked_of = [each for name, each in refs.items() if name not in left_out]
        found = self._store.get_many((ref for ref, _ in asked_of), unreadable=self.unreadable)
        lost = {u.name for u in self.unreadable}
        held: set[str] = set()
        for (ref, asked), record in zip(asked_of, found, strict=True):
            if repr(ref) in lost:
                held |= asked
            elif record is not None:
                held.update(filter(HeldFiles([record]).__contains__, asked))
        for query, asked_in in partitions.values():
            held |= self._held_in(query, set(asked_in) - held, left_out)
        return held

    def _held_in(self, query: Query[Any], keys: set[str], left_out: set[tuple[str, str]]) -> set[str]:
        """Those of the keys at which a record of a partition points; all of them, if one of it cannot be read."""
        if not keys:
            return keys
        met, held = len(self.unreadable), HeldFiles()
        for record in self._read(query):
            if _name(record.ref) not in left_out:
                held.add(record)
        return keys if len(self.unreadable) > met else set(filter(held.__contains__, keys))

    def _readings(self, key: str) -> Iterator[tuple[type[Entity], dict[str, Any]]]:
        """The entities that may point at a key, or hold a folder it lies in, and what that tells of their record."""
        for entity in self._entities:
            for pattern in entity.__shape__.files:
                values = pattern.read(key, entity.__shape__.fields)
                if values is not None:
                    yield entity, values
        for folder in folders_above(key):
            yield from self._readings_of_folder(folder)

    def _read_folder(self, folder: str) -> list[tuple[type[Entity], dict[str, Any]]]:
        read = [
            (entity, pattern.read_folder(folder, entity.__shape__.fields))
            for entity in self._entities
            if entity.__shape__.folder_fields
            for pattern in entity.__shape__.files
        ]
        return [(entity, values) for entity, values in read if values is not None]

    def _is_found(self, entity: type[Entity]) -> bool:
        return enumeration_of(entity.__shape__) is not None or self._way_through(entity) is not None

    def _all(self, entity: type[Entity]) -> Iterator[Entity]:
        enumeration = enumeration_of(entity.__shape__)
        if enumeration is not None:
            for query in enumeration.queries():
                yield from self._read(query)
            return
        through = self._way_through(entity)
        assert through is not None
        pattern = group_of(entity.__shape__, entity.__shape__.key.partition.names)
        assert pattern is not None
        seen: set[tuple[Any, ...]] = set()
        for other in self._all(through):
            values = {name: other.__dict__[name] for name in entity.__shape__.key.partition.names}
            if tuple(values.values()) not in seen:
                seen.add(tuple(values.values()))
                yield from self._read(Query(pattern, values))

    def _read(self, query: Query[Any]) -> Iterator[Any]:
        return self._store.find(query, unreadable=self.unreadable)

    def _way_through(self, entity: type[Entity]) -> type[Entity] | None:
        """Another entity of the domain, all of whose records can be found, that tells the partitions of this one."""
        names = entity.__shape__.key.partition.names
        if not names or group_of(entity.__shape__, names) is None:
            return None
        for other in self._entities[entity].entities:
            if other is not entity and _tells(other.__shape__, entity.__shape__) and enumeration_of(other.__shape__):
                return other
        return None


def _name(ref: Ref[Any]) -> tuple[str, str]:
    return ref.shape.label, repr(ref)


def _tells(other: EntityShape, shape: EntityShape) -> bool:
    """Do the records of one entity name every partition in which there are records of another?"""
    names = shape.key.partition.names
    # By its key, because a record that merely mentions a project is not there for each of them.
    return set(names) == set(other.key.fields) and all(
        other.fields[name].kind is shape.fields[name].kind for name in names
    )
