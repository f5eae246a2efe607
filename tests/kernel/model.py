"""A plain-Python engine: dicts, conditions as `holds` means them, updates as `apply` means them, indexes by sorting.

Nothing here is fast or kept. It is the judge of the real engines, so it says everything in the simplest way.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any

from penstock.operations.commit_recovery import conflict, required
from penstock.operations.conditions import Any_, Condition, Missing, Present, comparable, holds
from penstock.operations.feed_entry import FeedSlice, LogSize
from penstock.operations.item_collection import ItemCollection, Places
from penstock.operations.plan import PlanStep
from penstock.operations.reads import Page, Query, Range, RawPlace, Ref
from penstock.operations.scan_page import ScannedRecord, ScanPage
from penstock.operations.spelling import holds_exactly
from penstock.operations.updates import apply
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.ports.engine import Features, TableSize, Waiter
from penstock.schema.documents import canonical
from penstock.schema.kinds import FieldShape, Kind, key_text
from penstock.schema.shape import EntityShape, ViewShape

Values = dict[str, Any]
Identity = tuple[Any, ...]


class ModelEngine:
    """All records in one dict."""

    features = Features()

    def __init__(self) -> None:
        self.rows: dict[Identity, tuple[EntityShape, Values]] = {}
        self._one_at_a_time = Lock()

    def ensure(
        self, shapes: Sequence[EntityShape], *, views: Sequence[ViewShape] = (), dry_run: bool = False
    ) -> list[PlanStep]:
        return []

    def get(self, refs: Sequence[Ref[Any]], *, now: datetime) -> list[Any | None]:
        return [self._record(ref.shape, self._standing(ref.shape, ref.key, now)) for ref in refs]

    def find(
        self,
        query: Query[Any] | ItemCollection[Any],
        *,
        limit: int | None,
        after: Any,
        now: datetime,
        examine: int | None = None,
    ) -> Page[Any]:
        if isinstance(query, ItemCollection):
            return self._collect(query, limit, after, now)
        if isinstance(after, RawPlace):
            after = after.values[0]
        examined = self._answer(query, after, now)[:examine]
        follow = len(self._answer(query, after, now)) > len(examined)
        found = [v for v in examined if holds(query.filter, v)]
        most = len(found) if limit is None else limit
        more = len(found) > most
        records = [self._record(query.pattern.entity, v) for v in found[:most]]
        if follow and not more:
            return self._page(query, records, True, RawPlace((examined[-1],)), len(examined))
        return self._page(query, records, more, dict(found[most - 1]) if more else None, examine and len(examined))

    def _answer(self, query: Query[Any], after: Mapping[str, Any] | None, now: datetime) -> list[Values]:
        """The values of all records that a pattern finds, before any filter."""
        shape = query.pattern.entity
        found = [v for s, v in self.rows.values() if s is shape and is_live(s, v, now) and matches(query, v)]
        found.sort(key=lambda v: place(query, v), reverse=query.backwards)
        if after is None:
            return found
        here = place(query, after)
        return [v for v in found if (place(query, v) < here if query.backwards else place(query, v) > here)]

    def _page(self, query: Query[Any], records: list[Any], more: bool, end: Any, examined: int | None) -> Page[Any]:
        if query.fields is not None:
            records = [tuple(r.__dict__[n] for n in query.fields) for r in records]
        return Page(records, more, (), end, examined)

    def _collect(self, asked: ItemCollection[Any], limit: int | None, after: Any, now: datetime) -> Page[Any]:
        """All kinds in one list, by the text of the sort key."""
        found = [
            (asked.order(number, v), number, v)
            for number, member in enumerate(asked.members)
            for v in self._answer(member, None, now)
            if holds(member.filter, v)
        ]
        found.sort(key=lambda f: f[0], reverse=asked.backwards)
        places = [None] * len(asked.members) if after is None else list(after.members)
        if after is not None:
            last = asked.order(after.last, after.members[after.last])
            found = [f for f in found if asked.is_before(last, f[0])]
        most = len(found) if limit is None else limit
        for _, number, values in found[:most]:
            places[number] = values
        records = [self._record(asked.members[number].pattern.entity, v) for _, number, v in found[:most]]
        end = Places(tuple(places), found[most - 1][1]) if len(found) > most else None
        return Page(records, len(found) > most, (), end)

    def scan(
        self, shape: EntityShape, *, segment: int = 0, segments: int = 1, after: str | None = None, limit: int = 1000
    ) -> ScanPage:
        found = [ScannedRecord(self._record(s, v)) for s, v in self.rows.values() if s is shape and not segment]
        begin = int(after or 0)
        end = begin + limit
        return ScanPage(found[begin:end], str(end) if end < len(found) else None)

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        with self._one_at_a_time:
            for position, write in enumerate(writes):
                self._judge(write, position, now)
            for write in writes:
                self._carry_out(write)

    def load(self, writes: Iterable[Write], *, now: datetime) -> None:
        for write in writes:
            self._carry_out(write)

    def patch(self, patch: Patch, *, now: datetime, token: str) -> Any:
        self.commit([patch], now=now, token=token)
        # As it stands after the patch, even where the patch has ended it.
        return self._record(*self.rows[_identity(patch.shape, patch.key)])

    def expire(self, shapes: Sequence[EntityShape], *, now: datetime, limit: int = 1000) -> int:
        ended = [i for i, (s, v) in self.rows.items() if s in shapes and not is_live(s, v, now)][:limit]
        for identity in ended:
            del self.rows[identity]
        return len(ended)

    def changes(self, shapes: Sequence[EntityShape], *, after: str | None = None, limit: int = 100) -> FeedSlice:
        raise NotImplementedError("the model has no feed")

    def feed_end(self, shapes: Sequence[EntityShape], *, after: str | None = None) -> str | None:
        raise NotImplementedError("the model has no feed")

    def trim(self, shapes: Sequence[EntityShape], *, before: str, limit: int = 10_000) -> int:
        return 0

    def log_size(self, shapes: Sequence[EntityShape]) -> LogSize:
        return LogSize(0)

    def sizes(self, shapes: Sequence[EntityShape]) -> list[TableSize]:
        return [TableSize(s.label, (s.label,), sum(o is s for o, _ in self.rows.values())) for s in shapes]

    def bound(self, project: str) -> ModelEngine:
        return self

    def listen(self) -> Waiter:
        raise NotImplementedError("nobody waits for the model")

    def close(self) -> None:
        pass

    def _judge(self, write: Write, position: int, now: datetime) -> None:
        found = self._standing(write.shape, write.key, now)
        condition = required(write) or Any_((Present(), Missing()))
        if not (holds(condition, None) if found is None else _holds(write.shape, condition, found)):
            record = self._record(write.shape, found)
            raise conflict(write, None if record is None else record.__dict__, position=position)

    def _carry_out(self, write: Write) -> None:
        identity = _identity(write.shape, write.key)
        match write:
            case Put(shape, values):
                self.rows[identity] = (shape, {**dict.fromkeys(shape.fields), **values})
            case Patch(shape, _, updates):
                self.rows[identity] = (shape, apply(updates, self.rows[identity][1]))
            case Delete():
                self.rows.pop(identity, None)
            case Check():
                pass

    def _standing(self, shape: EntityShape, key: Mapping[str, Any], now: datetime) -> Values | None:
        _, values = self.rows.get(_identity(shape, key), (shape, None))
        return values if values is not None and is_live(shape, values, now) else None

    def _record(self, shape: EntityShape, values: Values | None) -> Any | None:
        if values is None:
            return None
        return shape.build(_loaded(shape, values))


def _loaded(shape: EntityShape, values: Values) -> Values:
    """What a record is made of; a missing field is its default. Of documents a copy, which whoever reads may change."""
    return {name: _value(field, copy.deepcopy(values[name])) for name, field in shape.fields.items()}


def _value(field: FieldShape, stored: Any) -> Any:
    if stored is None:
        return copy.deepcopy(field.counted_as)
    if field.kind is Kind.DECIMAL:
        return canonical(stored)
    return stored if field.load is None else field.load(stored)


def _holds(shape: EntityShape, condition: Condition, values: Values) -> bool:
    return holds_exactly(shape, condition, _loaded(shape, values))


def is_live(shape: EntityShape, values: Values, now: datetime) -> bool:
    end = values[shape.expiry] if shape.expiry else None
    return end is None or end > int(now.timestamp())


def matches(query: Query[Any], values: Values) -> bool:
    """Do the fields of a record say that it belongs to the answer?"""
    pattern = query.pattern
    if pattern.index is not None and not pattern.index.holds(values):
        return False
    if any(values[n] != v for n, v in query.values.items()):
        return False
    return pattern.ranged is None or pattern.ranged in query.values or _within(query.range, values[pattern.ranged])


def _within(bounds: Range[Any], value: Any) -> bool:
    if bounds.prefix is not None and not value.startswith(bounds.prefix):
        return False
    found, low, high = (None if x is None else comparable(x) for x in (value, bounds.low, bounds.high))
    if low is not None and (found < low or (bounds.open_low and found == low)):
        return False
    return not (high is not None and (found > high or (bounds.open_high and found == high)))


def place(query: Query[Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Where a record stands in the order: by the fields of the sort key, then by those of its own key."""
    shape = query.pattern.entity
    return order_of(query, values) + tuple(_ordered(shape, n, values[n]) for n in shape.key.fields)


def order_of(query: Query[Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the pattern promises to sort by; records that are equal here may come in any order."""
    shape = query.pattern.entity
    return tuple(_ordered(shape, n, values[n]) for n in query.pattern.key.sort_fields)


def _ordered(shape: EntityShape, name: str, value: Any) -> Any:
    field = shape.fields[name]
    return value if field.kind is Kind.INTEGER else key_text(field, value).encode()


def _identity(shape: EntityShape, key: Mapping[str, Any]) -> Identity:
    return (shape, *(key[n] for n in shape.key.fields))
