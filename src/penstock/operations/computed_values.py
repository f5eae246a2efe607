"""Computed values cannot go stale: a write of what they are made of makes them anew, or is refused before it is sent.

What a value is made of may be set by the patch itself, part of the key, or among what the caller has read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import StaleComputed
from penstock.operations.conditions import Compare, Condition, Missing, both
from penstock.operations.updates import Remove, Set, Update
from penstock.operations.writes import Patch
from penstock.schema.documents import as_stored
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape


def with_computed_values(shape: EntityShape, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a whole record, those that are computed made anew."""
    made = dict(values)
    for field in shape.computed:
        assert field.computation is not None
        made[field.name] = field.computation.value(f"{shape.name}.{field.name}", values)
    return made


def with_computed_updates(patch: Patch, given: Mapping[str, Any] | None) -> Patch:
    """The patch, with the computed values that change by it.

    ``given`` holds values the caller has read. Where one of them is needed, the patch becomes conditional on it.
    """
    shape = patch.shape
    touched = {u.field: u for u in patch.updates}
    changing = [f for f in shape.computed if f.computation and not touched.keys().isdisjoint(f.computation.of)]
    if not changing:
        return patch
    relied: dict[str, Any] = {}
    updates = [u for u in patch.updates if shape.fields[u.field].computation is None]
    for field in changing:
        assert field.computation is not None
        values = {n: _known(patch, field, n, touched.get(n), given, relied) for n in field.computation.of}
        value = field.computation.value(f"{shape.name}.{field.name}", values)
        stored = value if value is None or field.dump is None else field.dump(value)
        updates.append(Remove(field.name) if value is None else Set(field.name, stored))
    when = patch.when
    for name, value in sorted(relied.items()):
        when = both(when, _still(shape.fields[name], value))
    return Patch(shape, patch.key, tuple(updates), when, patch.relied, patch.exact)


def _known(
    patch: Patch,
    field: FieldShape,
    name: str,
    update: Update | None,
    given: Mapping[str, Any] | None,
    relied: dict[str, Any],
) -> Any:
    """A value that a computed one is made of, as it is after the patch."""
    source = patch.shape.fields[name]
    if isinstance(update, Remove):
        return None
    if isinstance(update, Set):
        return source.load(update.value) if source.load is not None and update.value is not None else update.value
    if update is not None:
        raise StaleComputed(
            f"{patch.shape.name}.{field.name} is computed of {name}, so its new value must be known; "
            f"read the record and set the value instead"
        )
    if name in patch.shape.key.fields:
        return patch.key[name]
    if given is None or name not in given:
        raise StaleComputed(
            f"this patch of {patch.shape.name} changes {field.name}, which is also computed of {name}; "
            f"set it in the same patch, or pass the record you read as given="
        )
    relied[name] = given[name]
    return given[name]


def _still(field: FieldShape, value: Any) -> Condition:
    if value is None:
        return Missing(field.name)
    return Compare(field.name, "=", as_stored(field, value) if field.kind is Kind.DOCUMENT else value)
