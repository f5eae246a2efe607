"""What audit lines say of one record: those that traces lead to, and those that are so new that none does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

from penstock.kernel.audit import EVERYWHERE, AuditLine
from penstock.kernel.entity_kinds import kinds_of
from penstock.kernel.handle import StoreHandle
from penstock.kernel.history import HistoryEntry, HistoryKind, HistoryQuestion, merged
from penstock.kernel.history_trace import (
    FollowedTrail,
    HistoryTrace,
    UntracedPeriod,
    follow,
    lines_at,
    told_records,
)
from penstock.kernel.outbox import Message, SystemMessage
from penstock.kernel.tracked import project_of
from penstock.operations.reads import Range
from penstock.operations.validation import is_simple
from penstock.schema.kinds import key_text

_FEW, _PERIODS = 20, 200
"So many trails are looked at, of so many periods; of more, those that the record's project has."
_UNFOLLOWED = timedelta(minutes=2)
"A trail that nobody has followed for so long is followed by whoever reads."


class LineHistory:
    """The changes of a record."""

    def entries(self, store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
        # Which lines are not traced is read first: one that is traced meanwhile is then found twice, and not never.
        trails = follow(store, _untraced(store, asked), unless_since=store.clock.now() - _UNFOLLOWED)
        sources = [_traced(store, asked), *(_new(store, asked, trail) for trail in trails)]
        return merged(sources, backwards=asked.backwards)

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        """With the messages as they stand now; those that were told are forgotten after a while."""
        ids = [p.id for e in entries for p in e.parts if p.kind is HistoryKind.MESSAGE and p.id is not None]
        domains = {SystemMessage.__shape__.domain, asked.ref.shape.domain}
        domains |= {e.source.shape.domain for e in entries if e.source is not None}
        kinds = [k for k in kinds_of(Message).values() if k.__shape__.domain in domains and _is_found_by_id(k)]
        wanted = [kind.__key__.of({"event_id": event_id}) for kind in kinds for event_id in dict.fromkeys(ids)]
        found = {m.event_id: m for m in store.get_many(wanted) if m is not None} if wanted else {}
        return [replace(e, parts=tuple(_standing(p, found) for p in e.parts)) if e.parts else e for e in entries]


def _untraced(store: StoreHandle, asked: HistoryQuestion) -> list[UntracedPeriod]:
    """The periods whose lines may tell of the record and are not all traced."""
    if store.project is None:
        query = UntracedPeriod.all_of_them()
        few = store.engine.find(query, limit=_PERIODS, after=None, now=store.clock.now())
        if not few.more and len({(p.trail, p.project_id) for p in few.records}) <= _FEW:
            return few.records
    return [p for project in _projects(store, asked) for p in store.find(UntracedPeriod.of_project(project_id=project))]


def _projects(store: StoreHandle, asked: HistoryQuestion) -> list[str]:
    """The projects in whose trails the record's lines are, unless a change has named another."""
    if store.project is not None:
        return [store.project]
    shape, key = asked.ref.shape, asked.ref.key
    if shape.project is None:
        return [EVERYWHERE]
    if shape.project_in_key:
        return [key_text(shape.project, key[shape.project.name]), EVERYWHERE]
    record = store.lookup(asked.ref)
    own = None if record is None else project_of(record)
    return [EVERYWHERE] if own is None else [own, EVERYWHERE]


def _traced(store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
    """What those lines say that traces lead to. A trace whose line was never written, or is gone, is passed over."""
    for traces in asked.read(store, HistoryTrace.of_record(about=asked.name, ts=asked.ts)):
        for line in lines_at(store, traces):
            if line is not None and (entry := _told(line, asked.name)) is not None:
                yield entry


def _new(store: StoreHandle, asked: HistoryQuestion, trail: FollowedTrail) -> Iterator[HistoryEntry]:
    """What the lines of a trail say that nobody has traced yet."""
    span = _since(asked.ts, trail.until)
    if span is None:
        return
    kind: Any = trail.kind
    for some in asked.read(store, kind.of_project(project_id=trail.project, ts=span)):
        for line in some:
            if (entry := _told(line, asked.name)) is not None:
                yield entry


def _since(asked: Range[datetime], moment: datetime) -> Range[datetime] | None:
    """The part of a time that is not before a moment; None when there is none."""
    if asked.high is not None and asked.high < moment:
        return None
    if asked.low is not None and asked.low >= moment:
        return asked
    return Range(moment, asked.high, open_high=asked.open_high)


def _told(line: AuditLine, name: str) -> HistoryEntry | None:
    """What a line says of a record; None when it does not tell of it, whatever led there."""
    change = next((told for known, told in told_records(line) if known == name), None)
    if change is None:
        return None
    why = line.details.get("why")
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


def _moved(states: Any) -> dict[str, tuple[str | None, str | None]]:
    if not isinstance(states, dict):
        return {}
    return {name: (s[0], s[1]) for name, s in states.items() if isinstance(s, list) and len(s) == 2}


def _messages(line: AuditLine) -> Iterator[HistoryEntry]:
    """The messages of a change; lines of earlier versions tell their types only."""
    types, ids = _list(line.details, "messages"), _list(line.details, "message_ids")
    for told, event_id in zip_longest(types, ids[: len(types)]):
        known = event_id if is_simple(event_id) else None
        yield HistoryEntry(ts=line.ts, kind=HistoryKind.MESSAGE, action=str(told), id=known)


def _is_found_by_id(kind: type[Message]) -> bool:
    return kind.__shape__.key.fields == ("event_id",)


def _standing(part: HistoryEntry, found: dict[str, Message]) -> HistoryEntry:
    message = None if part.id is None else found.get(part.id)
    if message is None or part.kind is not HistoryKind.MESSAGE:
        return part
    return replace(part, ts=message.ts, source=message.ref, state=message.status.value, why=message.error)


def _list(details: dict[str, Any], name: str) -> list[Any]:
    found = details.get(name)
    return found if isinstance(found, list) else []
