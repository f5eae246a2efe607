"""A change: what becomes true together, commits together.

State, index keys, counters, the audit line and the messages for others are one commit. Nothing is written if any
condition fails, and the error says which.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.audit import EVERYWHERE, AuditLine, SystemAudit
from penstock.conditions import Compare, Condition, Missing, Present, both
from penstock.declare.entity import Entity
from penstock.errors import Conflict, InvalidValue
from penstock.ids import sortable_id
from penstock.index_keys import settle
from penstock.kinds import Kind, key_text
from penstock.lease import Lease, lost_lease
from penstock.once import Turn
from penstock.ops import Check, Delete, Patch, Put, Ref, Write
from penstock.outbox import Message, SystemMessage
from penstock.records import prepare, prepare_updates
from penstock.updates import Remove, Set, Update

if TYPE_CHECKING:
    from penstock.store import Store

E = TypeVar("E", bound=Entity)

_COLLISIONS = 20
"How often an audit line may meet another of the same actor in the same microsecond."


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
        once: Turn | None = None,
    ) -> None:
        self._store = store
        self._by, self._why, self._project = by, why, project
        self._under, self._once = under, once
        self.result: dict[str, Any] | None = None
        self._writes: list[Write] = []
        self._messages: list[Message] = []
        self._read: dict[int, tuple[Entity, dict[str, Any]]] = {}
        self._told: list[dict[str, Any]] = []
        self._audit: type[AuditLine] = SystemAudit

    def __enter__(self) -> Change:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._commit()

    # Reading

    def get(self, ref: Ref[E]) -> E:
        """The record as committed, or NotFound; it may be changed and saved."""
        return self.adopt(self._store.get(ref))

    def adopt(self, record: E) -> E:
        """A record that was read elsewhere, by a query for example, as if it had been read here."""
        self._read[id(record)] = (record, _snapshot(record))
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
        if id(record) not in self._read:
            raise InvalidValue(f"{record.ref!r} was not read in this change; read it with change.get, or create it")
        before = self._read[id(record)][1]
        shape, key = record.__shape__, record.ref.key
        changed = _difference(record, before)
        condition = both(both(Present(), _states_as_read(record, before)), when)
        if not changed:
            self._writes.append(Check(shape, key, condition or Present()))
            return record
        self._writes.append(settle(Patch(shape, key, prepare_updates(shape, changed), condition), before))
        self._tell("save", record.ref, record, **_states(record, before))
        return record

    def patch(self, ref: Ref[E], *updates: Update, when: Condition | None = None) -> None:
        """Change some fields of a record without reading it."""
        self._writes.append(settle(Patch(ref.shape, ref.key, prepare_updates(ref.shape, updates), when), None))
        self._tell("patch", ref, fields=sorted(u.field for u in updates))

    def delete(self, ref: Ref[Any], *, when: Condition | None = None) -> None:
        """Remove a record."""
        self._writes.append(Delete(ref.shape, ref.key, when))
        self._tell("delete", ref)

    def check(self, ref: Ref[Any], when: Condition) -> None:
        """Refuse the whole change unless the condition holds of a record that is not written."""
        self._writes.append(Check(ref.shape, ref.key, when))

    def emit(self, type: str, record: Entity, *, about: Ref[Any] | None = None, **payload: Any) -> str:
        """Announce what becomes true with this change; the message's id.

        Messages about the same record are told in order; ``about`` names another record to order them by.
        """
        now = self._store.ticks.next()
        fields = record.__shape__.fields
        key = {n: key_text(fields[n], v) for n, v in record.ref.key.items()}
        outbox = _own(record, "outbox", SystemMessage)
        told = {**key, **payload}
        message: Message = outbox.model_validate(
            {
                # A domain's own message may keep parts of what it tells in fields.
                **{name: told[name] for name in outbox.__shape__.fields if name in told},
                "event_id": str(sortable_id(now)),
                "type": type,
                "aggregate": repr(about or record.ref),
                "project_id": self._project or _project_of(record),
                "payload": told,
                "ts": now,
            }
        )
        self._messages.append(message)
        return message.event_id

    # Committing

    def _put(self, record: Entity, when: Condition | None, does: str) -> None:
        self._writes.append(Put(record.__shape__, prepare(record.__shape__, record.__dict__), when))
        self._tell(does, record.ref, record, **_states(record, {}))

    def _tell(self, does: str, ref: Ref[Any], record: Entity | None = None, **more: Any) -> None:
        """Note for the audit line what is done to which record."""
        if self._by is None:
            return
        self._told.append({"does": does, "record": repr(ref), **more})
        if record is not None:
            self._audit = _own(record, "audit", self._audit)
            self._project = self._project or _project_of(record)

    def _commit(self) -> None:
        if not self._writes and not self._messages and self._once is None:
            return
        writes = self._fenced(self._writes)
        if self._once is not None:
            writes.append(self._once.done(self.result))
        writes += [_witness(m) for m in self._messages]
        if self._by is None:
            self._send(writes)
            return
        for _ in range(_COLLISIONS):
            line = self._line()
            try:
                self._send([*writes, _witness(line)])
            except Conflict as refused:
                if refused.position != len(writes):
                    raise
            else:
                return
        raise InvalidValue(f"{_COLLISIONS} audit lines of {self._by} met in one microsecond; spread the changes out")

    def _send(self, writes: list[Write]) -> None:
        try:
            self._store.commit(writes)
        except Conflict as refused:
            if self._under is not None and self._is_fence(writes[refused.position], refused):
                raise lost_lease(self._under, refused) from None
            raise

    def _fenced(self, writes: list[Write]) -> list[Write]:
        """The writes, on the condition that the lease is still held."""
        lease = self._under
        if lease is None:
            return list(writes)
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

    def _line(self) -> AuditLine:
        details = {"changes": self._told, "messages": [m.type for m in self._messages], "why": self._why}
        line = self._audit.model_validate(
            {
                "project_id": self._project or EVERYWHERE,
                "ts": self._store.ticks.next(),
                "actor": self._by,
                "action": self._action(),
                "details": {k: v for k, v in details.items() if v},
            }
        )
        line.hash = line.sealed()
        return line

    def _action(self) -> str:
        """What the change is called: by its message, else by what was done first."""
        if self._messages:
            return self._messages[0].type
        return f"{self._told[0]['does']} {self._told[0]['record'].partition('(')[0]}" if self._told else "change"


def _witness(record: Entity) -> Put:
    """A put that nobody else can ever make: finding it proves that its commit was applied."""
    return Put(record.__shape__, prepare(record.__shape__, record.__dict__), Missing(), witness=True)


def _with_condition(write: Write, condition: Condition) -> Write:
    match write:
        case Put(shape, values, when, witness):
            return Put(shape, values, both(when, condition), witness)
        case Patch():
            return replace(write, when=both(write.when, condition))
        case Delete(shape, key, when):
            return Delete(shape, key, both(when, condition))
        case Check(shape, key, when):
            return Check(shape, key, both(when, condition) or condition)


def _own(record: Entity, what: str, default: Any) -> Any:
    """The domain's own kind of message or audit line, where its documents describe one."""
    return getattr(getattr(type(record), "__domain__", None), what, None) or default


def _project_of(record: Entity) -> str | None:
    value = record.__dict__.get("project_id")
    return None if value is None else str(value)


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


def _states(record: Entity, before: dict[str, Any]) -> dict[str, Any]:
    """The states a record had and has, for the audit line."""
    moved: dict[str, Any] = {}
    for name, field in record.__shape__.fields.items():
        if field.state and record.__dict__[name] != before.get(name):
            former = before.get(name)
            moved[name] = [None if former is None else former.value, record.__dict__[name].value]
    return {"states": moved} if moved else {}


def _states_as_read(record: Entity, before: dict[str, Any]) -> Condition | None:
    condition: Condition | None = None
    for name, field in record.__shape__.fields.items():
        if field.state:
            as_read: Condition = Compare(name, "=", before[name])
            if before[name] == field.default:
                as_read |= Missing(name)  # another writer may have left the state out, which reads as the default
            condition = both(condition, as_read)
    return condition
