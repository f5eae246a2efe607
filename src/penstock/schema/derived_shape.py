"""Derived shapes: a declaration seen through the layout that a store has.

Its fields keep their names and their meaning, and lie where the layout says. What the layout has and the declaration
does not know is carried along: fields under their names, so that no write erases them, and keys of every index, so
that others find what is written here. What the declaration has and the layout does not know yet is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from penstock.errors import LayoutMismatch
from penstock.schema.fingerprint import Fingerprint, StoredField, StoredIndex, StoredKey, fingerprint_of
from penstock.schema.kinds import FieldShape, Kind, parse_instant
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


class StoredValues:
    """The values of a record as they lie in the store, with those that the declaration does not know."""

    __slots__ = ("__dict__", "__shape__")

    def __init__(self, shape: EntityShape, values: dict[str, Any]) -> None:
        self.__dict__, self.__shape__ = values, shape


@dataclass(frozen=True, eq=False)
class DerivedShape:
    """A declaration, and the shape by which an engine reads and writes its records in one store."""

    declared: EntityShape
    shape: EntityShape
    "What the engine is given; it makes `StoredValues`."
    absent: Mapping[str, FieldShape]
    "Declared fields that the store does not know yet."
    needed: frozenset[str]
    "Declared fields of which every record must have a value for others to read it, though it is optional here."
    unknown: Mapping[str, Any]
    "Fields that the declaration does not know, with what a new record has of each,"
    unfilled: tuple[str, ...]
    "and those of which nobody here knows what a new record should have."
    incomplete: frozenset[str] = field(default_factory=frozenset)
    "Declared indexes that do not have every record yet."


def through(
    declared: EntityShape, layout: Fingerprint, *, announced: Fingerprint | None = None, key_texts: bool
) -> DerivedShape:
    """A declaration seen through a layout; LayoutMismatch where its records cannot be read or written by it.

    What is ``announced`` beside the layout is carried along already, as others may go by it soon.
    """
    carried = announced or layout
    _check_missing(declared, layout)
    absent = {n: f for n, f in declared.fields.items() if n not in layout.fields}
    known = {n: _placed(declared, f, layout.fields[n]) for n, f in declared.fields.items() if n not in absent}
    strangers = {n: s for n, s in carried.fields.items() if n not in known and n not in absent}
    fields = {**known, **{n: _stranger(n, s) for n, s in strangers.items()}}
    place = _place(declared, layout)
    shape = replace(
        declared,
        table=place,
        relation=layout.relation,
        fields=fields,
        key=_key(declared, fields, layout.partition, layout.sort),
        indexes=_indexes(declared, fields, carried, place) if key_texts else _own_indexes(declared, fields),
        tag=layout.tag[1] if layout.tag is not None else None,
        expiry=next((n for n in (declared.expiry, carried.expiry) if n in fields), None),
        patterns={},
        files=(),
    )
    shape.build = lambda values: StoredValues(shape, values)
    shape.check = _checked(declared, shape, strangers)
    declared_print = fingerprint_of(declared)
    return DerivedShape(
        declared,
        shape,
        absent,
        frozenset(n for n in known if not layout.fields[n].may_be_missing and known[n].optional),
        {n: _value(s) for n, s in strangers.items()},
        tuple(n for n, s in strangers.items() if not s.may_be_missing),
        frozenset(n for n, i in declared_print.indexes.items() if key_texts and layout.indexes.get(n) != i),
    )


def _check_missing(declared: EntityShape, layout: Fingerprint) -> None:
    for name, given in fingerprint_of(declared).fields.items():
        if name not in layout.fields and not given.may_be_missing:
            raise LayoutMismatch(
                f"{declared.label}.{name} is declared as a value that every record has, and the store's records have "
                f"none; give it a default, or make it optional"
            )


def _placed(declared: EntityShape, given: FieldShape, stored: StoredField) -> FieldShape:
    """A declared field where the layout has it."""
    if given.kind.value != stored.kind or given.digits != stored.digits:
        raise LayoutMismatch(
            f"{declared.label}.{given.name} is stored as {Kind(stored.kind).noun}, and declared as {given.kind.noun}; "
            f"this declaration and the store's records do not fit"
        )
    return replace(given, attribute=stored.attribute, column=stored.column, stored=not stored.in_key_only)


def _stranger(name: str, stored: StoredField) -> FieldShape:
    """A field that the declaration does not know, as far as that is needed to carry it along."""
    kind = Kind(stored.kind)
    return FieldShape(
        name=name,
        attribute=stored.attribute,
        column=stored.column,
        kind=Kind.TEXT if kind is Kind.CHOICE else kind,
        optional=True,
        stored=not stored.in_key_only,
        digits=stored.digits,
        python=_PYTHON.get(kind, object),
    )


_PYTHON: Mapping[Kind, Any] = {
    Kind.TEXT: str,
    Kind.CHOICE: str,
    Kind.IDENTIFIER: UUID,
    Kind.INTEGER: int,
    Kind.FLOAT: float,
    Kind.DECIMAL: Decimal,
    Kind.FLAG: bool,
    Kind.BYTES: bytes,
    Kind.DAY: date,
}
_READ: Mapping[Kind, Callable[[str], Any]] = {
    Kind.IDENTIFIER: UUID,
    Kind.INTEGER: int,
    Kind.FLOAT: float,
    Kind.DECIMAL: Decimal,
    Kind.FLAG: lambda text: text == "True",
    Kind.BYTES: bytes.fromhex,
    Kind.INSTANT: parse_instant,
    Kind.DAY: date.fromisoformat,
    Kind.TEXTS: lambda text: frozenset(msgspec.json.decode(text)),
    Kind.DOCUMENT: msgspec.json.decode,
}


def _value(stored: StoredField) -> Any:
    """What a new record has of a field, by its default."""
    return None if stored.default is None else read_text(Kind(stored.kind), stored.default)


def read_text(kind: Kind, text: str) -> Any:
    """The value that a fingerprint's text stands for."""
    return _READ[kind](text) if kind in _READ else text


# Keys and places


def _place(declared: EntityShape, layout: Fingerprint) -> TablePlace:
    known = declared.table
    attributes = _attribute(layout.partition), _attribute(layout.sort) if layout.sort else None
    tag = layout.tag[0] if layout.tag is not None else None
    if (known.name, known.partition, known.sort, known.tag) == (layout.table, *attributes, tag):
        return known
    return TablePlace(layout.table, *attributes, tag, known.expiry, layout.feed, {})


def _attribute(key: StoredKey) -> KeyAttribute:
    return KeyAttribute(key.attribute, key.number)


def _key(
    declared: EntityShape, fields: Mapping[str, FieldShape], partition: StoredKey, sort: StoredKey | None
) -> KeyShape:
    def template(key: StoredKey, *, ordered: bool) -> Template:
        limit = SORT_BYTES if ordered else PARTITION_BYTES
        return compile_template(key.template, fields, entity=declared.name, ordered=ordered, limit=limit)

    return KeyShape(
        _attribute(partition),
        template(partition, ordered=False),
        _attribute(sort) if sort is not None else None,
        template(sort, ordered=True) if sort is not None else None,
    )


def _indexes(
    declared: EntityShape, fields: Mapping[str, FieldShape], layout: Fingerprint, place: TablePlace
) -> dict[str, IndexShape]:
    """All indexes of a layout, whether they are declared or not: whatever is written must be found by others."""
    found = {}
    for name, stored in layout.indexes.items():
        at = place.indexes.get(name) or IndexPlace(
            name, _attribute(stored.partition), _attribute(stored.sort) if stored.sort is not None else None
        )
        found[name] = IndexShape(at, _key(declared, fields, stored.partition, stored.sort), _when(fields, stored))
    return found


def _when(fields: Mapping[str, FieldShape], stored: StoredIndex) -> dict[str, frozenset[Any]]:
    """The values that fields must have; one that the declaration does not know, no record of it can have."""
    found = {}
    for name, texts in stored.when.items():
        given = fields[name]
        if given.kind is Kind.CHOICE:
            found[name] = frozenset(given.python(t) for t in texts if t in given.python._value2member_map_)
        else:
            found[name] = frozenset(read_text(given.kind, text) for text in texts)
    return found


def _own_indexes(declared: EntityShape, fields: Mapping[str, FieldShape]) -> dict[str, IndexShape]:
    """The declared indexes, of which each that the store does not know yet is a question like any other."""
    found = {}
    for name, index in declared.indexes.items():
        if all(n in fields for n in index.watched):
            of = fingerprint_of(declared).indexes[name]
            found[name] = IndexShape(index.place, _key(declared, fields, of.partition, of.sort), index.when)
    return found


def _checked(
    declared: EntityShape, shape: EntityShape, strangers: Mapping[str, StoredField]
) -> Callable[[dict[str, Any]], Any]:
    def check(values: dict[str, Any]) -> StoredValues:
        record = declared.check({n: v for n, v in values.items() if n not in strangers})
        return StoredValues(shape, {**vars(record), **{n: values.get(n) for n in strangers}})

    return check
