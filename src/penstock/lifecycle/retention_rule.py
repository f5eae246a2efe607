"""Rules of retention: which records have been kept for their time, and how they are found without scanning.

`RetainFor` reads an index that is sorted by its moment, and there only what is due. `KeepLatest` reads a whole index to
know how many records there are of each kind, and once for each whoever says how many stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any, Protocol

from penstock.declare.checks import state_of
from penstock.declare.entity import Entity
from penstock.declare.lifetime import KeepLatest, Leaving, RetainFor
from penstock.errors import DeclarationError
from penstock.kernel.enumeration import enumeration_of, group_of
from penstock.kernel.store import Store
from penstock.operations.reads import Query, Range, Ref, Unreadable
from penstock.schema.kinds import Kind, key_text, trim_instant

_CHUNK = 100


class Rule(Protocol):
    """One lifetime of one entity: which records it speaks of, and how they are found."""

    entity: type[Entity]
    text: str
    by_index: bool
    "Are they found through an index, which may lag behind?"
    files: bool
    "Do their files leave with them?"
    on_leave: Leaving | None

    def find(self, store: Store, now: datetime, unreadable: list[Unreadable]) -> Iterator[Entity]:
        """The records whose time is over, as far as the store's indexes know."""
        ...

    def is_due(self, record: Entity, now: datetime) -> bool: ...

    def may_leave(self, record: Entity) -> bool: ...

    def along(self, record: Entity) -> Iterable[Ref[Any] | Query[Any]]: ...

    def moment(self, record: Entity) -> str | None:
        """How old the record is."""
        ...


def rules_of(entity: type[Entity]) -> Iterator[Rule]:
    """The retention rules of an entity; DeclarationError for one whose records could not be found."""
    for lifetime in entity.__lifetimes__:
        if isinstance(lifetime, RetainFor):
            yield _Retained(entity, lifetime)
        elif isinstance(lifetime, KeepLatest):
            yield _Numbered(entity, lifetime)


class _Retained:
    """Records that are kept for a time."""

    def __init__(self, entity: type[Entity], lifetime: RetainFor) -> None:
        shape = entity.__shape__
        self.entity, self._lifetime = entity, lifetime
        self.files, self.on_leave = lifetime.files, lifetime.on_leave
        self._since = shape.fields[lifetime.since]
        self._state = state_of(shape.name, shape.fields, lifetime.when) if lifetime.when else None
        self.text = f"kept {_in_days(lifetime.period)} after {lifetime.since}"
        enumeration = enumeration_of(
            shape, by=lifetime.since, among={self._state: lifetime.when or ()} if self._state else None
        )
        if enumeration is None:
            raise DeclarationError(
                f"{shape.label}: RetainFor finds its records by {lifetime.since}, without scanning; declare an index "
                f"whose partition is made of constants and choices only and whose order begins with it, such as "
                f'IndexKey(…, "STATUS#{{status}}", "{{{lifetime.since}}}")'
            )
        self._enumeration = enumeration
        self.by_index = enumeration.pattern.index is not None

    def find(self, store: Store, now: datetime, unreadable: list[Unreadable]) -> Iterator[Entity]:
        for query in self._enumeration.queries(Range(high=self._cutoff(now), open_high=True)):
            yield from store.find(query, unreadable=unreadable)

    def _cutoff(self, now: datetime) -> Any:
        """Moments before this one are over; cut to the field's precision, so that none leaves early."""
        end = now - self._lifetime.period
        return end.date() if self._since.kind is Kind.DAY else trim_instant(end, self._since.digits)

    def is_due(self, record: Entity, now: datetime) -> bool:
        since: datetime | date | None = record.__dict__[self._since.name]
        return since is not None and bool(since < self._cutoff(now))

    def may_leave(self, record: Entity) -> bool:
        return self._state is None or record.__dict__[self._state] in (self._lifetime.when or ())

    def along(self, record: Entity) -> Iterable[Ref[Any] | Query[Any]]:
        return self._lifetime.along(record) if self._lifetime.along else ()

    def moment(self, record: Entity) -> str | None:
        return key_text(self._since, record.__dict__[self._since.name])


class _Numbered:
    """Records of which the newest few are kept."""

    def __init__(self, entity: type[Entity], lifetime: KeepLatest) -> None:
        shape = entity.__shape__
        self.entity, self._lifetime = entity, lifetime
        self.files, self.on_leave = lifetime.files, lifetime.on_leave
        most = lifetime.count if lifetime.said_in is None else f"{lifetime.said_in} (or {lifetime.count})"
        self.text = f"the latest {most} kept of each {', '.join(lifetime.per)}"
        enumeration, group = enumeration_of(shape), group_of(shape, lifetime.per)
        if enumeration is None:
            raise DeclarationError(
                f"{shape.label}: KeepLatest finds its records without scanning; declare an index whose partition is "
                f'made of constants and choices only, such as IndexKey(…, "TYPE#{{type}}", …)'
            )
        if group is None:
            raise DeclarationError(
                f"{shape.label}: KeepLatest needs the records of each {', '.join(lifetime.per)} in order; declare a "
                f"key or an index that begins with these fields, and whose next field is what makes a record newer"
            )
        self._enumeration, self._group = enumeration, group
        self.by_index = group.index is not None
        ranged = shape.fields.get(enumeration.pattern.ranged or "")
        self._moment = ranged if ranged is not None and ranged.kind in (Kind.INSTANT, Kind.DAY) else None

    def find(self, store: Store, now: datetime, unreadable: list[Unreadable]) -> Iterator[Entity]:
        per, queries = self._lifetime.per, self._enumeration.queries()
        found: Iterable[Entity] = (r for query in queries for r in store.find(query, unreadable=unreadable))
        numbers: Counter[tuple[Any, ...]] = Counter()
        sayers: dict[tuple[Any, ...], Ref[Any]] = {}
        for record in found:
            group = tuple(record.__dict__[n] for n in per)
            numbers[group] += 1
            if self._lifetime.said_by is not None and group not in sayers:
                sayers[group] = self._lifetime.said_by(record)
        said: dict[str, int | None] = {}
        for group, number in numbers.items():
            count = self._kept(store, sayers.get(group), said, unreadable)
            if count is not None and number > count:
                query: Query[Any] = Query(self._group, dict(zip(per, group, strict=True)), backwards=True)
                yield from (r for r in islice(self._standing(store, query), count, None) if self.is_due(r, now))

    def _kept(
        self, store: Store, sayer: Ref[Any] | None, said: dict[str, int | None], unreadable: list[Unreadable]
    ) -> int | None:
        """How many of a group stay; None while whoever says it cannot be read: then all of them do."""
        usual, field = self._lifetime.count, self._lifetime.said_in
        if sayer is None or field is None:
            return usual
        name = repr(sayer)
        if name not in said:
            met = len(unreadable)
            (record,) = store.get_many([sayer], unreadable=unreadable)
            number = None if record is None else getattr(record, field)
            said[name] = None if len(unreadable) > met else max(1, number) if number is not None else usual
        return said[name]

    def _standing(self, store: Store, query: Query[Any]) -> Iterator[Entity]:
        """Those that stand: an index that lags behind shows newer ones that were removed, and these do not count."""
        found = store.find(query, unreadable=[])  # of which the enumeration has told
        if not self.by_index or store.engine.features.strong_index_reads:
            yield from found
            return
        while chunk := list(islice(found, _CHUNK)):
            yield from (r for r in store.get_many([r.ref for r in chunk], unreadable=[]) if r is not None)

    def is_due(self, record: Entity, now: datetime) -> bool:
        spared = self._lifetime.spared_until
        until: datetime | None = None if spared is None else record.__dict__[spared]
        return until is None or until < now

    def may_leave(self, record: Entity) -> bool:
        return True

    def along(self, record: Entity) -> Iterable[Ref[Any] | Query[Any]]:
        return ()

    def moment(self, record: Entity) -> str | None:
        return key_text(self._moment, record.__dict__[self._moment.name]) if self._moment else None


def _in_days(period: timedelta) -> str:
    return f"{period.days} days" if period == timedelta(days=period.days) else str(period)
