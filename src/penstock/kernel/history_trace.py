"""Traces: how a record's history finds the audit lines that tell of it beside others.

A line of the kernel's own kind is found by the first record it tells of. From each other record a trace leads to it. A
change of a few records writes them in its own commit; one of many writes a single note instead, and whoever comes by
next, a reader or the service, writes the traces behind it. So a change of many records is hardly slower for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated, Any

from annotated_types import Ge, Le

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.pattern import pattern
from penstock.declare.units import UtcMicros
from penstock.kernel.audit import AuditLine
from penstock.kernel.handle import StoreHandle
from penstock.kernel.own_kinds import kinds_of
from penstock.kernel.system import BY_RECORD, SYSTEM
from penstock.operations.conditions import Missing
from penstock.operations.reads import ANYTHING, Range, Ref
from penstock.operations.writes import Put, Write
from penstock.ports.ids import commit_token
from penstock.schema.role import Role
from penstock.schema.shape import COMMIT_WRITES, EntityShape

_AT_ONCE = 3
"So many traces are written with the change itself."
_ABANDONED = timedelta(days=1)
"After so long a note whose change was never committed is removed."
_TOGETHER = 100
"So many notes are settled at once."


class HistoryTrace(Entity, table=SYSTEM, relation="history_traces"):
    """Leads from a record to an audit line that tells of it. It proves nothing: what counts is what the line says."""

    __traced__ = False
    __seen_by__ = Role.ADMIN

    project_id: str
    "Where the line is: its project, moment and actor, and its kind."
    ts: UtcMicros
    actor: str
    trail: str
    about: str
    "The name of the record."
    mark: str
    "Tells apart the changes of one moment."
    number: Annotated[int, Ge(0), Le(COMMIT_WRITES - 1)]

    @key("PROJECT#{project_id}", "TRACE#{ts}#{mark}#{number:02d}")
    def at(self, *, project_id: str, ts: datetime, mark: str, number: int) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str, ts: Range[datetime] = ANYTHING) -> None:
        """The traces to a project's lines, in order."""

    of_one = IndexKey(BY_RECORD, "TRACES#{about}", "{ts}")

    @pattern(of_one)
    def of_record(self, *, about: str, ts: Range[datetime] = ANYTHING) -> None:
        """The traces from a record to lines, in order."""


class UntracedChange(Entity, table=SYSTEM, relation="untraced_changes"):
    """A note that a change of many records was made, or is about to be, whose traces are yet to be written."""

    __traced__ = False
    __seen_by__ = Role.ADMIN

    project_id: str
    ts: UtcMicros
    actor: str
    trail: str
    mark: str
    names: list[str]
    "The records from which no trace leads to the line yet."

    @key("UNTRACED", "{ts}#{mark}")
    def at(self, *, ts: datetime, mark: str) -> None: ...

    @pattern(at)
    def waiting(self, *, ts: Range[datetime] = ANYTHING) -> None:
        """All of them, oldest first."""


def traces_of(store: StoreHandle, line: Put, names: Sequence[str], *, room: int) -> list[Write]:
    """What is to be committed with a line so that the records of these names find it; a commit has ``room`` left.

    Where there is no room at all, it is written beforehand. Should the change then be refused, it leads nowhere.
    """
    values = line.values
    where = {name: values[name] for name in ("project_id", "ts", "actor")}
    where |= {"trail": line.shape.label, "mark": commit_token()}
    if len(names) <= min(_AT_ONCE, room):
        return _puts(where, names)
    note = Put(UntracedChange.__shape__, {**where, "names": list(names)}, Missing(), witness=True)
    if room > 0:
        return [note]
    if room == 0:  # with less than none the commit is refused in any case
        store.commit([note])
    return []


def write_traces(store: StoreHandle) -> int:
    """Write the traces of all changes that have left a note; so many there were. Several may do so at once."""
    notes, done = store.find(UntracedChange.waiting()), 0
    abandoned = store.clock.now() - _ABANDONED
    while some := list(islice(notes, _TOGETHER)):
        # The line of a note that was written beforehand may be on its way, or never come.
        lines = lines_at(store, some)
        made = [note for note, line in zip(some, lines, strict=True) if line is not None]
        over = [n for n, line in zip(some, lines, strict=True) if line is None and n.ts < abandoned and _is_known(n)]
        store.put_many(trace for note in made for trace in _traces(note))
        store.delete_many(note.ref for note in (*made, *over))
        done += len(made)
    return done


def forget_traces(store: StoreHandle, project: str, *, trail: EntityShape, span: Range[datetime]) -> int:
    """Remove the traces to a project's lines of a time, for whoever has removed these lines; so many there were."""
    found = store.find(HistoryTrace.of_project(project_id=project, ts=span))
    gone = [trace.ref for trace in found if trace.trail == trail.label]
    store.delete_many(gone)
    return len(gone)


def lines_at(store: StoreHandle, found: Sequence[HistoryTrace | UntracedChange]) -> list[AuditLine | None]:
    """The lines that these lead to; None where none stands, or where no domain here has lines of its kind."""
    kinds = kinds_of(AuditLine)
    lines: list[AuditLine | None] = [None] * len(found)
    known = [(place, each) for place, each in enumerate(found) if each.trail in kinds]
    refs: list[Ref[Any]] = [kinds[each.trail].__key__.of(each.__dict__) for _, each in known]
    for (place, _), line in zip(known, store.get_many(refs), strict=True):
        lines[place] = line
    return lines


def _is_known(note: UntracedChange) -> bool:
    return note.trail in kinds_of(AuditLine)


def _puts(where: dict[str, Any], names: Sequence[str]) -> list[Write]:
    """The traces as a commit takes them; nobody else writes these, so none is ever refused."""
    return [
        Put(HistoryTrace.__shape__, {**where, "about": name, "number": number}, Missing(), witness=True)
        for number, name in enumerate(names)
    ]


def _traces(note: UntracedChange) -> Iterator[HistoryTrace]:
    where = {name: getattr(note, name) for name in ("project_id", "ts", "actor", "trail", "mark")}
    for number, name in enumerate(note.names):
        yield HistoryTrace(**where, about=name, number=number)
