"""The audit line of a change: what it did to which record, gathered as it goes and committed last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import Conflict, InvalidValue
from penstock.kernel.audit import EVERYWHERE, AuditLine, SystemAudit, entry
from penstock.kernel.audit_register import enlist
from penstock.kernel.handle import StoreHandle
from penstock.kernel.tracked import Tracked, moved_states, own_kind, project_of
from penstock.operations.reads import Ref
from penstock.operations.writes import Put, Write

_COLLISIONS = 20
"How often an audit line may meet another of the same actor in the same microsecond."


class AuditTrail:
    """Takes part in a commit with one line. ``messages`` are those of the change, of which the line tells the types."""

    __slots__ = ("_by", "_collisions", "_line", "_messages", "_told", "_trail", "_why", "project")

    def __init__(self, by: str, why: str | None, project: str | None, messages: Sequence[Put]) -> None:
        self._by, self._why, self._messages = by, why, messages
        self.project = project
        "That of the change, else that of the first record which has one."
        self._trail: type[AuditLine] = SystemAudit
        self._told: list[dict[str, Any]] = []
        self._line: Put | None = None
        self._collisions = 0

    def tell(self, does: str, tracked: Tracked, before: Mapping[str, Any]) -> None:
        """Note what is done to a record, and which states it had and has."""
        record = tracked.record
        told: dict[str, Any] = {"does": does, "record": tracked.text}
        if moved := moved_states(record, before):
            told["states"] = moved
        self._told.append(told)
        self._trail = own_kind(record, "audit", self._trail)
        if self.project is None:
            self.project = project_of(record)

    def tell_unread(self, does: str, ref: Ref[Any], **more: Any) -> None:
        """Note what is done to a record that was not read."""
        self._told.append({"does": does, "record": repr(ref), **more})

    def noted(self) -> tuple[int, str | None, type[AuditLine]]:
        """How far it has got, to go back to."""
        return len(self._told), self.project, self._trail

    def back_to(self, noted: tuple[int, str | None, type[AuditLine]]) -> None:
        """Forget what was told since."""
        told, self.project, self._trail = noted
        del self._told[told:]

    # As a participant

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        """Last, as whoever looks for a proof of the commit looks there first. Nothing done is nothing told."""
        if not writes:
            return writes
        details: dict[str, Any] = {}
        if self._told:
            details["changes"] = self._told
        types = [m.values["type"] for m in self._messages]
        if types:
            details["messages"] = types
        if self._why:
            details["why"] = self._why
        project = self.project or EVERYWHERE
        if (self._trail, project) not in store.context.trails:
            enlist(store, project, trail=self._trail)
        self._line = entry(
            self._trail,
            project_id=project,
            ts=store.context.ticks.next(),
            actor=self._by,
            action=types[0] if types else self._deed(),
            details=details,
        )
        return [*writes, self._line]

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

    def _deed(self) -> str:
        """What a change is called that tells nobody anything: by what was done first."""
        return f"{self._told[0]['does']} {self._told[0]['record'].partition('(')[0]}" if self._told else "change"
