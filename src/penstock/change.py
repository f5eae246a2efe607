"""A change: what becomes true together, commits together."""

from __future__ import annotations

import copy
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.conditions import Compare, Condition, Missing, Present, both
from penstock.declare.entity import Entity
from penstock.errors import InvalidValue
from penstock.index_keys import settle
from penstock.kinds import Kind
from penstock.ops import Check, Delete, Patch, Put, Ref, Write
from penstock.records import prepare, prepare_updates
from penstock.updates import Remove, Set, Update

if TYPE_CHECKING:
    from penstock.store import Store

E = TypeVar("E", bound=Entity)


class Change:
    """Collects reads and writes; leaving the ``with`` block commits them all, an exception none.

    Reads see committed state only. A record that was read here is saved on the condition that the fields it is
    decided on (its states) still stand as they were read.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._writes: list[Write] = []
        self._read: dict[int, tuple[Entity, dict[str, Any]]] = {}

    def __enter__(self) -> Change:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._writes:
            self._store.commit(self._writes)

    def get(self, ref: Ref[E]) -> E:
        """The record as committed, or NotFound; it may be changed and saved."""
        record = self._store.get(ref)
        self._read[id(record)] = (record, _snapshot(record))
        return record

    def create(self, record: E) -> E:
        """Write a record where none stands."""
        self._writes.append(Put(record.__shape__, prepare(record.__shape__, record.__dict__), Missing()))
        return record

    def save(self, record: E, *, when: Condition | None = None) -> E:
        """Write what has changed in a record read here, unless its states have moved meanwhile."""
        if id(record) not in self._read:
            raise InvalidValue(f"{record.ref!r} was not read in this change; read it with change.get, or create it")
        before = self._read[id(record)][1]
        shape = record.__shape__
        updates = prepare_updates(shape, _difference(record, before)) if _difference(record, before) else ()
        states = _states_as_read(record, before)
        condition = both(both(Present(), states), when)
        if not updates:
            self._writes.append(Check(shape, record.ref.key, condition or Present()))
        else:
            self._writes.append(settle(Patch(shape, record.ref.key, updates, condition), before))
        return record

    def patch(self, ref: Ref[E], *updates: Update, when: Condition | None = None) -> None:
        """Change some fields of a record without reading it."""
        self._writes.append(settle(Patch(ref.shape, ref.key, prepare_updates(ref.shape, updates), when), None))

    def delete(self, ref: Ref[Any], *, when: Condition | None = None) -> None:
        """Remove a record."""
        self._writes.append(Delete(ref.shape, ref.key, when))

    def check(self, ref: Ref[Any], when: Condition) -> None:
        """Refuse the whole change unless the condition holds of a record that is not written."""
        self._writes.append(Check(ref.shape, ref.key, when))


def _snapshot(record: Entity) -> dict[str, Any]:
    """The values as they were read; documents are copied, because they can be changed in place."""
    fields = record.__shape__.fields
    return {n: copy.deepcopy(v) if fields[n].kind is Kind.DOCUMENT else v for n, v in record.__dict__.items()}


def _difference(record: Entity, before: dict[str, Any]) -> list[Update]:
    return [
        Remove(name) if value is None else Set(name, value)
        for name, value in record.__dict__.items()
        if value != before[name]
    ]


def _states_as_read(record: Entity, before: dict[str, Any]) -> Condition | None:
    condition: Condition | None = None
    for name, field in record.__shape__.fields.items():
        if field.state:
            as_read: Condition = Compare(name, "=", before[name])
            if before[name] == field.default:
                as_read |= Missing(name)  # another writer may have left the state out, which reads as the default
            condition = both(condition, as_read)
    return condition
