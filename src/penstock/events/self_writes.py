"""Self-writes: what a feed's handler writes to the record of its event is an event too, and it need not hear of it.

The mark by which the feed knows such an event again is committed with the write itself, so there is one for each write
that was made and none for any other. It tells which fields change, from what to what. That is known beforehand because
the write is made on the condition that they still are as they were read; if another was quicker, it is made anew. Two
writes that change the same have one mark, which counts them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from enum import Enum
from typing import Any

from msgspec.structs import replace

from penstock.declare.entity import Entity
from penstock.errors import Conflict
from penstock.kernel.handle import StoreHandle, patch, put
from penstock.kernel.idempotency import Once
from penstock.kernel.unchanged import stored_values, unchanged
from penstock.kernel.version import replaced
from penstock.operations.conditions import Condition, Missing, both, holds
from penstock.operations.reads import Ref
from penstock.operations.spelling import holds_exactly
from penstock.operations.updates import Set, apply
from penstock.operations.writes import Delete, Patch, Put, Write
from penstock.schema.kinds import FieldShape, Kind, instant_text
from penstock.schema.shape import EntityShape

_TRIES = 5
"So often others may be quicker; then the write is made without a mark, and the handler hears of it."
_EXPECTED = "expected"
"In what a mark holds: how many writes of its kind are still to come, if that is more than one."
_EXACT = Context(prec=300)


class SelfWrites:
    """Marks what is written to one record, so that the feed knows the event of it again."""

    def __init__(self, about: Ref[Any], mark: Callable[[str], Once]) -> None:
        self._about, self._mark = about, mark
        self._as_read: Condition | None = None
        self._noted: Write | None = None
        self._tries = _TRIES

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        """The writes, with a mark of what they change in the record; as they are when they change nothing there."""
        self._as_read = self._noted = None
        for place, write in enumerate(writes):
            if isinstance(write, Put | Patch) and self._meets(write) and self._tries:
                return self._marked(store, writes, place, write)
        return writes

    def _marked(self, store: StoreHandle, writes: list[Write], place: int, write: Put | Patch) -> list[Write]:
        standing = store.lookup(self._about)
        if standing is None or not (write.when is None or holds_exactly(write.shape, write.when, standing.__dict__)):
            return writes  # which will be an insert, or refused
        shape, before = write.shape, stored_values(write.shape, standing.__dict__)
        after = (
            {**before, **replaced(shape, write.values, before)}
            if isinstance(write, Put)
            else apply(write.updates, before)
        )
        written = shape.fields if isinstance(write, Put) else [update.field for update in write.updates]
        self._as_read = unchanged(standing, written)
        met = replace(write, when=both(write.when, self._as_read))
        marked = [*writes[:place], met, *writes[place + 1 :]]
        if (difference := _difference(shape, before, after)) is not None:
            mark = self._mark(difference)
            self._noted = _expected_once_more(mark, store.lookup(mark.ref))
            marked.append(self._noted)
        return marked

    def was_refused(self, write: Write, refused: Conflict) -> bool:
        """May the refusal be due to what was added here? Then the change is to be tried again."""
        if write is self._noted:
            self._tries -= 1
            return True
        if self._as_read is None or not self._meets(write):
            self._tries = _TRIES
            return False
        # If all is as it was read, somebody else's condition refused: without ours, that is told for sure.
        found = None if refused.found is None else stored_values(write.shape, refused.found)
        self._tries = 0 if holds(self._as_read, found) else self._tries - 1
        return True

    def _meets(self, write: Write) -> bool:
        return write.shape is self._about.shape and all(write.key[n] == v for n, v in self._about.key.items())


def _expected_once_more(mark: Once, found: Once | None) -> Write:
    """The write of a mark, or that another such write is expected beside those that are already."""
    if found is None:
        return put(mark, when=Missing())
    more = Set("result", {_EXPECTED: _expected(found) + 1})
    return patch(mark.ref, more, Set("ttl", mark.ttl), when=unchanged(found, ("result",)))


def expected_once_less(found: Once) -> Write:
    """The write by which one of those that a mark expects has come; the last of them leaves no mark."""
    stands = unchanged(found, ("result",))
    if _expected(found) == 1:
        return Delete(found.ref.shape, found.ref.key, stands)
    return patch(found.ref, Set("result", {_EXPECTED: _expected(found) - 1}), when=stands)


def _expected(mark: Once) -> int:
    """How many are to come; a mark that says nothing expects one."""
    return int((mark.result or {}).get(_EXPECTED, 1))


def difference(old: Entity, new: Entity) -> str | None:
    """What tells an update from others of the same record: its fields that changed, from what to what."""
    shape = new.__shape__
    return _difference(shape, stored_values(shape, old.__dict__), stored_values(shape, new.__dict__))


def _difference(shape: EntityShape, before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    changed = {}
    for name, field in shape.fields.items():
        old, new = _text(field, before[name]), _text(field, after[name])
        if old != new:
            changed[name] = old, new
    return hashlib.sha256(json.dumps(changed, sort_keys=True).encode()).hexdigest() if changed else None


def _text(field: FieldShape, value: Any) -> str | None:
    """A value's text, the same before it is stored and when it is told."""
    if value is None:
        return None
    if field.kind in (Kind.DOCUMENT, Kind.TEXTS):
        return json.dumps(sorted(value) if field.kind is Kind.TEXTS else value, sort_keys=True)
    if field.kind is Kind.INSTANT:
        return instant_text(value, field.digits)
    if field.kind in (Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL):
        return str(_EXACT.normalize(Decimal(value)))
    return str(value.value if isinstance(value, Enum) else value)
