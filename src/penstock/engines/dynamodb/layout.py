"""How an entity lies in a DynamoDB table: which attributes its items have, and what each is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock.schema.kinds import FieldShape
from penstock.schema.shape import EntityShape, IndexShape, KeyAttribute, KeyShape
from penstock.schema.template import Template

Value = dict[str, Any]
"An attribute value as DynamoDB's JSON has it: {type: value}."


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A key attribute and the template its text is made by."""

    attribute: KeyAttribute
    template: Template

    @property
    def name(self) -> str:
        return self.attribute.name

    @property
    def kind(self) -> str:
        return "N" if self.attribute.number else "S"

    def value(self, values: Mapping[str, Any]) -> Value:
        return {self.kind: self.template.encode(values)}


def parts_of(key: KeyShape) -> tuple[KeyPart, ...]:
    """The partition attribute, and the sort attribute where there is one."""
    first = KeyPart(key.partition_attribute, key.partition)
    if key.sort_attribute is None or key.sort is None:
        return (first,)
    return (first, KeyPart(key.sort_attribute, key.sort))


class Layout:
    """One entity's items: its key, its fields, and its part in the indexes."""

    def __init__(self, shape: EntityShape, table: str) -> None:
        self.shape = shape
        self.table = table
        self.key = parts_of(shape.key)
        self.fields = tuple(f for f in shape.fields.values() if f.stored)

    @cached_property
    def own_key(self) -> tuple[KeyPart, ...]:
        """The key attributes that are not at the same time a field's attribute."""
        return tuple(p for p in self.key if self.native(p) is None)

    @cached_property
    def indexes(self) -> tuple[tuple[IndexShape, tuple[KeyPart, ...]], ...]:
        """Each index with the attributes that must be written for it: those no field or key holds already."""
        held = {p.name for p in self.key}
        found = []
        for index in self.shape.indexes.values():
            parts = tuple(p for p in parts_of(index.key) if self.native(p) is None and p.name not in held)
            if parts:
                found.append((index, parts))
        return tuple(found)

    @cached_property
    def key_names(self) -> frozenset[str]:
        return frozenset(p.name for p in self.key)

    def native(self, part: KeyPart) -> FieldShape | None:
        """The field that is itself this key attribute, if one is."""
        field = part.template.bare
        return field if field is not None and field.stored and field.attribute == part.name else None

    def key_of(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """The key of a record, as DynamoDB takes it."""
        return {p.name: p.value(values) for p in self.key}

    def is_number(self, attribute: str) -> bool:
        """Is this index attribute a number?"""
        return any(p.name == attribute and p.attribute.number for _, parts in self.indexes for p in parts)

    def is_sparse(self, index: IndexShape) -> bool:
        """Does the index itself leave out the records that have no part in it?"""
        return any(index is known for known, _ in self.indexes)
