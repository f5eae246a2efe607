"""Each kind of difference on each engine, while both declarations write and ask all the time, and with a death.

Beside them are processes that only read, and hear of what changes as late as may be. Nothing is lost, nothing is
unreadable, every answer is right at every moment, and all is complete at the end.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.evolution.migration import Migration
from penstock.evolution.pending import pending_migrations
from penstock.kernel.layouts.knower import FRESH
from penstock.kernel.layouts.migration_segment import MigrationSegment
from penstock.ports.scanning import scanned
from tests.beneath import beneath
from tests.evolution.dying import Killed
from tests.evolution.late_reader import late
from tests.evolution.proof.film_model import FilmModel, Party
from tests.evolution.proof.interleaved import Turns, as_another_process
from tests.evolution.proof.kinds import KINDS
from tests.kernel.layouts.conftest import OpenStore
from tests.kernel.layouts.films import cinema

PACE = {"sqlite": 1, "postgres": 2, "dynoxide": 3, "dynamodb-local": 10}
"Before every so-many-eth request of a migration others have their turn: fewer where each takes longer."


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
        domain: str = "cinema",
        **options: Any,
    ) -> None:
        self.kind, self.options = KINDS[kind], {"segments": 1, "page": 100, "shut_out": True, **options}
        old, new = self.kind.old.declared(domain), self.kind.new.declared(domain)
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
        self.model.check_all(self.new)
        self.model.check_index(self.new)
        if not self.kind.shuts_out:
            self.model.check_all(self.old)
        store: Store = self.new.store
        assert [step.kind for step in store.ensure(cinema(self.new.declared), dry_run=True)] == list(self.kind.left)
        assert list(store.find(MigrationSegment.of_migration(label=self.new.declared.__shape__.label))) == []
        for page in scanned(beneath(store), self.new.declared.__shape__):
            assert not [found for found in page.found if found.stale]


@pytest.fixture
def proof(store: Store, another: OpenStore, clock: FrozenClock, engine_name: str) -> Callable[..., Proof]:
    return lambda kind, **options: Proof(kind, engine_name, another, clock, **options)


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
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_every_write_of_one_batch_and_of_all_around_it(proof: Callable[..., Proof], kind: str) -> None:
    for dies_at in range(1, 60):
        there = proof(kind, records=12, domain=f"cinema{dies_at}")
        if not there.is_pending or there.run(dies_at=dies_at):
            break
        there.check_between()
        assert there.run()
        there.check_end()
    else:
        pytest.fail("a batch of 12 has fewer writes")


@pytest.mark.long
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
def test_a_hundred_thousand_records_come_along(proof: Callable[..., Proof], kind: str) -> None:
    there = proof(kind, records=100_000, page=500, seldom=50)
    if there.is_pending:
        assert not there.run(dies_at=there.chance.randrange(1, there.writes))
        there.check_between()
        assert there.run()
    there.check_end()
