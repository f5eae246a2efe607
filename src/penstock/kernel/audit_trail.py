"""The audit line of a change: what it did to which record, gathered as it goes and committed last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.declare.entity import Entity
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.audit import EVERYWHERE, AuditLine, SystemAudit, entry
from penstock.kernel.audit_register import enlist
from penstock.kernel.handle import StoreHandle
from penstock.kernel.history_trace import PERIOD, period_of
from penstock.kernel.record_name import is_ambiguous
from penstock.kernel.tracked import Tracked, moved_states, own_kind, project_of
from penstock.operations.reads import Ref, named
from penstock.operations.writes import Put, Write
from penstock.schema.shape import COMMIT_WRITES, EntityShape

_COLLISIONS = 20
"How often an audit line may meet another of the same actor in the same microsecond."
_KNOWN = 10_000
"Of so many trails a process remembers that it has noted them."
_Noted = tuple[int, str | None, str | None, type[AuditLine]]


class AuditTrail:
    """Takes part in a commit with one line.

    ``messages`` are those of the change, of which the line tells the types and ids, and ``subjects`` the records that
    they are about.
    """

    __slots__ = (
        *("_by", "_collisions", "_domain", "_kind", "_line", "_messages", "_subjects", "_told", "_trail", "_why"),
        *("period", "project"),
    )

    def __init__(
        self, by: str, why: str | None, project: str | None, messages: Sequence[Put], subjects: Sequence[Tracked]
    ) -> None:
        self._by, self._why, self._messages, self._subjects = by, why, messages, subjects
        self.project = project
        "That of the change, else that of the first record which has one."
        self._trail: type[AuditLine] = SystemAudit
        self._domain: str | None = None
        "That of the first record; others tell theirs if it is another."
        self._told: list[dict[str, Any]] = []
        self._kind: type[Entity] | None = None
        "That of the record told last, if it needs no word to be told from those before it."
        self._line: Put | None = None
        self._collisions = 0
        self.period: Put | None = None
        "The note that begins with this line, where none was valid."

    def tell(self, does: str, tracked: Tracked, before: Mapping[str, Any]) -> None:
        """Note what is done to a record, and which states it had and has."""
        record, text = tracked.record, tracked.text
        told: dict[str, Any] = {"does": does, "record": text}
        if moved := moved_states(record, before):
            told["states"] = moved
        key = tracked.key
        if type(record) is not self._kind:  # what holds for all records of a kind is not asked for each of them
            domain = record.__shape__.domain
            if not self._told:
                self._domain = domain
            self._kind = type(record) if domain == self._domain else None
            self._trail = own_kind(record, "audit", self._trail)
        if self._kind is None or (len(key) > 1 and text.count(", ") != len(key) - 1):
            self._tell_apart(told, record.__shape__, key)
        self._told.append(told)
        if self.project is None:
            self.project = project_of(record)

    def tell_unread(self, does: str, ref: Ref[Any], *, counts: bool = False, **more: Any) -> None:
        """Note what is done to a record that was not read. To be counted is no event in a record's history."""
        key = ref.texts()
        told: dict[str, Any] = {"does": does, "record": named(ref.shape, key), **more}
        if counts:
            told["counts"] = True
        if not self._told:
            self._domain = ref.shape.domain
        self._tell_apart(told, ref.shape, key)
        self._told.append(told)
        if self.project is None:
            self.project = key.get("project_id")

    def _tell_apart(self, told: dict[str, Any], shape: EntityShape, key: Mapping[str, str]) -> None:
        """Let a record be told from another that has the same name in lines."""
        if shape.domain != self._domain:
            told["domain"] = shape.domain
        if is_ambiguous(told["record"], key):
            told["key"] = dict(key)

    def noted(self) -> _Noted:
        """How far it has got, to go back to."""
        return len(self._told), self._domain, self.project, self._trail

    def back_to(self, noted: _Noted) -> None:
        """Forget what was told since."""
        told, self._domain, self.project, self._trail = noted
        self._kind = None
        del self._told[told:]

    # As a participant

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        """Last, as whoever looks for a proof of the commit looks there first. Nothing done is nothing told."""
        if not writes:
            return writes
        told, all_told = self._told, True
        for subject in self._subjects:  # what a change tells others of is what it is about, should it do nothing else
            if self._trail is SystemAudit:
                self._trail = own_kind(subject.record, "audit", SystemAudit)
            if self.project is None:
                self.project = project_of(subject.record)
            if not told or told[-1]["record"] != subject.text:  # of most, the change itself was told last
                all_told = False
        if not all_told:
            told = self._with_subjects()
        details: dict[str, Any] = {}
        if told:
            details["changes"] = told
            if self._domain is not None:
                details["domain"] = self._domain
        if self._messages:
            details["messages"] = [message.values["type"] for message in self._messages]
            details["message_ids"] = [message.values["event_id"] for message in self._messages]
        if self._why:
            details["why"] = self._why
        project = self.project or EVERYWHERE
        context, place = store.context, (self._trail, project)
        if place not in context.trails:
            enlist(store, project, trail=self._trail)
        ts = context.ticks.next()
        self._line = line = entry(
            self._trail,
            project_id=project,
            ts=ts,
            actor=self._by,
            action=self._messages[0].values["type"] if self._messages else self._deed(),
            details=details,
        )
        followed = context.followed.get(place)
        if followed is not None and followed[0] <= ts < followed[1]:
            return [*writes, line]
        self.period = period = period_of(line)
        if len(writes) + 1 < COMMIT_WRITES:
            return [*writes, period, line]
        if len(writes) < COMMIT_WRITES:
            store.commit([period])  # there is no room for it, and one that no line follows does no harm
        return [*writes, line]

    def committed(self, store: StoreHandle) -> None:
        """The note that began with its line stands: for a while no other is needed."""
        known = store.context.followed
        if self.period is not None:
            if len(known) >= _KNOWN:
                known.clear()  # a note too many does no harm
            begin = self.period.values["ts"]
            known[self._trail, self.period.values["project_id"]] = begin, begin + PERIOD

    def was_refused(self, write: Write, refused: Conflict) -> bool:
        """Another line of the same actor stands in its microsecond; the next one is free, sooner or later."""
        if write is not self._line:
            return False
        self._collisions += 1
        if self._collisions == _COLLISIONS:
            raise InvalidValue(
                f"{_COLLISIONS} audit lines of {self._by} met in one microsecond; spread the changes out"
            ) from None
        return True

    def _with_subjects(self) -> list[dict[str, Any]]:
        """What is told, also of records that messages are about and to which nothing else is done."""
        told = list(self._told)
        known = {each["record"] for each in told}
        for subject in self._subjects:
            if subject.text not in known:
                known.add(subject.text)
                if not told:
                    self._domain = subject.record.__shape__.domain
                told.append({"does": "tell", "record": subject.text})
                self._tell_apart(told[-1], subject.record.__shape__, subject.key)
        return told

    def _deed(self) -> str:
        """What a change is called that tells nobody anything: by what was done first."""
        return f"{self._told[0]['does']} {self._told[0]['record'].partition('(')[0]}" if self._told else "change"
