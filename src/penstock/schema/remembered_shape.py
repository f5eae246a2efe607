"""An entity of which there is no declaration any more, as far as its layout tells: enough to know its records."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from penstock.schema.derived_places import key_in
from penstock.schema.derived_shape import StoredValues, stranger
from penstock.schema.fingerprint import Fingerprint
from penstock.schema.shape import EntityShape, KeyAttribute, TablePlace


def remembered_shape(layout: Fingerprint) -> EntityShape:
    """The shape of records that lie by a layout."""
    domain, _, name = layout.label.partition(".")
    fields = {n: stranger(n, field) for n, field in layout.fields.items()}
    partition = KeyAttribute(layout.partition.attribute, layout.partition.number)
    sort = None if layout.sort is None else KeyAttribute(layout.sort.attribute, layout.sort.number)
    tag, told = layout.tag or (None, None)

    def made(values: dict[str, Any]) -> StoredValues:
        return StoredValues(shape, values)

    shape = EntityShape(
        name=name,
        table=TablePlace(layout.table, partition, sort, tag),
        relation=layout.relation,
        collection=name,
        fields=fields,
        key=key_in(name, fields, layout.partition, layout.sort),
        indexes={},
        tag=told,
        expiry=None,
        build=made,
        check=made,
        domain=domain,
    )
    return shape


def without_records(layout: Fingerprint) -> Fingerprint:
    """The layout of an entity that is dropped."""
    return replace(layout, fields={}, indexes={}, sql_indexes=(), expiry=None, gone={})
