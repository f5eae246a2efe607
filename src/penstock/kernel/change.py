"""A change: what becomes true together, commits together.

State, index keys, counters, the audit line and the messages for others are one commit. Nothing is written if any
condition fails, and the error says which.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from msgspec import Struct

from penstock.declare.entity import Entity
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.audit import EVERYWHERE, AuditLine, SystemAudit, entry
from penstock.kernel.idempotency import Claim
from penstock.kernel.last_modified import touch, touching
from penstock.kernel.lease import Lease, lost_lease
from penstock.kernel.outbox import SystemMessage, announcement
from penstock.kernel.quota_movements import Movements
from penstock.kernel.seals import register
from penstock.operations.conditions import Compare, Condition, Missing, Present, both
from penstock.operations.index_keys import settle
from penstock.operations.reads import Ref, named
from penstock.operations.updates import Remove, Set, Update
from penstock.operations.validation import prepare, prepare_updates
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.schema.kinds import key_text
from penstock.schema.shape import EntityShape

if TYPE_CHECKING:
    from penstock.kernel.batch import Batch
    from penstock.kernel.store import Store

E = TypeVar("E", bound=Entity)

_COLLISIONS = 20
"How often an audit line may meet another of the same actor in the same microsecond."
_TRAILS = 10_000
"So many trails a process remembers to have registered."


class Change:
    """Collects reads and writes; leaving the ``with`` block commits them all, an exception none.

    Reads see committed state only. A record that was read here is saved on the condition that its states still stand
    as they were read. With ``by`` the change leaves an audit line; ``under`` a lease it writes nothing once the lease
    is lost; with a turn of ``once`` it ends that turn, keeping ``result``.
    """

    def __init__(
        self,
        store: Store,
        *,
        by: str | None = None,
        why: str | None = None,
        project: str | None = None,
        under: Lease | None = None,
        once: Claim | None = None,
        batch: Batch | None = None,
    ) -> None:
        self.store, self._batch = store, batch
        self._by, self._why = by, why
        self._given = self._project = project
        "The project that was named, and the one it belongs to: that one, else the first that is met."
        self._under, self._once = under, once
        self.result: dict[str, Any] | None = None
        self._writes: list[Write] = []
        self._messages: list[Put] = []
        self._quotas: Movements | None = None
        self._known: dict[int, _Known] = {}
        "What was met here, by the record's identity."
        self._told: list[dict[str, Any]] = []
        self._audit: type[AuditLine] = SystemAudit

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        if self._batch is not None:
            self._batch.add(self)
        else:
            self.commit()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Something that may fail by itself: if it raises, what it had added to the change is taken out again."""
        writes, messages, told = len(self._writes), len(self._messages), len(self._told)
        moves = 0 if self._quotas is None else len(self._quotas.moves)
        belongs = self._project, self._audit
        try:
            yield
        except BaseException:
            del self._writes[writes:], self._messages[messages:], self._told[told:]
            if self._quotas is not None:
                del self._quotas.moves[moves:]
            self._project, self._audit = belongs
            raise

    # Reading

    def get(self, ref: Ref[E]) -> E:
        """The record as committed, or NotFound; it may be changed and saved."""
        return self.track(self.store.get(ref))

    def track(self, record: E) -> E:
        """A record that was read elsewhere, by a query for example, as if it had been read here."""
        known = self._known[id(record)] = _known(record)
        known.before = values = dict(record.__dict__)
        for field in record.__shape__.documents:  # which can be changed in place
            values[field.name] = copy.deepcopy(values[field.name])
        return record

    # Writing

    def create(self, record: E) -> E:
        """Write a record where none stands."""
        self._put(record, Missing(), "create")
        return record

    def claim(self, record: E, *, owner: str) -> E:
        """Write a record where none stands, or where one stands with the same value of the field ``owner``."""
        mine = Compare(owner, "=", getattr(record, owner))
        self._put(record, Missing() | mine, "claim")
        return record

    def put(self, record: E, *, when: Condition | None = None) -> E:
        """Write a whole record, replacing what stands there."""
        self._put(record, when, "put")
        return record

    def save(self, record: E, *, when: Condition | None = None) -> E:
        """Write what has changed in a record read here, unless its states have moved meanwhile."""
        known = self._known.get(id(record))
        if known is None or known.before is None:
            raise InvalidValue(f"{record.ref!r} was not read in this change; read it with change.get, or create it")
        before, shape, key = known.before, record.__shape__, known.ref.key
        changed = _difference(record.__dict__, before)
        condition = both(_states_stand(shape, tuple([before[f.name] for f in shape.states])), when)
        if not changed:
            self._writes.append(Check(shape, key, both(Present(), condition) or Present()))
            return record
        if shape.touched is not None:
            touch(record, before, changed, self.store.clock.now())
        self._writes.append(settle(Patch(shape, key, prepare_updates(shape, changed), condition), before))
        self._tell("save", known, before)
        return record

    def patch(self, ref: Ref[E], *updates: Update, when: Condition | None = None) -> None:
        """Change some fields of a record without reading it."""
        updates = touching(ref.shape, updates, self.store.clock.now())
        self._writes.append(settle(Patch(ref.shape, ref.key, prepare_updates(ref.shape, updates), when), None))
        if self._by is not None:
            fields = sorted(u.field for u in updates)
            self._told.append({"does": "patch", "record": repr(ref), "fields": fields})

    def delete(self, ref: Ref[Any], *, when: Condition | None = None) -> None:
        """Remove a record."""
        self._writes.append(Delete(ref.shape, ref.key, when))
        if self._by is not None:
            self._told.append({"does": "delete", "record": repr(ref)})

    def check(self, ref: Ref[Any], when: Condition) -> None:
        """Refuse the whole change unless the condition holds of a record that is not written."""
        self._writes.append(Check(ref.shape, ref.key, when))

    def emit(self, type: str, record: Entity, *, about: Ref[Any] | None = None, **payload: Any) -> str:
        """Announce what becomes true with this change; the message's id.

        Messages about the same record are told in order; ``about`` names another record to order them by.
        """
        known = self._meet(record)
        if quoted := [f.name for f in record.__shape__.personal if f.name in payload]:
            raise InvalidValue(
                f"{type}: {', '.join(quoted)} of {record.__shape__.label} is personal, and whoever gets messages would "
                f"read it; tell the key, by which those who may can get the record"
            )
        message = announcement(
            _own(record, "outbox", SystemMessage),
            type=type,
            aggregate=repr(about) if about is not None else known.text,
            project_id=self._given or _project_of(record) or self._project,
            payload={**known.key, **payload},
            ts=self.store.ticks.next(),
        )
        self._messages.append(message)
        return message.values["event_id"]  # type: ignore[no-any-return]

    @property
    def quotas(self) -> Movements:
        """What is taken of quotas with this change, and given back."""
        if self._quotas is None:
            self._quotas = Movements(self.store)
        return self._quotas

    # Committing

    def _put(self, record: Entity, when: Condition | None, does: str) -> None:
        self._writes.append(Put(record.__shape__, prepare(record.__shape__, record.__dict__), when))
        self._tell(does, self._meet(record), {})

    def _meet(self, record: Entity) -> _Known:
        """What is known of a record; one that was put may have been changed since, but never its key."""
        known = self._known.get(id(record))
        if known is None:
            known = self._known[id(record)] = _known(record)
        return known

    def _tell(self, does: str, known: _Known, before: Mapping[str, Any]) -> None:
        """Note for the audit line what is done to which record, and which states it had and has."""
        if self._by is None:
            return
        record = known.record
        told: dict[str, Any] = {"does": does, "record": known.text}
        if moved := _moved(record, before):
            told["states"] = moved
        self._told.append(told)
        self._audit = _own(record, "audit", self._audit)
        self._project = self._project or _project_of(record)

    def writes(self) -> list[Write]:
        """All that is to be committed, the audit line last."""
        counted = self._quotas.writes() if self._quotas is not None and self._quotas.moves else []
        if not self._writes and not counted and not self._messages and self._once is None:
            return []
        writes = [*self._writes, *counted]
        if self._under is not None:
            writes = self._fenced(writes, self._under)
        if self._once is not None:
            if self._once.echo is not None:
                writes = self._once.echo.expect(self.store, writes)
            writes.append(self._once.done(self.result))
        writes += self._messages
        if self._by is not None:
            writes.append(self._line())
        return writes

    def commit(self) -> None:
        """Make it true; leaving the ``with`` block does so."""
        for _ in range(_COLLISIONS):
            writes = self.writes()
            if not writes:
                return
            self.enlist()
            try:
                self.store.commit(writes)
                return self.committed()
            except Conflict as refused:
                if self._under is not None and self._is_fence(writes[refused.position], refused):
                    raise lost_lease(self._under, refused) from None
                if self._was_overtaken(writes[refused.position], refused):
                    continue
                if self._quotas is not None and self._quotas.may_try_again(writes[refused.position], refused):
                    continue
                if self._by is None or refused.position != len(writes) - 1:
                    raise
        raise InvalidValue(f"{_COLLISIONS} audit lines of {self._by} met in one microsecond; spread the changes out")

    def committed(self) -> None:
        """It has become true, and with it the work that was claimed is done."""
        if self._once is not None:
            self._once.ended = True

    def enlist(self) -> None:
        """See to it that whoever verifies all trails knows of this one, before it has its first line."""
        if self._by is None:
            return
        known, trail = self.store.trails, (self._audit, self._project or EVERYWHERE)
        if trail not in known:
            register(self.store, trail[1], trail=trail[0])
            if len(known) >= _TRAILS:
                known.clear()  # asking for some again is cheaper than remembering all
            known.add(trail)

    def _fenced(self, writes: list[Write], lease: Lease) -> list[Write]:
        """The writes, on the condition that the lease is still held."""
        held = lease.holds()
        out: list[Write] = []
        met = False
        for write in writes:
            if write.shape is lease.ref.shape and all(write.key[n] == v for n, v in lease.ref.key.items()):
                out.append(_with_condition(write, held))
                met = True
            else:
                out.append(write)
        return out if met else [*out, Check(lease.ref.shape, lease.ref.key, held)]

    def _is_fence(self, write: Write, refused: Conflict) -> bool:
        """Was it the lost lease that refused, or something else about the same record?"""
        lease = self._under
        if lease is None or write.shape is not lease.ref.shape:
            return False
        if any(write.key[n] != v for n, v in lease.ref.key.items()):
            return False
        found = refused.found or {}
        return (found.get("lease_owner"), found.get("lease_epoch")) != (lease.owner, lease.epoch)

    def _was_overtaken(self, write: Write, refused: Conflict) -> bool:
        """Did another write to the record of a feed's event between what was read of it here and the commit?"""
        echo = None if self._once is None else self._once.echo
        return echo is not None and echo.was_overtaken(write, refused)

    def _line(self) -> Put:
        details: dict[str, Any] = {}
        if self._told:
            details["changes"] = self._told
        types = [m.values["type"] for m in self._messages]
        if types:
            details["messages"] = types
        if self._why:
            details["why"] = self._why
        return entry(
            self._audit,
            project_id=self._project or EVERYWHERE,
            ts=self.store.ticks.next(),
            actor=self._by or "",
            action=types[0] if types else self._deed(),
            details=details,
        )

    def _deed(self) -> str:
        """What a change is called that tells nobody anything: by what was done first."""
        return f"{self._told[0]['does']} {self._told[0]['record'].partition('(')[0]}" if self._told else "change"


class _Known(Struct):
    """A record that was met in a change: where it lives, and its values as they were read, if they were."""

    record: Entity
    "Kept, so that its identity stays its own."
    ref: Ref[Any]
    key: dict[str, str]
    text: str
    before: dict[str, Any] | None = None


def _known(record: Entity) -> _Known:
    values, shape = record.__dict__, record.__shape__
    key, texts = {}, {}
    for field in shape.key_fields:
        name = field.name
        key[name] = value = values[name]
        texts[name] = key_text(field, value)
    return _Known(record, Ref(shape, key), texts, named(shape, texts))


def _with_condition(write: Write, condition: Condition) -> Write:
    match write:
        case Put(shape, values, when, witness):
            return Put(shape, values, both(when, condition), witness)
        case Patch():
            when = both(write.when, condition)
            return Patch(write.shape, write.key, write.updates, when, write.relied, write.exact)
        case Delete(shape, key, when):
            return Delete(shape, key, both(when, condition))
        case Check(shape, key, when):
            return Check(shape, key, both(when, condition) or condition)


def _own(record: Entity, what: str, default: Any) -> Any:
    """The domain's own kind of message or audit line, where its documents describe one."""
    domain = record.__domain__
    return default if domain is None else getattr(domain, what) or default


def _project_of(record: Entity) -> str | None:
    value = record.__dict__.get("project_id")
    return value if value is None or isinstance(value, str) else str(value)


def _difference(values: Mapping[str, Any], before: Mapping[str, Any]) -> list[Update]:
    return [
        Remove(name) if value is None else Set(name, value)
        for name, value in values.items()
        if value is not (former := before[name])  # most are the same, and not asked to compare
        # In a document 0 and False are two things, which Python takes for equal.
        and (value != former or (type(value) in (dict, list) and repr(value) != repr(former)))
    ]


def _moved(record: Entity, before: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The states a record had and has, where they differ."""
    moved = {}
    for field in record.__shape__.states:
        former, present = before.get(field.name), record.__dict__[field.name]
        if present is not former:
            # What .value gives, at a fifth of its price.
            moved[field.name] = [None if former is None else former._value_, present._value_]
    return moved


@lru_cache(maxsize=1024)
def _states_stand(shape: EntityShape, values: tuple[Any, ...]) -> Condition | None:
    """That the states still are as they were read."""
    condition: Condition | None = None
    for field, value in zip(shape.states, values, strict=True):
        as_read: Condition = Compare(field.name, "=", value)
        if value == field.default:
            as_read |= Missing(field.name)  # another writer may have left the state out, which reads as the default
        condition = both(condition, as_read)
    return condition
