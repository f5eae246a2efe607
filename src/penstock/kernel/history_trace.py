"""Traces: how the history of a record finds the audit lines that tell of it.

Lines are not indexed by records when they are written: that would slow every change down by a fifth on SQLite. Instead
the trails are followed. Whoever writes to a trail notes that it does, once in a while; whoever follows reads the lines
of that while and writes a trace for each record that they tell of. A history is made of traces, and of those lines that
nobody has come by yet.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.pattern import pattern
from penstock.declare.units import UtcMicros
from penstock.errors import Conflict, PenstockError
from penstock.kernel.audit import AuditLine
from penstock.kernel.entity_kinds import kinds_of
from penstock.kernel.handle import StoreHandle
from penstock.kernel.record_name import record_name
from penstock.kernel.seals.seal import FORGED, MARGIN, lines
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.operations.conditions import Missing
from penstock.operations.reads import ANYTHING, Range, Ref
from penstock.operations.updates import Set
from penstock.operations.writes import Put
from penstock.ports.ids import commit_token
from penstock.schema.role import Role

PERIOD = timedelta(minutes=10)
"So long a process that writes to a trail need not note it again."
COMMITTING = timedelta(seconds=5)
"Lines so young are not traced yet: others that are older by their clocks may still be on their way."
_TOGETHER = 200
"So many lines are followed at once."
_LONGEST_NAME = 200
"Characters of the name of a domain, and of an entity."
_Kinds = frozenset[tuple[str | None, str]]
"Kinds of records, by their domains and names."


class HistoryTrace(Entity, table=SYSTEM, relation="history_traces"):
    """Leads from a record to an audit line that tells of it. It proves nothing: what counts is what the line says."""

    __traced__ = False
    __seen_by__ = Role.ADMIN

    about: str
    "The `record_name` of the record."
    ts: UtcMicros
    mark: str
    "Tells apart the lines of one moment."
    project_id: str
    "Where the line is: its project, its actor, and its kind."
    actor: str
    trail: str

    @key("HISTORY#{about}", "TRACE#{ts}#{mark}")
    def at(self, *, about: str, ts: datetime, mark: str) -> None: ...

    @pattern(at)
    def of_record(self, *, about: str, ts: Range[datetime] = ANYTHING) -> None:
        """The traces from a record to lines, in order."""


class UntracedPeriod(Entity, table=SYSTEM, relation="untraced_periods"):
    """A note that a process writes lines to a trail from a moment on, for ten minutes, which are to be traced."""

    __traced__ = False
    __seen_by__ = Role.ADMIN

    project_id: str
    trail: str
    ts: UtcMicros
    mark: str
    traced_until: UtcMicros | None = None

    @key("UNTRACED#{project_id}", "UNTRACED#{ts}#{mark}")
    def at(self, *, project_id: str, ts: datetime, mark: str) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """Those of a project's trails, in order."""

    in_order = IndexKey(BY_STATUS, "UNTRACED", "{ts}")

    @pattern(in_order)
    def all_of_them(self, *, ts: Range[datetime] = ANYTHING) -> None:
        """All of them, oldest first."""


class FollowedTrail(NamedTuple):
    """A trail, and until when the lines in it are traced."""

    kind: type[AuditLine]
    project: str
    until: datetime


def period_of(line: Put) -> Put:
    """The note that begins with a line. Nobody else has its mark, so it is never refused."""
    values = {"project_id": line.values["project_id"], "trail": line.shape.label, "ts": line.values["ts"]}
    return Put(
        UntracedPeriod.__shape__, {**values, "mark": commit_token(), "traced_until": None}, Missing(), witness=True
    )


def write_traces(store: StoreHandle) -> int:
    """Follow every trail that is written to; so many there are. Several may do so at once.

    A trail that cannot be read keeps no other from being followed; its error is raised at the end.
    """
    damages: list[PenstockError] = []
    followed = 0
    for _, periods in _by_trail(store.find(UntracedPeriod.all_of_them())):
        try:
            followed += len(follow(store, periods))
        except FORGED as damage:
            damages.append(damage)
    if damages:
        raise damages[0]
    return followed


def follow(
    store: StoreHandle, noted: Sequence[UntracedPeriod], *, unless_since: datetime | None = None
) -> list[FollowedTrail]:
    """Trace the lines of these periods; their trails, each with the moment up to which it is traced.

    A trail that was followed since a moment may be left as it is.
    """
    kinds, without = kinds_of(AuditLine), _untraced_kinds()
    followed = []
    for (trail, project), periods in _by_trail(noted):
        if trail not in kinds:
            continue  # of a domain that is not installed here
        until = min(period.traced_until or period.ts for period in periods)
        if unless_since is None or until < unless_since:
            until = _follow_one(store, kinds[trail], project, periods, until, without)
        followed.append(FollowedTrail(kinds[trail], project, until))
    return followed


def _by_trail(noted: Iterable[UntracedPeriod]) -> list[tuple[tuple[str, str], list[UntracedPeriod]]]:
    trails: dict[tuple[str, str], list[UntracedPeriod]] = defaultdict(list)
    for period in noted:
        trails[period.trail, period.project_id].append(period)
    return list(trails.items())


def _follow_one(
    store: StoreHandle,
    kind: type[AuditLine],
    project: str,
    periods: Sequence[UntracedPeriod],
    since: datetime,
    without: _Kinds,
) -> datetime:
    """Trace what is new in a trail; once more what is old enough to be complete, and then forget the period."""
    now = store.clock.now()
    until = now - COMMITTING
    if since < until:
        for some in _pages(lines(store, kind, project, Range(since, until))):
            store.put_many(trace for line in some for trace in _new_traces(line, without))
    over = [p for p in periods if p.ts + PERIOD + MARGIN < now]
    if over:
        span = Range(min(p.ts for p in over), max(p.ts for p in over) + PERIOD)
        for some in _pages(lines(store, kind, project, span)):
            traces = [trace for line in some for trace in _new_traces(line, without)]
            there = store.get_many([trace.ref for trace in traces])
            store.put_many(t for t, found in zip(traces, there, strict=True) if found is None)
        store.delete_many(p.ref for p in over)
    for period in periods:
        if period not in over and until > (period.traced_until or period.ts):
            with suppress(Conflict):  # another may have forgotten it
                store.patch(period.ref, Set("traced_until", until))
    return max(since, until)


def _new_traces(line: AuditLine, without: _Kinds) -> Iterator[HistoryTrace]:
    """The traces that lead to a line, from each record with a history that it tells of."""
    trail = line.__shape__.label
    said = f"{trail}\n{line.project_id}\n{line.actor}"
    mark = hashlib.sha256(said.encode()).hexdigest()[:16]
    for name in dict(told_records(line, without)):
        yield HistoryTrace(about=name, ts=line.ts, mark=mark, project_id=line.project_id, actor=line.actor, trail=trail)


def traces_to(line: AuditLine) -> Iterator[Ref[Any]]:
    """The traces that lead to a line, for whoever removes it."""
    return (trace.ref for trace in _new_traces(line, frozenset()))


def told_records(line: AuditLine, without: _Kinds = frozenset()) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of each record that a line tells of, and what it tells, apart from counts. It may have been forged."""
    changes, domain = line.details.get("changes"), line.details.get("domain")
    for told in changes if isinstance(changes, list) else ():
        text = told.get("record") if isinstance(told, dict) else None
        if not isinstance(text, str) or told.get("counts"):
            continue
        whose, kind, found = told.get("domain", domain), text.partition("(")[0], told.get("key")
        if _is_name(kind) and (whose is None or _is_name(whose)) and (whose, kind) not in without:
            yield record_name(whose, text, found if isinstance(found, dict) else None), told


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and text.isidentifier() and len(text) <= _LONGEST_NAME


def lines_at(store: StoreHandle, found: Sequence[HistoryTrace]) -> list[AuditLine | None]:
    """The lines that traces lead to; None where none stands, or where no domain here has lines of its kind."""
    kinds = kinds_of(AuditLine)
    known = [trace for trace in found if trace.trail in kinds]
    refs: list[Ref[Any]] = [kinds[trace.trail].__key__.of(trace.__dict__) for trace in known]
    there = iter(store.get_many(refs))
    return [next(there) if trace.trail in kinds else None for trace in found]


def _untraced_kinds() -> _Kinds:
    """The domains and names of the entities that have no history."""
    shapes = [kind.__shape__ for kind in kinds_of(Entity).values()]
    return frozenset((shape.domain, shape.name) for shape in shapes if not shape.traced)


def _pages(found: Iterator[AuditLine]) -> Iterator[list[AuditLine]]:
    while some := list(islice(found, _TOGETHER)):
        yield some
