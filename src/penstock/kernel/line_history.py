"""What audit lines say of one record: those that name it first, and those that traces lead to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.handle import StoreHandle
from penstock.kernel.history import HistoryEntry, HistoryKind, HistoryQuestion, HistorySource
from penstock.kernel.history_trace import HistoryTrace, lines_at, write_traces
from penstock.kernel.outbox import Message, SystemMessage
from penstock.kernel.own_kinds import kinds_of
from penstock.operations.validation import is_simple


class LineHistory:
    """The lines that tell of a record before any other."""

    def entries(self, store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
        text = repr(asked.ref)
        for lines in asked.read(store, SystemAudit.of_record(about=asked.name, ts=asked.ts)):
            for line in lines:
                if (entry := _told(line, text)) is not None:
                    yield entry

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        """With the messages as they stand now; those that were told are forgotten after a while."""
        return _with_messages(store, asked, entries)


class TracedLineHistory:
    """The lines that tell of a record beside others, or that are of a domain's own kind."""

    def entries(self, store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
        text = repr(asked.ref)
        write_traces(store)
        for traces in asked.read(store, HistoryTrace.of_record(about=asked.name, ts=asked.ts)):
            for line in lines_at(store, traces):
                if line is not None and (entry := _told(line, text)) is not None:
                    yield entry

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        """Nothing more: `LineHistory` sees to all of them."""
        return entries


CHANGES: tuple[HistorySource, ...] = (LineHistory(), TracedLineHistory())


def _told(line: AuditLine, text: str) -> HistoryEntry | None:
    """What a line says of a record; None when it does not tell of it, whatever led there. It may have been forged."""
    details = line.details
    found = (c for c in _list(details, "changes") if isinstance(c, dict) and c.get("record") == text)
    change = next(found, None)
    if change is None:
        return None
    why = details.get("why")
    return HistoryEntry(
        ts=line.ts,
        kind=HistoryKind.CHANGE,
        action=line.action,
        source=line.ref,
        by=line.actor,
        does=str(change.get("does")),
        moved=_moved(change.get("states")),
        fields=tuple(map(str, _list(change, "fields"))),
        why=None if why is None else str(why),
        parts=tuple(_messages(line)),
    )


def _messages(line: AuditLine) -> Iterator[HistoryEntry]:
    """The messages of a change; lines of earlier versions tell their types only."""
    types, ids = _list(line.details, "messages"), _list(line.details, "message_ids")
    for told, event_id in zip_longest(types, ids[: len(types)]):
        yield HistoryEntry(
            ts=line.ts, kind=HistoryKind.MESSAGE, action=str(told), id=event_id if is_simple(event_id) else None
        )


def _with_messages(store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
    ids = [p.id for e in entries for p in e.parts if p.kind is HistoryKind.MESSAGE and p.id is not None]
    domains = {SystemMessage.__shape__.domain, asked.ref.shape.domain}
    domains |= {e.source.shape.domain for e in entries if e.source is not None}
    kinds = [k for k in kinds_of(Message).values() if k.__shape__.domain in domains and _is_found_by_id(k)]
    wanted = [kind.__key__.of({"event_id": event_id}) for kind in kinds for event_id in dict.fromkeys(ids)]
    found = {m.event_id: m for m in store.get_many(wanted) if m is not None} if wanted else {}
    return [replace(e, parts=tuple(_standing(p, found) for p in e.parts)) if e.parts else e for e in entries]


def _is_found_by_id(kind: type[Message]) -> bool:
    return kind.__shape__.key.fields == ("event_id",)


def _standing(part: HistoryEntry, found: dict[str, Message]) -> HistoryEntry:
    message = None if part.id is None else found.get(part.id)
    if message is None or part.kind is not HistoryKind.MESSAGE:
        return part
    return replace(part, ts=message.ts, source=message.ref, state=message.status.value, why=message.error)


def _moved(states: Any) -> dict[str, tuple[str | None, str | None]]:
    if not isinstance(states, dict):
        return {}
    return {name: (s[0], s[1]) for name, s in states.items() if isinstance(s, list) and len(s) == 2}


def _list(details: dict[str, Any], name: str) -> list[Any]:
    found = details.get(name)
    return found if isinstance(found, list) else []
