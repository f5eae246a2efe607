"""Writing rows: what a write leaves of a row, with the index keys that it writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import TooLarge
from penstock.operations.index_keys import index_attributes
from penstock.operations.updates import apply
from penstock.operations.validation import check_value
from penstock.operations.writes import Patch, Put, Write
from penstock.schema.shape import RECORD_BYTES, EntityShape, IndexShape, KeyAttribute
from penstock.schema.size import record_size
from penstock.schema.template import Template
from penstock.testing.simulation.stored_row import StoredRow, plain_value, stored_value

_SURELY_SMALL = 50_000
"Below so many characters no record is near the limit."


def row_after(write: Write, row: StoredRow | None) -> StoredRow | None:
    """What a write leaves; None when that is nothing."""
    fields = write.shape.fields
    if isinstance(write, Put):
        values = {f.column: stored_value(f, write.values.get(n)) for n, f in fields.items()}
        return StoredRow(values, true_index_keys(write.shape, write.values))
    if not isinstance(write, Patch) or row is None:
        return None
    return _patched(write, row)


def true_index_keys(shape: EntityShape, values: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The index keys that a record with these values should have."""
    keys = {}
    for index in shape.indexes.values():
        if index.holds(values):
            sort = None if index.key.sort is None else index.key.sort.encode(values)
            keys[index.place.name] = (index.key.partition.encode(values), sort)
    return keys


def _patched(patch: Patch, row: StoredRow) -> StoredRow:
    shape, fields = patch.shape, patch.shape.fields
    names = [update.field for update in patch.updates]
    after = apply(patch.updates, {n: plain_value(fields[n], row.values.get(fields[n].column)) for n in names})
    for name in names:
        if after[name] is not None:
            check_value(shape.name, fields[name], after[name])
    values = {**row.values, **{fields[n].column: stored_value(fields[n], after[n]) for n in names}}
    _check_size(shape, values)
    return StoredRow(values, _keys_after(patch, row.index_keys, StoredRow(values, {})))


def _check_size(shape: EntityShape, stored: Mapping[str, Any]) -> None:
    if sum(len(v) for v in stored.values() if isinstance(v, str | bytes | frozenset)) < _SURELY_SMALL:
        return
    size = record_size(shape, {n: plain_value(f, stored.get(f.column)) for n, f in shape.fields.items()})
    if size > RECORD_BYTES:
        raise TooLarge(f"{shape.name} would have {size} bytes; at most {RECORD_BYTES} (400 KB) are allowed")


def _keys_after(patch: Patch, before: Mapping[str, tuple[Any, Any]], after: StoredRow) -> dict[str, tuple[Any, Any]]:
    """The index keys after a patch: what it says, fields that are keys themselves, and else what stood there."""
    attributes, keys = index_attributes(patch), {}
    for index in patch.shape.indexes.values():
        name = index.place.name
        old = before.get(name, (None, None))
        new = tuple(
            _part(patch.shape, attributes, after, attribute, template, was)
            for (attribute, template), was in zip(_parts(index), old, strict=True)
        )
        if None not in new[: len(_parts(index)) - (index.key.sort is None)]:
            keys[name] = (new[0], new[1])
    return keys


def _parts(index: IndexShape) -> tuple[tuple[KeyAttribute | None, Template | None], ...]:
    return (index.place.partition, index.key.partition), (index.place.sort, index.key.sort)


def _part(
    shape: EntityShape,
    attributes: Mapping[str, Any],
    after: StoredRow,
    attribute: KeyAttribute | None,
    template: Template | None,
    was: Any,
) -> Any:
    if attribute is None or template is None:
        return None
    if attribute.name in attributes:
        return attributes[attribute.name]
    field = template.bare
    if field is None or not field.stored or field.attribute != attribute.name:
        return was
    value = after.some(shape, [field.name])[field.name]
    return None if value is None else template.encode({field.name: value})
