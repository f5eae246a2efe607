"""Random changes by several writers, followed now and then: every history is complete, and the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from penstock import Ref, Store, the
from penstock.kernel.change import Change
from penstock.kernel.history_trace import write_traces
from penstock.runtime.system_records import SYSTEM_RECORDS
from tests.kernel.diary import SHAPES, Diary, Ledger, Mood
from tests.kernel.everywhere import SECRET, Everywhere, open_everywhere

Moved = tuple[str | None, str | None] | None
Entry = tuple[str, str, Moved]
"Who did what to a record, and how that moved its mood."


@pytest.fixture(scope="module")
def everywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    shapes = [*SYSTEM_RECORDS.shapes, *SHAPES]
    with open_everywhere(request, tmp_path_factory.mktemp("histories"), shapes) as opened:
        yield opened


class Chronicle:
    """What may happen to some records, and what a plain list knows of each."""

    def __init__(self, everywhere: Everywhere, seed: int) -> None:
        self.everywhere, self.chance = everywhere, Random(seed)
        others = {n: Store(s.engine, clock=s.clock, secret=SECRET) for n, s in everywhere.stores.items()}
        self.writers = [everywhere.stores, others]
        self.projects = (f"p{seed}", f"q{seed} #%é")
        self.known: dict[str, list[Entry]] = {}
        self.turns = 0

    def live(self, steps: int) -> None:
        doings = (self.change, self.read, self.wait, self.follow)
        for _ in range(steps):
            self.chance.choices(doings, weights=(6, 3, 2, 1))[0]()

    def wait(self) -> None:
        self.everywhere.clock.advance(timedelta(seconds=self.chance.choice((1, 4, 6, 30, 200, 700))))

    def follow(self) -> None:
        for store in self.everywhere.stores.values():
            write_traces(store)

    def change(self) -> None:
        self.turns += 1
        self.everywhere.clock.advance(timedelta(milliseconds=1))  # or the two writers' moments would not tell the order
        by = f"{self.chance.choice(('ann', 'bob'))} {self.turns}"
        refs = {repr(r): r for r in (self._any_ref() for _ in range(self.chance.randint(1, 4)))}
        plan = {name: self.chance.choice(("put", "move", "note", "count", "delete", "tell")) for name in refs}
        outcomes = {}
        for engine, store in self.chance.choice(self.writers).items():
            with store.change(by=by) as change:
                outcomes[engine] = {name: _do(change, refs[name], what) for name, what in plan.items()}
        for engine, outcome in outcomes.items():
            assert outcome == outcomes["model"], engine
        for name, told in outcomes["model"].items():
            if told is not None:
                self.known.setdefault(name, []).append((by, *told))

    def read(self) -> None:
        """Any record's history, in pages of any size, from either writer's handle."""
        ref = self._any_ref()
        size, oldest_first = self.chance.choice((2, 7, 100, 100)), self.chance.random() < 0.5
        expected = self.known.get(repr(ref), [])
        for engine, store in self.chance.choice(self.writers).items():
            found: list[Entry] = []
            cursor = None
            while True:
                page = store.history(ref, limit=size, cursor=cursor, oldest_first=oldest_first)
                found += [(e.by or "", e.does or "", e.moved.get("mood")) for e in page.entries]
                cursor = page.cursor
                if cursor is None:
                    break
            assert found == (expected if oldest_first else expected[::-1]), (engine, ref)

    def _any_ref(self) -> Ref[Any]:
        project = self.chance.choice(self.projects)
        if self.chance.random() < 0.2:
            return Ledger.at(project_id=project, name=self.chance.choice("ab"))
        return Diary.at(project_id=project, owner=self.chance.choice("xy"), number=self.chance.randrange(3))


def _do(change: Change, ref: Ref[Any], what: str) -> tuple[str, Moved] | None:
    """Do something to a record; what its history should tell of it."""
    stands = change.store.lookup(ref)
    if what == "delete":
        change.delete(ref)
        return "delete", None
    if stands is None or what == "put" or (ref.shape is Ledger.__shape__ and what != "tell"):
        change.put(Ledger(**ref.key) if ref.shape is Ledger.__shape__ else Diary(**ref.key))
        return "put", (None, "calm")
    change.track(stands)
    if what == "tell":
        change.emit("seen", stands)
        return "tell", None
    if what == "move":
        was = stands.mood
        change.save(stands.anger() if was is Mood.CALM else stands.soothe())
        return "save", (was.value, stands.mood.value)
    change.patch(ref, the(Diary.note).set("n") if what == "note" else the(Diary.visits).add(1))
    return None if what == "count" else ("patch", None)


def test_every_history_is_complete_and_the_same_everywhere(everywhere: Everywhere) -> None:
    Chronicle(everywhere, seed=1).live(70)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_histories_are_complete_and_the_same_everywhere(everywhere: Everywhere, seed: int) -> None:
    Chronicle(everywhere, seed=seed).live(500)
