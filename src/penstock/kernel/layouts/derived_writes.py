"""Writes of a declaration, by the layout that the store has: nothing is erased that it does not know, and every index
key is true, also of indexes that it does not declare.

Where that takes values which nobody here has, the record is read, and written on the condition that they still stand;
another who was quicker is no reason to refuse: then it is read anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from msgspec.structs import replace

from penstock.errors import Conflict, StaleComputed, StaleIndex
from penstock.kernel.layouts.derived_entity import DerivedEntity, Entities
from penstock.kernel.layouts.mirrored_writes import MirroredWrites
from penstock.operations.commit_recovery import conflict, required
from penstock.operations.conditions import All, Compare, Condition, Missing, Present, both, holds
from penstock.operations.index_keys import with_index_keys
from penstock.operations.reads import Ref
from penstock.operations.spelling import holds_exactly
from penstock.operations.updates import Remove, Set, Update, apply
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token
from penstock.schema.documents import as_stored
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

_TRIES = 20
"So often a write is made anew; then others are quicker than it will ever be."


class _Sent(NamedTuple):
    """A write as it is sent."""

    write: Write
    rests_on_reading: bool = False
    "Does its condition speak of what was read here, too?"


class DerivedWrites:
    """Carries out writes of which some lie otherwise than they are declared."""

    def __init__(self, engine: Engine, entities: Entities, now: datetime) -> None:
        self._engine, self._entities, self._now = engine, entities, now
        self._mirrors: dict[EntityShape, EntityShape | None] = {}
        "The other places of the shapes that were met."

    def commit(self, writes: Sequence[Write], *, token: str) -> None:
        absent: set[int] = set()
        for tries_left in range(_TRIES, 0, -1):
            sent = [self._settled(write, position) for position, write in enumerate(writes)]
            both_places = MirroredWrites([s.write for s in sent], self._mirrors.get, absent)
            try:
                return self._engine.commit(both_places.writes, now=self._now, token=token)
            except Conflict as refused:
                at = refused.position
                if not both_places.is_mirror(at) or tries_left == 1:
                    self._check_refusal(writes[at], sent[at], refused, tries_left)
            token = commit_token()  # it is another commit now
        raise AssertionError("the last try has told")

    def patch(self, patch: Patch, *, token: str) -> Any:
        """One patch, and the record of the declaration that stands after it."""
        entity = self._entities(patch.shape)
        assert entity is not None
        if entity.derived.mirror is not None:
            self.commit([patch], token=token)
            return entity.record(self._read(entity, patch))
        for tries_left in range(_TRIES, 0, -1):
            sent = self._settled(patch, 0)
            try:
                if isinstance(sent.write, Patch):
                    return entity.record(self._engine.patch(sent.write, now=self._now, token=token))
                self._engine.commit([sent.write], now=self._now, token=token)
                return entity.record(self._read(entity, patch))
            except Conflict as refused:
                self._check_refusal(patch, sent, refused, tries_left)
            token = commit_token()
        raise AssertionError("the last try has told")

    def loadable(self, write: Write) -> Write | None:
        """A write without condition as it is loaded; None once it was committed by itself, as it takes reading."""
        entity = self._entities(write.shape)
        if entity is None:
            return write
        if (isinstance(write, Put) and entity.derived.unknown) or entity.derived.mirror is not None:
            self.commit([write], token=commit_token())
            return None
        return self._settled(write, 0).write

    def _check_refusal(self, write: Write, sent: _Sent, refused: Conflict, tries_left: int) -> None:
        """Raise a refusal, unless nothing but what was read here does not stand any more."""
        entity = self._entities(write.shape)
        if entity is None:
            raise refused
        found = entity.found(refused.found)
        if not sent.rests_on_reading or tries_left == 1 or not _holds(write, found):
            raise conflict(write, found, position=refused.position) from None

    # Settling

    def _settled(self, write: Write, position: int) -> _Sent:
        entity = self._entities(write.shape)
        if entity is None:
            return _Sent(write)
        self._mirrors[entity.shape] = entity.derived.mirror
        match write:
            case Put():
                return self._put(entity, write, position)
            case Patch():
                return self._patch(entity, write, position)
            case Delete(_, key):
                when, rests = self._judged(entity, write, position)
                return _Sent(Delete(entity.shape, key, when), rests)
            case Check(_, key):
                when, rests = self._judged(entity, write, position)
                return _Sent(Check(entity.shape, key, when or write.when), rests)

    def _judged(self, entity: DerivedEntity, write: Write, position: int) -> tuple[Condition | None, bool]:
        """A write's condition on what is stored; one that speaks of what some records do not have yet is judged here,
        and becomes that all stands as it was read: whether it does, too."""
        if write.when is None or not entity.asks_for_unfilled(write.when):
            return entity.condition(write.when), False
        found = self._read(entity, write)
        values = None if found is None else entity.values(found.__dict__)
        if not holds(write.when, values):
            raise conflict(write, values, position=position)
        if found is None:
            return Missing(), True
        names = sorted(entity.made_of(write.when))
        still = (_still(entity.shape.fields[n], found.__dict__[n]) for n in names)
        return All((Present(), *still)), True

    def _put(self, entity: DerivedEntity, put: Put, position: int) -> _Sent:
        entity.check_creation()
        for name in [n for n in put.values if n in entity.checked] if entity.checked else ():
            entity.check_value(name, put.values[name])
        values = entity.stored_values(put.values)
        (when, rests), unknown = self._judged(entity, put, position), entity.derived.unknown
        if not unknown:
            return _Sent(Put(entity.shape, values, when, put.witness), rests)
        if put.witness or put.when == Missing():
            return _Sent(Put(entity.shape, {**values, **unknown}, when, put.witness))
        found = self._read(entity, put)
        if found is None:
            if not holds(put.when, None):
                raise conflict(put, None, position=position)
            return _Sent(Put(entity.shape, {**values, **unknown}, both(Missing(), when)), rests_on_reading=True)
        kept = {n: found.__dict__[n] for n in unknown}
        still = tuple(_still(entity.shape.fields[n], v) for n, v in kept.items())
        parts = (Present(), *still) if when is None else (Present(), when, *still)
        return _Sent(Put(entity.shape, {**values, **kept}, All(parts)), rests_on_reading=True)

    def _patch(self, entity: DerivedEntity, patch: Patch, position: int) -> _Sent:
        for update in patch.updates:
            if update.field in entity.checked or isinstance(update, Remove):
                entity.check_value(update.field, update.value if isinstance(update, Set) else _changed(update))
        updates = tuple(u for u in patch.updates if u.field not in entity.derived.absent)
        when, rests = self._judged(entity, patch, position)
        if not updates:
            return _Sent(Check(entity.shape, patch.key, both(Present(), when) or Present()), rests)
        relied = {n: v for n, v in patch.relied.items() if n in entity.shape.fields}
        derived = Patch(entity.shape, patch.key, updates, when, relied, patch.exact)
        try:
            return _Sent(with_index_keys(entity.stored_patch(derived), None), rests)
        except (StaleComputed, StaleIndex):
            found = self._read(entity, patch)
            if found is None:
                raise conflict(patch, None, position=position) from None
            return _Sent(_as_read(entity, derived, found.__dict__), rests_on_reading=True)

    def _read(self, entity: DerivedEntity, write: Write) -> Any:
        key = {n: write.key[n] for n in entity.shape.key.fields}
        return self._engine.get([Ref(entity.shape, key)], now=self._now)[0]


def _as_read(entity: DerivedEntity, patch: Patch, found: Mapping[str, Any]) -> Patch:
    """A patch whose values are made of what was read, on the condition that it still stands."""
    shape, declared = patch.shape, entity.declared
    before = {n: _plain(declared.fields[n], v) for n, v in entity.values(found).items()}
    after = apply(patch.updates, before)
    updates: list[Update] = []
    when = patch.when
    for update in patch.updates:
        name = update.field
        if entity.is_relative(update) or (name in shape.indexed and not isinstance(update, Set | Remove)):
            value = after[name]
            updates.append(Remove(name) if value is None else Set(name, value))
            when = both(when, _still(shape.fields[name], found[name]))
        else:
            updates.append(update)
    return with_index_keys(entity.stored_patch(replace(patch, updates=tuple(updates), when=when)), found)


def _plain(field: FieldShape, value: Any) -> Any:
    return as_stored(field, value) if value is not None and field.kind is Kind.DOCUMENT else value


def _changed(update: Update) -> Any:
    """What an update that is no assignment leaves at least: something, unless it removes."""
    return None if isinstance(update, Remove) else _SOMETHING


_SOMETHING = object()


def _still(field: FieldShape, value: Any) -> Condition:
    if value is None:
        return Missing(field.name)
    return Compare(field.name, "=", _plain(field, value))


def _holds(write: Write, found: Mapping[str, Any] | None) -> bool:
    condition = required(write)
    if condition is None or found is None:
        return holds(condition, found)
    return holds_exactly(write.shape, condition, found)
