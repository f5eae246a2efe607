"""One record that is read, changed and saved: guarded by what was read of the fields it overwrites, or not guarded.

CPU is what counts here, of both sides: what the guard costs is less than a disk takes longer now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from time import process_time
from typing import Any
from uuid import UUID, uuid4

from bench.contender import Limit
from bench.databases import Databases
from bench.measure import Clock, Contest, Effort, Work, contest
from bench.sizes import both_sides
from bench.topic import Contests
from penstock import Count, Domain, Entity, Store, Table, key, open_store
from penstock.kernel.change import Change

GROUPS = {"sqlite-saves.rate": "client CPU", "postgresql-saves.rate": "client + server CPU"}
LOOSE, GUARDED = "penstock, overwrite", "penstock, save"
BASELINE = LOOSE
OWN = (LOOSE, GUARDED)
NOTES = 400

# On SQLite, where a save costs so little, two comparisons more can be seen. What saves cost before they were guarded is
# another question: then they cost as much as they do now.
LIMITS = tuple(
    Limit(f"{group}: a guarded save at most {limit} of one that is not", group, GUARDED, LOOSE, limit)
    for group, limit in zip(GROUPS, (1.12, 1.05), strict=True)
)


class Note(Entity, table=Table("BenchNotes", partition="PK", sort="SK"), relation="notes"):
    """Something that is edited for ever."""

    note_id: UUID
    text: str
    edits: Count = 0
    author: str | None = None

    @key("NOTE#{note_id}", "NOTE")
    def at(self, *, note_id: UUID) -> None: ...


DOMAIN = Domain("bench_saves", Note)


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Both in a database of their own, over as many notes."""
    for group in groups:
        with ExitStack() as stack:
            yield group, _contest(group, effort, stack)


def _contest(group: str, effort: Effort, stack: ExitStack) -> Contest:
    databases = Databases(group, stack, as_shipped=True)
    ways: dict[str, Callable[[Change], Callable[[Note], Any]]] = {
        LOOSE: lambda change: change.overwrite,
        GUARDED: lambda change: change.save,
    }
    works: dict[str, Work] = {}
    clocks: dict[str, Clock] = {}
    for name in filter(effort.wants, ways):
        store = open_store(databases.new_url())
        stack.callback(store.close)
        store.ensure(DOMAIN)
        works[name] = _work(store, ways[name])
        clocks[name] = process_time if databases.are_files else both_sides(store)
    return contest(works, effort, clocks=clocks, count=3 * effort.rounds)


def _work(store: Store, way: Callable[[Change], Callable[[Note], Any]]) -> Work:
    notes = [Note(note_id=uuid4(), text=f"Note {number}") for number in range(NOTES)]
    store.put_many(notes)
    turn = cycle(notes)

    def work(times: int) -> None:
        for note in islice(turn, times):
            with store.change() as change:
                found = change.get(note.ref)
                found.text, found.edits = f"Note, edited {found.edits} times", found.edits + 1
                way(change)(found)

    return work
