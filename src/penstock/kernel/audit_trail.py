"""The audit line of a change: what it did to which record, gathered as it goes and committed last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import Conflict, InvalidValue
from penstock.kernel.audit import EVERYWHERE, AuditLine, SystemAudit, entry
from penstock.kernel.audit_register import enlist
from penstock.kernel.handle import StoreHandle
from penstock.kernel.history_trace import traces_of
from penstock.kernel.record_name import record_name
from penstock.kernel.tracked import Tracked, moved_states, own_kind, project_of
from penstock.operations.reads import Ref, named
from penstock.operations.writes import Put, Write
from penstock.schema.shape import COMMIT_WRITES, EntityShape

_COLLISIONS = 20
"How often an audit line may meet another of the same actor in the same microsecond."
_Named = tuple[EntityShape, Mapping[str, str], str]
"A record: its kind, the texts of its key, and what lines call it."
_Noted = tuple[int, int, str | None, type[AuditLine]]


class AuditTrail:
    """Takes part in a commit with one line, and with what leads to it from each record that it tells of.

    ``messages`` are those of the change, of which the line tells the types and ids, and ``subjects`` the records that
    they are about.
    """

    __slots__ = (
        *("_by", "_collisions", "_line", "_messages", "_subjects", "_told", "_traced", "_trail", "_why"),
        "project",
    )

    def __init__(
        self, by: str, why: str | None, project: str | None, messages: Sequence[Put], subjects: Sequence[Tracked]
    ) -> None:
        self._by, self._why, self._messages, self._subjects = by, why, messages, subjects
        self.project = project
        "That of the change, else that of the first record which has one."
        self._trail: type[AuditLine] = SystemAudit
        self._told: list[dict[str, Any]] = []
        self._traced: list[_Named] = []
        "The records told of that have a history, in which the line is to be found."
        self._line: Put | None = None
        self._collisions = 0

    def tell(self, does: str, tracked: Tracked, before: Mapping[str, Any]) -> None:
        """Note what is done to a record, and which states it had and has."""
        record = tracked.record
        told: dict[str, Any] = {"does": does, "record": tracked.text}
        if moved := moved_states(record, before):
            told["states"] = moved
        self._told.append(told)
        if record.__shape__.traced:
            self._traced.append((record.__shape__, tracked.key, tracked.text))
        self._trail = own_kind(record, "audit", self._trail)
        if self.project is None:
            self.project = project_of(record)

    def tell_unread(self, does: str, ref: Ref[Any], *, is_event: bool = True, **more: Any) -> None:
        """Note what is done to a record that was not read; what is no event is not sought in the record's history."""
        texts = ref.texts()
        text = named(ref.shape, texts)
        self._told.append({"does": does, "record": text, **more})
        if is_event and ref.shape.traced:
            self._traced.append((ref.shape, texts, text))

    def noted(self) -> _Noted:
        """How far it has got, to go back to."""
        return len(self._told), len(self._traced), self.project, self._trail

    def back_to(self, noted: _Noted) -> None:
        """Forget what was told since."""
        told, traced, self.project, self._trail = noted
        del self._told[told:], self._traced[traced:]

    # As a participant

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        """Last, as whoever looks for a proof of the commit looks there first. Nothing done is nothing told."""
        if not writes:
            return writes
        told, traced = self._told, self._traced
        for subject in self._subjects:  # of most, the change itself was told last
            if not told or told[-1]["record"] != subject.text:
                told, traced = self._with_subjects()
                break
        details: dict[str, Any] = {}
        if told:
            details["changes"] = told
        types, ids = [], []
        for message in self._messages:
            types.append(message.values["type"])
            ids.append(message.values["event_id"])
        if types:
            details["messages"], details["message_ids"] = types, ids
        if self._why:
            details["why"] = self._why
        project = self.project or EVERYWHERE
        if (self._trail, project) not in store.context.trails:
            enlist(store, project, trail=self._trail)
        names_first = self._trail is SystemAudit and bool(traced)
        self._line = line = entry(
            self._trail,
            project_id=project,
            ts=store.context.ticks.next(),
            actor=self._by,
            action=types[0] if types else self._deed(),
            details=details,
            about=record_name(*traced[0]) if names_first else None,
        )
        if len(traced) == names_first:
            return [*writes, line]
        names = list(dict.fromkeys(record_name(*each) for each in traced))[names_first:]
        return [*writes, *traces_of(store, line, names, room=COMMIT_WRITES - len(writes) - 1), line]

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

    def _with_subjects(self) -> tuple[list[dict[str, Any]], list[_Named]]:
        """What is told, and of which records, with those that messages are about and to which nothing else is done."""
        told, traced = list(self._told), list(self._traced)
        known = {each["record"] for each in told}
        for subject in self._subjects:
            shape, text = subject.record.__shape__, subject.text
            if text not in known:
                known.add(text)
                told.append({"does": "tell", "record": text})
                if shape.traced:
                    traced.append((shape, subject.key, text))
        return told, traced

    def _deed(self) -> str:
        """What a change is called that tells nobody anything: by what was done first."""
        return f"{self._told[0]['does']} {self._told[0]['record'].partition('(')[0]}" if self._told else "change"
