"""Index keys cannot go stale: a patch that touches a field of one rewrites it in the same write, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.conditions import Compare, Condition, Missing, both
from penstock.errors import StaleIndex
from penstock.ops import Patch
from penstock.shape import EntityShape, IndexShape, KeyAttribute
from penstock.template import Template
from penstock.updates import Remove, Set


def settle(patch: Patch, given: Mapping[str, Any] | None) -> Patch:
    """The patch with every index attribute it changes.

    ``given`` holds values the caller has read. Where an index key needs one of them, the patch becomes conditional on
    that value still standing, so that two writers of two fields cannot leave a key made of neither.
    """
    touched = {u.field for u in patch.updates} & patch.shape.indexed
    if not touched:
        return patch
    known = _Known(patch, given or {})
    attributes: dict[str, str | int | None] = {}
    for index in patch.shape.indexes.values():
        if touched & index.watched:
            attributes.update(_rewritten(index, touched, known))
    return replace(patch, when=both(patch.when, known.condition()), index_attributes=attributes)


class _Known:
    """What is certain about a record after the patch, and which read values that certainty rests on."""

    def __init__(self, patch: Patch, given: Mapping[str, Any]) -> None:
        self.shape: EntityShape = patch.shape
        self._given = given
        self._after: dict[str, Any] = {n: patch.key[n] for n in patch.shape.key.fields}
        self._blind: set[str] = set()
        for update in patch.updates:
            if isinstance(update, Set):
                self._after[update.field] = update.value
            elif isinstance(update, Remove):
                self._after[update.field] = None
            else:
                self._blind.add(update.field)
        self._relied: set[str] = set()

    def value(self, name: str, index: IndexShape) -> Any:
        """The field's value after the patch; StaleIndex when nobody can tell."""
        if name in self._after:
            return self._after[name]
        if name in self._blind:
            raise StaleIndex(
                f"{self.shape.name}.{name} is part of the index key {index.place.name}, so its new value "
                f"must be known; read the record and set the value instead"
            )
        if name not in self._given:
            raise StaleIndex(
                f"this patch of {self.shape.name} changes the index key {index.place.name}, which also needs {name}; "
                f"set it in the same patch, or pass the record you read as given="
            )
        self._relied.add(name)
        return self._given[name]

    def condition(self) -> Condition | None:
        condition: Condition | None = None
        for name in sorted(self._relied):
            value = self._given[name]
            condition = both(condition, Missing(name) if value is None else Compare(name, "=", value))
        return condition


def _rewritten(index: IndexShape, touched: set[str], known: _Known) -> dict[str, str | int | None]:
    """The index attributes that change, with their new values."""
    parts = [(index.place.partition, index.key.partition)]
    if index.place.sort is not None and index.key.sort is not None:
        parts.append((index.place.sort, index.key.sort))
    derived = [(a, t) for a, t in parts if not _is_field_itself(known.shape, a, t)]
    if not derived:
        return {}  # the fields are the key: they cannot differ
    if not _always_indexed(known.shape, index):
        values = {name: known.value(name, index) for name in sorted(index.watched)}
        if not index.holds(values):
            return {a.name: None for a, _ in derived}
        return {a.name: t.encode(values) for a, t in derived}
    changed = [(a, t) for a, t in derived if touched & set(t.names)]
    return {a.name: t.encode({n: known.value(n, index) for n in t.names}) for a, t in changed}


def _always_indexed(shape: EntityShape, index: IndexShape) -> bool:
    return not index.when and not any(shape.fields[n].optional for n in index.key.fields)


def _is_field_itself(shape: EntityShape, attribute: KeyAttribute, template: Template) -> bool:
    field = template.bare
    return field is not None and field.stored and field.attribute == attribute.name
