"""Each kind of difference on each engine, while both declarations write and ask all the time, and with a death.

Beside them are processes that only read, and hear of what changes as late as may be. Nothing is lost, nothing is
unreadable, every answer is right at every moment, and all is complete at the end.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.evolution.migration import Migration
from penstock.evolution.pending import pending_migrations
from penstock.kernel.layouts.knower import FRESH
from penstock.kernel.layouts.migration_segment import MigrationSegment
from tests.conftest import furnished
from tests.evolution.dying import Killed
from tests.evolution.late_reader import late
from tests.evolution.proof.film_model import FilmModel, Party
from tests.evolution.proof.interleaved import Turns, as_another_process
from tests.evolution.proof.kinds import KINDS
from tests.kernel.layouts.conftest import OpenStore
from tests.kernel.layouts.films import cinema

PACE = {"sqlite": 1, "postgres": 2, "dynoxide": 3, "dynamodb-local": 10}
"Before every so-many-eth request of a migration others have their turn: fewer where each takes longer."
MANY = {"dynamodb-local": 10_000}
"So many records where a hundred thousand would take hours: a write takes it milliseconds."


class Proof:
    """One store, two declarations that are used all the while, and the migration from one to the other."""

    def __init__(
        self,
        kind: str,
        engine_name: str,
        open_store: OpenStore,
        clock: FrozenClock,
        *,
        records: int,
        seldom: int = 1,
        **options: Any,
    ) -> None:
        self.kind, self.options = KINDS[kind], {"segments": 1, "page": 100, "shut_out": True, **options}
        old, new = self.kind.old.declared("cinema"), self.kind.new.declared("cinema")
        sides = [(self.kind.old, old, False), (self.kind.new, new, True)]
        parties = [Party(open_store(), side, declared, is_new) for side, declared, is_new in sides]
        self.old, self.new = parties
        removes = engine_name != "dynoxide"  # whose walks end where an item is removed at the wrong moment
        self.model = FilmModel(self.kind, parties, records=records, seed=kind + engine_name, removes=removes)
        self.model.readers = [Party(late(open_store(), clock), *side) for side in sides]
        self.turns = Turns(clock, self.model.step, every=PACE[engine_name] * seldom)
        self._open, self._clock = open_store, clock
        self.chance = random.Random(kind + engine_name)
        by_itself = self.old.store.engine.features.key_texts
        self.writes = max(int(0.9 * records * self.kind.share) if by_itself else records // self.options["page"], 15)
        "So many writes whoever migrates does at least."
        clock.__dict__.pop("sleep", None)
        self.old.store.ensure(cinema(old))
        self.model.stand()
        self.new.store.ensure(cinema(new))
        for party in parties:
            as_another_process(party.store)
        clock.sleep = self.turns.sleep  # type: ignore[method-assign]

    def run(self, *, dies_at: int | None = None) -> bool:
        """Migrate, or go on with it; False where whoever did so died."""
        runner = self.turns.interrupted(self._open(), dies_at=dies_at)
        try:
            done = Migration(runner, self.new.declared.__shape__, **self.options).run()
        except Killed:
            return False
        assert (done.stage, done.unreadable) == ("complete", 0)
        return True

    @property
    def is_pending(self) -> bool:
        return bool(pending_migrations(self.new.store, [cinema(self.new.declared)]))

    def check_between(self) -> None:
        """Somebody died: everything is right, and everybody goes on."""
        self.model.check_all(self.new)
        for _ in range(10):
            self.turns.take()

    def check_end(self) -> None:
        """All of it is done, and everybody has heard so, or has not yet."""
        for _ in range(20):
            self.turns.take()
        self._clock.advance(timedelta(seconds=FRESH))
        for _ in range(50):
            self.turns.take()
        self.model.check_all(self.new, is_complete=True)
        self.model.check_index(self.new)
        if not self.kind.shuts_out:
            self.model.check_all(self.old)
        store: Store = self.new.store
        assert [step.kind for step in store.ensure(cinema(self.new.declared), dry_run=True)] == list(self.kind.left)
        assert list(store.find(MigrationSegment.of_migration(label=self.new.declared.__shape__.label))) == []


@pytest.fixture
def proof(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock, engine_name: str
) -> Iterator[Callable[..., Proof]]:
    """Each has a store of its own, in which nothing is; what was there before ends."""
    folders = (tmp_path / str(number) for number in itertools.count())
    with ExitStack() as standing:

        def begun(kind: str, **options: Any) -> Proof:
            standing.close()
            folder = next(folders)
            folder.mkdir()
            open_engine, empty = furnished(engine_name, request, folder, ())
            standing.callback(empty)

            def open_store() -> Store:
                engine = standing.enter_context(closing(open_engine()))  # not the store: who died tells nobody
                return Store(engine, clock=clock, secret=b"of the tests")

            return Proof(kind, engine_name, open_store, clock, **options)

        yield begun


@pytest.mark.every_engine("dynamodb-local")
@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.long if KINDS[k].is_long else ()) for k in KINDS])
def test_a_thousand_records_come_along_while_both_write_and_somebody_dies(
    proof: Callable[..., Proof], kind: str
) -> None:
    there = proof(kind, records=1000)
    if there.is_pending:
        assert not there.run(dies_at=there.chance.randrange(1, there.writes))
        there.check_between()
        assert there.run()
    there.check_end()
    assert there.model.steps >= 50


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_write_of_one_batch_and_of_all_around_it(proof: Callable[..., Proof], kind: str) -> None:
    for dies_at in range(1, 60):
        there = proof(kind, records=12)
        if not there.is_pending or there.run(dies_at=dies_at):
            break
        there.check_between()
        assert there.run()
        there.check_end()
    else:
        pytest.fail("a batch of 12 has fewer writes")


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_in_twenty_random_batches(proof: Callable[..., Proof], kind: str) -> None:
    there = proof(kind, records=2000, page=20, seldom=3)
    deaths = 0
    while there.is_pending and deaths < 20:
        deaths += 1
        if there.run(dies_at=there.chance.randrange(3, max(there.writes // 20, 8))):
            break
        there.check_between()
    assert there.run()
    there.check_end()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_thousand_records_come_along(proof: Callable[..., Proof], engine_name: str, kind: str) -> None:
    there = proof(kind, records=MANY.get(engine_name, 100_000), page=500, seldom=50)
    if there.is_pending:
        assert not there.run(dies_at=there.chance.randrange(1, there.writes))
        there.check_between()
        assert there.run()
    there.check_end()
