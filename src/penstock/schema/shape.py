"""What an engine must know of a declaration: plain values, free of pydantic and of any behaviour of the domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from penstock.schema.file_pattern import FilePattern
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.permission import Permission
from penstock.schema.role import Role
from penstock.schema.template import Template

PARTITION_BYTES = 2048
SORT_BYTES = 1024
RECORD_BYTES = 400 * 1024
COMMIT_WRITES = 100


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """A key attribute of a table or index: its name, and whether it is a number."""

    name: str
    number: bool = False


@dataclass(frozen=True, eq=False)
class IndexPlace:
    """An index of a table, as the store sees it: several entities may share it."""

    name: str
    partition: KeyAttribute
    sort: KeyAttribute | None


@dataclass(eq=False)
class TablePlace:
    """A table, as the store sees it. The name may be changed by configuration before an engine opens it."""

    name: str
    partition: KeyAttribute
    sort: KeyAttribute | None
    tag: str | None = None
    "The attribute that says which entity an item is, where the documents have one."
    expiry: str | None = None
    "The attribute that holds the epoch second of an item's end."
    feed: bool = False
    indexes: dict[str, IndexPlace] = field(default_factory=dict)
    watched: bool = False
    "Has it a feed only as long as somebody copies it? Then that is no part of how its records lie."


@dataclass(frozen=True, eq=False, repr=False)
class KeyShape:
    """How an entity's fields make the key of a table or of an index."""

    partition_attribute: KeyAttribute
    partition: Template
    sort_attribute: KeyAttribute | None
    sort: Template | None

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Every field of the key once, the partition's first."""
        names = self.partition.names + (self.sort.names if self.sort else ())
        return tuple(dict.fromkeys(names))

    @cached_property
    def sort_fields(self) -> tuple[str, ...]:
        """The fields that order records within a partition."""
        return tuple(n for n in (self.sort.names if self.sort else ()) if n not in self.partition.names)

    def bound_sort_parts(self, values: Mapping[str, Any]) -> int:
        """How many leading parts of the sort key these values settle."""
        names = self.sort.names if self.sort else ()
        return next((i for i, name in enumerate(names) if name not in values), len(names))


@dataclass(frozen=True, eq=False)
class IndexShape:
    """An entity's sparse part in an index: present while every field of the key has a value and ``when`` holds."""

    place: IndexPlace
    key: KeyShape
    when: Mapping[str, frozenset[Any]] = field(default_factory=dict)

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Does a record with these values take part in the index?"""
        return all(values.get(n) is not None for n in self.key.fields) and all(
            values.get(n) in allowed for n, allowed in self.when.items()
        )

    @cached_property
    def can_refuse(self) -> bool:
        """Is there a part of the key whose value may not fit?"""
        return self.key.partition.can_refuse or (self.key.sort is not None and self.key.sort.can_refuse)

    @cached_property
    def watched(self) -> frozenset[str]:
        """The fields whose change may change the index key."""
        return frozenset(self.key.fields) | frozenset(self.when)


@dataclass(frozen=True, slots=True)
class Rights:
    """What a store bound to a project may do with that project's own records of an entity."""

    read: bool = True
    add: bool = True
    change: bool = True
    remove: bool = True


KEPT = Rights(change=False, remove=False)
"Records are added, and stay as they are."
OPERATORS = Rights(read=False, add=False, change=False, remove=False)
"Only the store itself has them, whichever project they are of."


@dataclass(eq=False, repr=False)
class EntityShape:
    """One entity: its fields, its key, its indexes, where it lives, and how a record of it is made."""

    name: str
    table: TablePlace
    relation: str
    "The name of its table in SQL."
    collection: str
    "The name of its records in paths: a plural."
    fields: dict[str, FieldShape]
    key: KeyShape
    indexes: dict[str, IndexShape]
    tag: str | None
    expiry: str | None
    "The field that holds the epoch second of its end."
    build: Callable[[dict[str, Any]], Any]
    "Makes a record of trusted values."
    check: Callable[[dict[str, Any]], Any]
    "Makes a record of values that need validation; pydantic's errors pass through."
    domain: str | None = None
    patterns: dict[str, PatternShape] = field(default_factory=dict)
    wakes: bool = False
    "Does a new one concern somebody who waits?"
    told: tuple[str, ...] = ()
    "The fields of a new one that travel with its news, where an engine can."
    traced: bool = True
    "Has it a history of its own, which finds every audit line that tells of it?"
    sql_indexes: tuple[tuple[str, ...], ...] = ()
    "Further sets of fields that SQL keeps an index on."
    lifetimes: tuple[str, ...] = ()
    "What ends its records, each rule in a few words."
    last_modified: str | None = None
    "The field that tells when a record was last changed."
    version: str | None = None
    "The field that counts how often a record was written."
    seen_by: Role | None = None
    "Who may look at its records at all; None: whoever may look at anything."
    created_by: Permission | None = None
    "Who may create its records through a door; None: the declaration does not say."
    moved_by_work: bool = False
    "Is what the declaration does not say the system's alone?"

    rights: Rights = Rights()
    "What a store bound to a project may do with its own ones."
    files: tuple[FilePattern, ...] = ()
    "Where its files may lie; none when its domain does not say, and then anywhere."
    gone: Mapping[str, Any] = field(default_factory=dict)
    "Fields that older declarations need in every record, and what is written there for their sake."

    def __repr__(self) -> str:
        return f"<entity {self.label}>"

    @cached_property
    def file_fields(self) -> tuple[FieldShape, ...]:
        """The fields that hold object keys."""
        return tuple(f for f in self.fields.values() if f.keys is not None)

    @cached_property
    def folder_fields(self) -> tuple[FieldShape, ...]:
        """The fields that hold folders."""
        return tuple(f for f in self.fields.values() if f.folders is not None)

    @cached_property
    def pointing(self) -> frozenset[str]:
        """The names of all fields that point at files, one by one or by their folder."""
        return frozenset(f.name for f in (*self.file_fields, *self.folder_fields))

    @cached_property
    def personal(self) -> tuple[FieldShape, ...]:
        """The fields that only some may see."""
        return tuple(f for f in self.fields.values() if f.personal is not None)

    def is_shown_to(self, role: Role | None) -> bool:
        """May a caller of this role look at its records? None is anybody."""
        return self.seen_by is None or (role is not None and role.includes(self.seen_by))

    def hidden_from(self, role: Role | None) -> frozenset[str]:
        """The personal fields that a caller of this role is not shown; None is anybody."""
        return frozenset(
            f.name for f in self.personal if f.personal is not None and (role is None or not role.includes(f.personal))
        )

    @cached_property
    def indexed(self) -> frozenset[str]:
        """Every field that an index key depends on."""
        return frozenset(n for index in self.indexes.values() for n in index.watched)

    @cached_property
    def bounded(self) -> frozenset[str]:
        """The numbers that an addition could take beyond their bounds."""
        return frozenset(f.name for f in self.fields.values() if f.bounds is not None)

    @cached_property
    def computed(self) -> tuple[FieldShape, ...]:
        """The fields that are made of others."""
        return tuple(f for f in self.fields.values() if f.computation is not None)

    @cached_property
    def unique(self) -> tuple[FieldShape, ...]:
        """The fields whose values no two records may share."""
        return tuple(f for f in self.fields.values() if f.unique_within is not None)

    @cached_property
    def claimed_by(self) -> frozenset[str]:
        """The fields whose change may change what a record's unique values are claimed with."""
        if not self.unique:
            return frozenset()
        names = {n for f in self.unique for n in (f.name, *(f.unique_within or ()))}
        project = None if self.project is None else self.project.name
        return frozenset(names | {n for n in (self.expiry, project) if n is not None})

    @cached_property
    def needs_upkeep(self) -> bool:
        """Does the kernel keep something true of its records beside what is written?"""
        return self.version is not None or bool(self.unique)

    @cached_property
    def key_fields(self) -> tuple[FieldShape, ...]:
        """The fields that name a record."""
        return tuple(self.fields[n] for n in self.key.fields)

    @cached_property
    def name_of(self) -> Callable[[Mapping[str, Any]], Any]:
        """What tells one of its records from all others, out of a record's values or its key."""
        return itemgetter(*self.key.fields) if self.key.fields else lambda values: ()

    @cached_property
    def states(self) -> tuple[FieldShape, ...]:
        """The fields that only a Move changes."""
        return tuple(f for f in self.fields.values() if f.state)

    @cached_property
    def documents(self) -> tuple[FieldShape, ...]:
        """The fields whose values can be changed in place."""
        return tuple(f for f in self.fields.values() if f.kind is Kind.DOCUMENT)

    @cached_property
    def project(self) -> FieldShape | None:
        """The field that says which project a record belongs to; None where records belong to none."""
        found = self.fields.get("project_id")
        return found if found is not None and found.kind in (Kind.TEXT, Kind.IDENTIFIER) else None

    @cached_property
    def project_in_key(self) -> bool:
        """Does the key alone tell the project?"""
        return self.project is not None and self.project.name in self.key.fields

    @property
    def label(self) -> str:
        return f"{self.domain}.{self.name}" if self.domain else self.name


def unindexed(shape: EntityShape) -> EntityShape:
    """The same records, by their keys alone."""
    return replace(shape, indexes={}, sql_indexes=())


@dataclass(frozen=True, eq=False, repr=False)
class PatternShape:
    """A named access pattern: which key it walks, which fields it binds, and in which direction."""

    name: str
    entity: EntityShape
    key: KeyShape
    index: IndexShape | None
    parameters: tuple[str, ...]
    optional: frozenset[str]
    ranged: str | None
    "The sort field that may be bounded by a range."
    backwards: bool
    summary: str

    @property
    def asked_by(self) -> Role | None:
        """The role it takes to ask, where an answer tells something personal: that a guess is right, or by its order.

        None when nothing personal decides which records are found, or in which order.
        """
        deciding = {*self.key.fields, *(self.index.watched if self.index is not None else ())}
        roles = [f.personal for f in self.entity.personal if f.name in deciding and f.personal is not None]
        return max(roles, key=list(Role).index, default=None)

    @property
    def label(self) -> str:
        return f"{self.entity.label}.{self.name}"

    def __repr__(self) -> str:
        return f"<pattern {self.label}>"


@dataclass(frozen=True, slots=True)
class ViewShape:
    """A SQL view of a domain; ``{Entity}`` in its text stands for an entity's table. Other engines have none."""

    name: str
    domain: str
    select: str
