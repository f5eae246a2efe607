"""Backfills: records that stand are brought to what everybody writes by now, a page at a time.

A record is written on the condition that all is as it was read of which something is made; whoever has changed one
meanwhile has brought it along by that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from penstock.errors import Conflict, DamagedRecord, PenstockError
from penstock.evolution.batch_size import BatchSize
from penstock.evolution.claim_fill import ClaimFill, Claims
from penstock.evolution.migration_turn import TurnLost
from penstock.kernel.layouts.derived_entity import DerivedEntity
from penstock.operations.conditions import All, Compare, Condition, Missing, Present, both
from penstock.operations.reads import Ref, Unreadable
from penstock.operations.scan_page import ScannedRecord
from penstock.operations.updates import Remove, Set, Update, apply
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.ports.clock import Clock
from penstock.ports.copying import CopyingEngine
from penstock.ports.engine import Engine
from penstock.ports.ids import commit_token
from penstock.schema.computation import Computation
from penstock.schema.documents import as_stored
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape

_COPIED = 1000
"So many records a store copies at once, at most: what is noted in between takes no time beside them."


class FilledPage(Struct, frozen=True):
    """What came of one page."""

    place: str | None
    looked_at: int
    written: int
    unreadable: tuple[Unreadable, ...] = ()
    "Those that cannot be read, or of which nothing can be made."


class Backfill:
    """Brings records of one entity along.

    ``entity`` is as every writer has it meanwhile; each write is made within ``writing``.
    """

    def __init__(
        self,
        engine: Engine,
        entity: DerivedEntity,
        clock: Clock,
        *,
        writing: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._engine, self._entity, self._clock, self._writing = engine, entity, clock, writing
        self._copies = _copies(engine, entity)
        self._claims = ClaimFill(engine, entity, clock) if entity.derived.claiming else None
        self._copied = BatchSize(_COPIED)
        self._spared: dict[str, Any] | None = None
        "The key of the record by which a walk that removes goes on."

    def fill(self, segment: int, segments: int, after: str | None, *, limit: int) -> FilledPage:
        """One page of a segment; all of its records are as they should be then."""
        if self._copies is not None:
            return self._copy(self._copies, segment, after, limit)
        shape = self._entity.shape
        page = self._engine.scan(shape, segment=segment, segments=segments, after=after, limit=limit)
        written = 0
        unreadable = list(page.unreadable)
        records = [found.record for found in page.found]
        mirrors, claims = self._mirrors(records), self._known_claims(records)
        for found, mirror in zip(page.found, mirrors, strict=True):
            try:
                written += self._brought(found, mirror, claims)
            except TurnLost:
                raise
            except PenstockError as error:
                ref: Ref[Any] = Ref(shape, {n: found.record.__dict__[n] for n in shape.key.fields})
                unreadable.append(Unreadable(shape, repr(ref), f"{ref!r}: {error}", ref.key))
        return FilledPage(page.place, len(page.found), written, tuple(unreadable))

    def remove(self, segment: int, segments: int, after: str | None, *, limit: int) -> FilledPage:
        """One page of a segment, of which nothing is left then that can be read but its last record.

        That one goes when the next page is read: there are servers that lose their place together with its item, and
        each page would begin the walk anew.
        """
        shape = self._entity.shape
        page = self._engine.scan(shape, segment=segment, segments=segments, after=after, limit=limit)
        keys = [{n: found.record.__dict__[n] for n in shape.key.fields} for found in page.found]
        if after is not None and self._spared is not None:
            keys.insert(0, self._spared)
        self._spared = keys.pop() if page.place is not None and keys else None
        for key in keys:
            self._write([Delete(shape, key)])
        return FilledPage(page.place, len(keys), len(keys))

    def _brought(self, found: ScannedRecord, mirror: Any, claims: Claims) -> bool:
        """Has something been written for a record? Whoever changes one has brought it along, but not to its mirror, and
        has claimed nothing."""
        if self._entity.derived.mirror is None and self._claims is None:
            patch = renewing(self._entity, found)
            return patch is not None and self._write([patch])
        for _ in range(_TRIES):
            writes = self._writes(found, mirror, claims)
            if not writes or self._write(writes):
                return bool(writes)
            (record,) = self._standing(self._entity.shape, [found.record])
            if record is None:
                return False
            found, (mirror,) = ScannedRecord(record, found.stale), self._mirrors([record])
            claims = self._known_claims([record])
        return True  # it may be behind, and is looked at once more

    def _writes(self, found: ScannedRecord, mirror: Any, claims: Claims) -> list[Write]:
        """All that a record lacks, at its other place and among the claims too."""
        patch = renewing(self._entity, found)
        writes: list[Write] = [] if patch is None else [patch]
        if self._entity.derived.mirror is not None:
            writes = mirroring(self._entity, found, patch, mirror)
        claimed = [] if self._claims is None else self._claims.writes(found.record, claims)
        if not claimed or self._claims is None:
            return writes
        shape, values = self._entity.shape, found.record.__dict__
        still = All((Present(), *(_still(shape, name, values[name]) for name in sorted(self._claims.fields))))
        if not writes:
            return [Check(shape, {n: values[n] for n in shape.key.fields}, still), *claimed]
        first = writes[0]
        return [replace(first, when=both(first.when, still)), *writes[1:], *claimed]

    def _known_claims(self, records: list[Any]) -> Claims:
        return {} if self._claims is None else self._claims.known(records)

    def _mirrors(self, records: list[Any]) -> list[Any]:
        """What stands at the other place of each record; None where there is nothing, or nothing that can be read."""
        mirror = self._entity.derived.mirror
        return [None] * len(records) if mirror is None else self._standing(mirror, records)

    def _standing(self, shape: EntityShape, records: list[Any]) -> list[Any]:
        refs: list[Ref[Any]] = [Ref(shape, {n: r.__dict__[n] for n in shape.key.fields}) for r in records]
        if not refs:
            return []
        try:
            return self._engine.get(refs, now=_ALWAYS_LIVE)
        except DamagedRecord as error:
            if error.records is None:
                raise
            return error.records

    def _copy(self, pairs: Mapping[str, str], segment: int, after: str | None, limit: int) -> FilledPage:
        """The store itself copies; more at once, as what is noted between pages would take longer than they."""
        if segment:  # one walk is all there is
            return FilledPage(None, 0, 0)
        engine, most = cast("CopyingEngine", self._engine), min(10 * limit, self._copied.number)
        with self._writing():
            begun = self._clock.monotonic()
            page = engine.copy_fields(self._entity.shape, pairs, after=after, limit=most)
            self._copied.took(self._clock.monotonic() - begun)
        return FilledPage(page.place, page.looked_at, page.written)

    def _write(self, writes: list[Write]) -> bool:
        """False where nothing is to be written, or somebody else has just done so, or has removed the record."""
        if not writes:
            return False
        with self._writing():
            try:
                self._engine.commit(writes, now=self._clock.now(), token=commit_token())
            except Conflict:
                return False
        return True


_TRIES = 10
"So often a record is looked at anew that others keep changing."
_ALWAYS_LIVE = datetime.min.replace(tzinfo=UTC)
"When nothing has ended yet: records that have are looked at as well."


def mirroring(entity: DerivedEntity, found: ScannedRecord, patch: Patch | None, stands: Any) -> list[Write]:
    """The writes that make a record the same at both places, if it still is as it was read."""
    shape, mirror, values = entity.shape, entity.derived.mirror, found.record.__dict__
    assert mirror is not None
    before = {n: _plain(shape.fields[n], v) for n, v in values.items()}
    after = before if patch is None else apply(patch.updates, before)
    if patch is None and stands is not None:
        there = {n: _plain(shape.fields[n], v) for n, v in stands.__dict__.items()}
        if there == after:
            return []
    key = {n: values[n] for n in shape.key.fields}
    still = All((Present(), *(_still(shape, n, v) for n, v in sorted(values.items()) if n not in key)))
    own = Check(shape, key, still) if patch is None else replace(patch, when=still)
    return [own, Put(mirror, after)]


def _copies(engine: Engine, entity: DerivedEntity) -> Mapping[str, str] | None:
    """From which field to which the store can copy all that is to be brought along; None where it takes more."""
    twins = {name: twin for name, twin in entity.derived.twins.items() if twin.follow is not None}
    others = entity.derived.beginning or entity.choices or entity.derived.claiming
    can = isinstance(engine, CopyingEngine) and not engine.features.key_texts and not others
    if not can or not twins or entity.derived.mirror is not None or not all(twin.is_copy for twin in twins.values()):
        return None
    return {name: twin.name for name, twin in twins.items()}


def renewing(entity: DerivedEntity, found: ScannedRecord) -> Patch | None:
    """The write that brings a record along, if it still is as it was read; None where nothing is to be done."""
    shape, values = entity.shape, found.record.__dict__
    updates, made_of = _missing(entity, values)
    if not updates and not found.stale:
        return None
    made_of |= {n for name in found.stale for n in shape.indexes[name].watched}
    changed = {update.field for update in updates}
    for index in shape.indexes.values():
        if index.watched & (made_of if found.stale else changed):  # it is made anew with the others
            made_of |= index.watched
    key = {n: values[n] for n in shape.key.fields}
    still = [_still(shape, n, values[n]) for n in sorted(made_of - key.keys())]
    when = All(tuple(still)) if still else None
    return Patch(shape, key, tuple(updates), when, dict(values), renewed=found.stale)


def _missing(entity: DerivedEntity, values: dict[str, Any]) -> tuple[list[Update], set[str]]:
    """What the record has not, or not as it should be, and the fields that it is made of."""
    updates: list[Update] = []
    made_of: set[str] = set()
    for name, twin in entity.derived.twins.items():
        if twin.follow is None:
            continue
        given, field = _plain(entity.shape.fields[name], values[name]), entity.shape.fields[twin.name]
        value = None if given is None else twin.follow(given)
        if value != _plain(field, values[twin.name]):
            updates.append(Remove(twin.name) if value is None else Set(twin.name, value))
            made_of.add(name)
    for name, choice in entity.choices.items():
        if values[name] in choice.lost:
            updates.append(Set(name, choice.dump(choice.load(values[name]))))
            made_of.add(name)
    of_choices = _computed_of(entity, made_of & entity.choices.keys())
    for name, rule in {**entity.derived.beginning, **of_choices}.items():
        is_computed = name in entity.derived.computing or name in of_choices
        if values[name] is None or is_computed:
            value = _plain(entity.declared.fields[name], entity.values(values)[name])
            if value != _plain(entity.shape.fields[name], values[name]):
                updates.append(Remove(name) if value is None else Set(name, value))
                made_of |= {name, *rule.of}
    return updates, made_of


def _computed_of(entity: DerivedEntity, changed: Collection[str]) -> dict[str, Computation]:
    """The computed fields that are made of some others."""
    rules = {f.name: f.computation for f in entity.declared.computed if f.name in entity.shape.fields}
    return {name: rule for name, rule in rules.items() if rule is not None and not set(rule.of).isdisjoint(changed)}


def _still(shape: EntityShape, name: str, value: Any) -> Condition:
    return Missing(name) if value is None else Compare(name, "=", _plain(shape.fields[name], value))


def _plain(field: FieldShape, value: Any) -> Any:
    return as_stored(field, value) if value is not None and field.kind is Kind.DOCUMENT else value
