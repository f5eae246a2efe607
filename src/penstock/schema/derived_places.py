"""Keys, indexes and places of a derived shape: where a layout has the records of a declaration, and finds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from penstock.schema.fingerprint import Fingerprint, StoredIndex, StoredKey
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


def placed_as(shape: EntityShape, declared: EntityShape, layout: Fingerprint) -> EntityShape:
    """A shape whose records lie where a layout has them."""
    return replace(
        shape,
        table=place_in(declared, layout),
        relation=layout.relation,
        key=key_in(declared.name, shape.fields, layout.partition, layout.sort),
        tag=layout.tag[1] if layout.tag is not None else None,
    )


def place_in(declared: EntityShape, layout: Fingerprint) -> TablePlace:
    known = declared.table
    attributes = _attribute(layout.partition), _attribute(layout.sort) if layout.sort else None
    tag = layout.tag[0] if layout.tag is not None else None
    if (known.name, known.partition, known.sort, known.tag) == (layout.table, *attributes, tag):
        return known
    feed = layout.feed or known.watched
    return TablePlace(layout.table, *attributes, tag, known.expiry, feed, {}, watched=known.watched)


def _attribute(key: StoredKey) -> KeyAttribute:
    return KeyAttribute(key.attribute, key.number)


def key_in(entity: str, fields: Mapping[str, FieldShape], partition: StoredKey, sort: StoredKey | None) -> KeyShape:
    def template(key: StoredKey, *, ordered: bool) -> Template:
        limit = SORT_BYTES if ordered else PARTITION_BYTES
        return compile_template(key.template, fields, entity=entity, ordered=ordered, limit=limit)

    return KeyShape(
        _attribute(partition),
        template(partition, ordered=False),
        _attribute(sort) if sort is not None else None,
        template(sort, ordered=True) if sort is not None else None,
    )


def indexes_in(
    declared: EntityShape, fields: Mapping[str, FieldShape], indexes: Mapping[str, StoredIndex], place: TablePlace
) -> dict[str, IndexShape]:
    """All indexes of a layout, whether they are declared or not: whatever is written must be found by others."""
    found = {}
    for name, stored in indexes.items():
        at = place.indexes.get(name) or IndexPlace(
            name, _attribute(stored.partition), _attribute(stored.sort) if stored.sort is not None else None
        )
        found[name] = IndexShape(
            at, key_in(declared.name, fields, stored.partition, stored.sort), _when(fields, stored)
        )
    return found


def changed_indexes(layout: Fingerprint, other: Fingerprint) -> list[str]:
    """The indexes whose keys are made otherwise in another layout."""
    return [name for name, index in layout.indexes.items() if other.indexes.get(name, index) != index]


def incomplete_indexes(own: Fingerprint, layout: Fingerprint, carried: Fingerprint) -> frozenset[str]:
    """Declared indexes in which some records have another key than is declared, or none."""
    return frozenset(
        name
        for name, index in own.indexes.items()
        if layout.indexes.get(name) != index or carried.indexes.get(name) != index
    )


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


def own_indexes(declared: EntityShape, own: Fingerprint, fields: Mapping[str, FieldShape]) -> dict[str, IndexShape]:
    """The declared indexes, of which each that the store does not know yet is a question like any other."""
    found = {}
    for name, index in declared.indexes.items():
        if all(n in fields for n in index.watched):
            of = own.indexes[name]
            found[name] = IndexShape(index.place, key_in(declared.name, fields, of.partition, of.sort), index.when)
    return found


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


def read_text(kind: Kind, text: str) -> Any:
    """The value that a fingerprint's text stands for."""
    return _READ[kind](text) if kind in _READ else text
