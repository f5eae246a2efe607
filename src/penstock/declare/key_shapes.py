"""The keys of an entity, in its table and in the indexes of it, compiled from their templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.declare.checks import check_when
from penstock.declare.key import IndexKey, KeyOf
from penstock.declare.table import Table
from penstock.errors import DeclarationError
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import (
    PARTITION_BYTES,
    SORT_BYTES,
    EntityShape,
    IndexPlace,
    IndexShape,
    KeyAttribute,
    KeyShape,
    TablePlace,
)
from penstock.schema.template import Template, compile_template


def key_shape(
    entity: str, fields: Mapping[str, FieldShape], place: TablePlace | IndexPlace, declared: KeyOf[Any, ...] | IndexKey
) -> KeyShape:
    """A key of the entity, in its table or in an index: its templates fit the attributes they are written to."""
    if (declared.sort is None) != (place.sort is None):
        need = "needs a sort key template" if declared.sort is None else "has no sort key; remove the second template"
        raise DeclarationError(f"{entity}: its table or index {need}")
    partition = compile_template(declared.partition, fields, entity=entity, ordered=False, limit=PARTITION_BYTES)
    sort = None
    if declared.sort is not None:
        sort = compile_template(declared.sort, fields, entity=entity, ordered=True, limit=SORT_BYTES)
    _check_attribute(entity, fields, place.partition, partition)
    if place.sort is not None and sort is not None:
        _check_attribute(entity, fields, place.sort, sort)
    return KeyShape(place.partition, partition, place.sort, sort)


def _check_attribute(
    entity: str, fields: Mapping[str, FieldShape], attribute: KeyAttribute, template: Template
) -> None:
    """A key attribute holds what its template makes, and no field that is another's."""
    whole = template.bare
    is_number = whole is not None and whole.kind is Kind.INTEGER and template.parts[0].width is None
    if attribute.number != is_number:
        right = "a number: use one integer field alone" if attribute.number else "a string: zero-pad the integer"
        raise DeclarationError(f"{entity}: the key attribute {attribute.name} is {right}, not {template.text!r}")
    owner = next((f for f in fields.values() if f.attribute == attribute.name and f.stored), None)
    if owner is not None and (owner is not whole or attribute.number != (owner.kind is Kind.INTEGER)):
        raise DeclarationError(
            f"{entity}: {owner.name} is stored as {attribute.name}, which is also the key attribute made by "
            f"{template.text!r}; rename the field's attribute"
        )


def index_shapes(
    entity: str, fields: Mapping[str, FieldShape], table: Table, members: Mapping[str, Any]
) -> tuple[dict[str, IndexShape], dict[int, IndexShape]]:
    """The entity's index keys by index name, and by the identity of their declaration."""
    indexes: dict[str, IndexShape] = {}
    by_declaration: dict[int, IndexShape] = {}
    for declared in members.values():
        if not isinstance(declared, IndexKey):
            continue
        place = declared.index.place
        if declared.index.table is not table:
            raise DeclarationError(f"{entity}: the index {place.name} belongs to another table")
        if place.name in indexes:
            raise DeclarationError(f"{entity} has two keys in the index {place.name}; one is allowed")
        check_when(entity, place.name, fields, declared.when)
        index = IndexShape(place, key_shape(entity, fields, place, declared), declared.when)
        indexes[place.name] = by_declaration[id(declared)] = index
    return indexes, by_declaration


def check_key_fields(shape: EntityShape) -> None:
    """Every record has its whole key for good, and no field is stored under a name that the table needs itself."""
    for name in shape.key.fields:
        if shape.fields[name].optional:
            raise DeclarationError(f"{shape.name}.{name} is part of the key and cannot be optional")
        if shape.fields[name].state:
            raise DeclarationError(f"{shape.name}.{name} is a state and part of the key; a key never changes")
    for field in shape.fields.values():
        if not field.stored and field.name not in shape.key.fields:
            raise DeclarationError(f"{shape.name}.{field.name} is declared in_key_only, but no key template has it")
    reserved = {shape.table.tag, *_index_attributes(shape)} - {None}
    for field in shape.fields.values():
        if field.stored and field.attribute in reserved and not _is_native(shape, field):
            raise DeclarationError(
                f"{shape.name}.{field.name} is stored as {field.attribute}, which the table uses itself; rename it"
            )


def _index_attributes(shape: EntityShape) -> set[str]:
    names = set()
    for index in shape.table.indexes.values():
        names.add(index.partition.name)
        if index.sort is not None:
            names.add(index.sort.name)
    return names


def _is_native(shape: EntityShape, field: FieldShape) -> bool:
    """Is the field itself a key attribute of an index (as VideoMetadata's userId is)?"""
    for index in shape.indexes.values():
        pairs = ((index.place.partition, index.key.partition), (index.place.sort, index.key.sort))
        if any(a and t and a.name == field.attribute and t.bare is field for a, t in pairs):
            return True
    return False
