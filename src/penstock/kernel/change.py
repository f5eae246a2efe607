"""A change: what becomes true together, commits together.

State, index keys, counters, the audit line and the messages for others are one commit. Nothing is written if any
condition fails, and the error says which.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from penstock.declare.entity import Entity
from penstock.errors import InvalidValue
from penstock.kernel.arguments import check_condition, check_ref, check_texts, check_updates, owned_by, shape_of
from penstock.kernel.audit_trail import AuditTrail
from penstock.kernel.idempotency import Claim, ClaimEnd
from penstock.kernel.last_modified import note_moment, with_moment
from penstock.kernel.lease import Fence, Lease
from penstock.kernel.outbox import Messages, SystemMessage, announcement
from penstock.kernel.participants import Participant, commit, joined
from penstock.kernel.quota_movements import Movements
from penstock.kernel.tracked import Tracked, changes_of, own_kind, project_of, tracked
from penstock.kernel.unchanged import overwritten, states_unchanged
from penstock.kernel.version import begin_version, grow_version, version_unchanged, with_version
from penstock.operations.conditions import Condition, Missing, Present, both
from penstock.operations.index_keys import settle
from penstock.operations.reads import Ref
from penstock.operations.updates import Add, Update
from penstock.operations.validation import prepare, prepare_updates
from penstock.operations.writes import Check, Delete, Patch, Put, Write

if TYPE_CHECKING:
    # A store makes changes, and a change gives its maker that very store back: of two that name each other, one waits.
    from penstock.kernel.store import Store

E = TypeVar("E", bound=Entity)


_TEXT_OR_NONE = frozenset((str, type(None)))


class Change:
    """Collects reads and writes; leaving the ``with`` block commits them all, an exception none.

    Reads see committed state only. A record that was read here is saved on the condition that its states, and the
    fields that are overwritten, still stand as they were read. With ``by`` the change leaves an audit line; ``under`` a
    lease it writes nothing once the lease is lost; with a claim (``once``) it ends that claim, keeping ``result``.
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
    ) -> None:
        if not _TEXT_OR_NONE.issuperset((by.__class__, why.__class__, project.__class__)):
            check_texts("change", by=by, why=why, project=project)
        if under is not None and not isinstance(under, Lease):
            raise InvalidValue(f"change(under=…) takes a lease, as take gives it, not a {type(under).__name__}")
        if once is not None and not isinstance(once, Claim):
            raise InvalidValue(f"change(once=…) takes a claim, as begin gives it, not a {type(once).__name__}")
        self.store = store
        self._taker: Callable[[Change], None] | None = None
        self._project = project or store.project
        "The project that was named."
        self._under, self._claim = under, once
        self.result: dict[str, Any] | None = None
        self._writes: list[Write] = []
        self._messages = Messages()
        self._quotas: Movements | None = None
        self._subjects: list[Tracked] = []
        "The records that the messages are about, of each message one."
        self._trail = None if by is None else AuditTrail(by, why, self._project, self._messages, self._subjects)
        self._tracked: dict[int, Tracked] = {}
        "What was met here, by the record's identity."

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        if self._taker is not None:
            self._taker(self)
        else:
            self.commit()

    def hand_to(self, taker: Callable[[Change], None]) -> Change:
        """Have somebody else commit it, who gets it when the ``with`` block is left."""
        self._taker = taker
        return self

    @property
    def under(self) -> Lease | None:
        """The lease it is made under."""
        return self._under

    @property
    def size(self) -> int:
        """How many records and messages it has written by now."""
        return len(self._writes) + len(self._messages)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Something that may fail by itself: if it raises, what it had added to the change is taken out again."""
        writes, messages = len(self._writes), len(self._messages)
        moves = 0 if self._quotas is None else len(self._quotas.moves)
        noted = None if self._trail is None else self._trail.noted()
        try:
            yield
        except BaseException:
            del self._writes[writes:], self._messages[messages:], self._subjects[messages:]
            if self._quotas is not None:
                del self._quotas.moves[moves:]
            if self._trail is not None and noted is not None:
                self._trail.back_to(noted)
            raise

    # Reading

    def get(self, ref: Ref[E]) -> E:
        """The record as committed, or NotFound; it may be changed and saved."""
        return self.track(self.store.get(ref))

    def track(self, record: E) -> E:
        """A record that was read elsewhere, by a query for example, as if it had been read here."""
        try:
            met = self._tracked[id(record)] = tracked(record)
        except (AttributeError, KeyError):
            shape_of(record, "track")
            raise
        met.before = values = dict(record.__dict__)
        for field in record.__shape__.documents:  # which can be changed in place
            values[field.name] = copy.deepcopy(values[field.name])
        return record

    # Writing

    def create(self, record: E) -> E:
        """Write a record where none stands."""
        self._put(record, Missing(), "create")
        begin_version(record)
        return record

    def claim(self, record: E, *, owner: str) -> E:
        """Write a record where none stands, or where one stands with the same value of the field ``owner``."""
        self._put(record, Missing() | owned_by(record, owner), "claim")
        return record

    def put(self, record: E, *, when: Condition | None = None) -> E:
        """Write a whole record, replacing what stands there, whoever has changed it meanwhile."""
        self._put(record, when, "put")
        return record

    def save(self, record: E, *, when: Condition | None = None) -> E:
        """Write what has changed in a record read here, unless another has moved its states or written to the same
        fields meanwhile."""
        return self._save(record, when, True)

    def overwrite(self, record: E, *, when: Condition | None = None) -> E:
        """Write what has changed in a record read here, whatever has become of those fields meanwhile; its states are
        guarded all the same."""
        return self._save(record, when, False)

    def _save(self, record: E, when: Condition | None, guarded: bool) -> E:
        if when is not None:
            shape_of(record, "save", when)
        met = self._tracked.get(id(record))
        if met is None or met.before is None:
            shape_of(record, "save")
            raise InvalidValue(f"{record.ref!r} was not read in this change; read it with change.get, or create it")
        before, shape, key = met.before, record.__shape__, met.ref.key
        changed = changes_of(record.__dict__, before)
        by_version = guarded and shape.version is not None
        condition = when
        if by_version:
            condition = both(version_unchanged(shape, before), when)
        elif shape.states:
            condition = states_unchanged(shape, tuple([before[f.name] for f in shape.states]))
            if when is not None:  # which is seldom, and every change comes by here
                condition = both(condition, when)
        if not changed:
            self._writes.append(Check(shape, key, both(Present(), condition) or Present()))
            return record
        if guarded and not by_version and (standing := overwritten(type(record), before, changed)) is not None:
            condition = both(condition, standing)
        if shape.last_modified is not None:
            note_moment(record, before, changed, self.store.context.ticks.latest())
        if by_version:
            grow_version(record, before, changed)
        elif shape.version is not None:
            changed.append(Add(shape.version, 1))  # which it has by now, nobody knows
        self._writes.append(settle(Patch(shape, key, prepare_updates(shape, changed), condition), before))
        if self._trail is not None:
            self._trail.tell("save", met, before)
        return record

    def patch(self, ref: Ref[E], *updates: Update, when: Condition | None = None) -> None:
        """Change some fields of a record without reading it."""
        check_ref(ref, "patch", when)
        check_updates(ref.shape, updates)
        only_counts = all(type(u) is Add for u in updates)
        updates = with_version(ref.shape, with_moment(ref.shape, updates, self.store.context.ticks.latest()))
        self._writes.append(settle(Patch(ref.shape, ref.key, prepare_updates(ref.shape, updates), when), None))
        if self._trail is not None:
            self._trail.tell_unread("patch", ref, counts=only_counts, fields=sorted(u.field for u in updates))

    def delete(self, ref: Ref[Any], *, when: Condition | None = None) -> None:
        """Remove a record."""
        check_ref(ref, "delete", when)
        self._writes.append(Delete(ref.shape, ref.key, when))
        if self._trail is not None:
            self._trail.tell_unread("delete", ref)

    def check(self, ref: Ref[Any], when: Condition) -> None:
        """Refuse the whole change unless the condition holds of a record that is not written."""
        check_ref(ref, "check")
        check_condition(ref.shape, when)  # also None, which no other write minds
        self._writes.append(Check(ref.shape, ref.key, when))

    def emit(self, type: str, record: Entity, *, about: Ref[Any] | None = None, **payload: Any) -> str:
        """Announce what becomes true with this change; the message's id.

        Messages about the same record are told in order; ``about`` names another record to order them by.
        """
        if type.__class__ is not str:
            check_texts("emit", type=type)
        if about is not None:
            check_ref(about, "emit(about=…)")
        try:
            met = self._meet(record)
        except (AttributeError, KeyError):
            shape_of(record, "emit")
            raise
        if quoted := [f.name for f in record.__shape__.personal if f.name in payload]:
            raise InvalidValue(
                f"{type}: {', '.join(quoted)} of {record.__shape__.label} is personal, and whoever gets messages would "
                f"read it; tell the key, by which those who may can get the record"
            )
        message = announcement(
            own_kind(record, "outbox", SystemMessage),
            type=type,
            aggregate=repr(about) if about is not None else met.text,
            project_id=self._project or project_of(record) or (None if self._trail is None else self._trail.project),
            payload={**met.key, **payload},
            ts=self.store.context.ticks.next(),
        )
        self._messages.append(message)
        self._subjects.append(met)
        return message.values["event_id"]  # type: ignore[no-any-return]

    def end_claim(self, claim: Claim, result: dict[str, Any] | None) -> None:
        """Have this change end a claim that was not known when it began, keeping what came of the work."""
        if self._claim is not None:
            raise InvalidValue(f"this change ends the claim on {self._claim.ref!r} already; it can end one")
        self._claim, self.result = claim, result

    @property
    def quotas(self) -> Movements:
        """What is taken of quotas with this change, and given back."""
        if self._quotas is None:
            self._quotas = Movements(self.store)
        return self._quotas

    def _put(self, record: Entity, when: Condition | None, does: str) -> None:
        shape = shape_of(record, does, when if does == "put" else None)
        self._writes.append(Put(shape, prepare(shape, record.__dict__), when))
        met = self._meet(record)
        if self._trail is not None:
            self._trail.tell(does, met, {})

    def _meet(self, record: Entity) -> Tracked:
        """What is known of a record; one that was put may have been changed since, but never its key."""
        met = self._tracked.get(id(record))
        if met is None:
            met = self._tracked[id(record)] = tracked(record)
        return met

    # Committing

    def writes(self) -> list[Write]:
        """All that is to be committed, the audit line last."""
        return joined(self.store, self._writes, self._participants())

    def commit(self) -> None:
        """Make it true; leaving the ``with`` block does so."""
        commit(self.store, self._writes, self._participants())
        self.committed()

    def committed(self) -> None:
        """It has become true, and with it the work that was claimed is done."""
        if self._claim is not None:
            self._claim.ended = True
        if self._trail is not None and self._trail.period is not None:
            self._trail.committed(self.store)

    def _participants(self) -> list[Participant]:
        """Who adds to the writes, in order: those that bring something, then those that only go with what there is."""
        parts: list[Participant] = []
        if self._quotas is not None:
            parts.append(self._quotas)
        if self._claim is not None:
            if self._claim.self_writes is not None:
                parts.append(self._claim.self_writes)
            parts.append(ClaimEnd(self._claim, self.result))
        if self._messages:
            parts.append(self._messages)
        if self._under is not None:
            parts.append(Fence(self._under))
        if self._trail is not None:
            parts.append(self._trail)
        return parts
