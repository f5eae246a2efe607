"""Index keys cannot go stale: a patch that touches a field of one rewrites it in the same write, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from operator import attrgetter
from typing import Any

from penstock.errors import StaleIndex
from penstock.operations.additions import within_bounds
from penstock.operations.computed_values import with_computed_updates
from penstock.operations.conditions import Compare, Condition, Missing, both
from penstock.operations.file_access import admit_files
from penstock.operations.updates import Remove, Set
from penstock.operations.writes import Patch
from penstock.schema.shape import EntityShape, IndexShape, KeyAttribute
from penstock.schema.template import Template

_FIELD = attrgetter("field")


def settle(patch: Patch, given: Mapping[str, Any] | None) -> Patch:
    """The patch with all that its index keys are made of, so that `index_attributes` can tell the new ones.

    ``given`` holds values the caller has read. Where an index key needs one of them, the patch becomes conditional on
    that value still standing, so that two writers of two fields cannot leave a key made of neither.
    """
    if patch.shape.computed:
        patch = with_computed_updates(patch, given)
    if patch.shape.files:
        patch = admit_files(patch, given)
    if patch.shape.bounded:
        patch = _bounded(patch)
    if patch.shape.claimed_by and given is not None:
        patch = _resting_on(patch, given)
    return with_index_keys(patch, given)


def with_index_keys(patch: Patch, given: Mapping[str, Any] | None) -> Patch:
    """The patch with all that its index keys are made of, and nothing else of what `settle` sees to."""
    touched = patch.shape.indexed.intersection(map(_FIELD, patch.updates))
    if not touched:
        return patch
    rewritings = _rewritings(patch.shape, touched)
    known = {u.field for u in patch.updates if isinstance(u, Set | Remove)}
    known |= patch.relied.keys() - set(map(_FIELD, patch.updates))
    relied: dict[str, Any] = dict(patch.relied)
    for rewriting in rewritings:
        for name in rewriting.made_of:
            if name not in known and name not in patch.shape.key.fields:
                relied[name] = _read(patch, name, rewriting.index, given or {})
    when = patch.when
    for name, value in sorted(relied.items()):
        if name not in patch.relied:
            when = both(when, _still(name, value))
    settled = Patch(patch.shape, patch.key, patch.updates, when, relied, patch.exact)
    if any(r.can_refuse for r in rewritings):
        values = _values(settled)
        for rewriting in rewritings:
            rewriting.check(values)
    return settled


def _resting_on(patch: Patch, given: Mapping[str, Any]) -> Patch:
    """The patch on the condition that what a record's unique values are claimed with is as it was read, if it changes.

    So it need not be read again to free what the record had.
    """
    names = patch.shape.claimed_by
    if names.isdisjoint(map(_FIELD, patch.updates)):
        return patch
    relied = {n: given[n] for n in sorted(names.difference(patch.shape.key.fields))}
    when = patch.when
    for name, value in relied.items():
        when = both(when, _still(name, value))
    return Patch(patch.shape, patch.key, patch.updates, when, {**patch.relied, **relied}, patch.exact)


def _still(name: str, value: Any) -> Condition:
    return Missing(name) if value is None else Compare(name, "=", value)


def _bounded(patch: Patch) -> Patch:
    """The patch, on the condition that no addition leaves the bounds of its field."""
    conditions = within_bounds(patch.shape, patch.updates)
    if not conditions:
        return patch
    when = patch.when
    for condition in conditions:
        when = both(when, condition)
    return Patch(patch.shape, patch.key, patch.updates, when, patch.relied, patch.exact)


def _read(patch: Patch, name: str, index: IndexShape, given: Mapping[str, Any]) -> Any:
    """A value that the patch leaves as it is; StaleIndex when nobody can tell which it is."""
    if any(u.field == name for u in patch.updates):
        raise StaleIndex(
            f"{patch.shape.name}.{name} is part of the index key {index.place.name}, so its new value "
            f"must be known; read the record and set the value instead"
        )
    if name not in given:
        raise StaleIndex(
            f"this patch of {patch.shape.name} changes the index key {index.place.name}, which also needs {name}; "
            f"set it in the same patch, or pass the record you read as given="
        )
    return given[name]


def index_attributes(patch: Patch) -> dict[str, str | int | None]:
    """The index attributes that change with a settled patch, for engines that store them; None: removed."""
    touched = patch.shape.indexed.intersection(map(_FIELD, patch.updates))
    if patch.renewed:
        touched |= {n for name in patch.renewed for n in patch.shape.indexes[name].watched}
    if not touched:
        return {}
    values = _values(patch)
    attributes: dict[str, str | int | None] = {}
    for rewriting in _rewritings(patch.shape, touched):
        attributes.update(rewriting.carry_out(values))
    return attributes


def _values(settled: Patch) -> dict[str, Any]:
    """What is known of the record after a settled patch."""
    values = {**settled.key, **settled.relied}
    for update in settled.updates:
        values[update.field] = update.value if isinstance(update, Set) else None
    return values


@dataclass(frozen=True)
class _Rewriting:
    """What becomes of one index key when certain fields change."""

    index: IndexShape
    parts: tuple[tuple[KeyAttribute, Template], ...]
    "The attributes to be written, each with the template that makes it."
    sparse: bool
    "Can a record leave the index, or enter it?"

    @cached_property
    def made_of(self) -> tuple[str, ...]:
        """The fields that must be known."""
        if self.sparse:
            return tuple(sorted(self.index.watched))
        return tuple(dict.fromkeys(n for _, template in self.parts for n in template.names))

    @cached_property
    def can_refuse(self) -> bool:
        return any(template.can_refuse for _, template in self.parts)

    def check(self, values: Mapping[str, Any]) -> None:
        """Refuse values that do not fit, as `carry_out` would."""
        if self.sparse and not self.index.holds(values):
            return
        for _, template in self.parts:
            template.check(values)

    def carry_out(self, values: Mapping[str, Any]) -> dict[str, str | int | None]:
        """The attributes' new values."""
        if self.sparse and not self.index.holds(values):
            return {a.name: None for a, _ in self.parts}
        return {a.name: t.encode(values) for a, t in self.parts}


@cache
def _rewritings(shape: EntityShape, touched: frozenset[str]) -> tuple[_Rewriting, ...]:
    """What is to be rewritten when these fields change; where the fields are the key itself, nothing."""
    found = []
    for index in shape.indexes.values():
        if not touched & index.watched:
            continue
        parts = [(index.place.partition, index.key.partition)]
        if index.place.sort is not None and index.key.sort is not None:
            parts.append((index.place.sort, index.key.sort))
        derived = [(a, t) for a, t in parts if not _is_field_itself(shape, a, t)]
        # A record from before a field was computed is in no index of it yet, and comes in with its whole key.
        sparse = bool(index.when) or any(
            shape.fields[n].optional or shape.fields[n].computation is not None for n in index.key.fields
        )
        if not sparse:
            derived = [(a, t) for a, t in derived if touched & set(t.names)]
        if derived:
            found.append(_Rewriting(index, tuple(derived), sparse))
    return tuple(found)


def _is_field_itself(shape: EntityShape, attribute: KeyAttribute, template: Template) -> bool:
    field = template.bare
    return field is not None and field.stored and field.attribute == attribute.name
