"""Where one writes at a time, whoever migrates leaves time to others: it writes for a moment, and rests for longer."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest

from penstock import Formerly, FrozenClock, Retyped, Store, attribute
from penstock.evolution.batch_size import BatchSize
from penstock.evolution.migration import Migration, MigrationProgress
from penstock.kernel.layouts.migration_segment import MigrationSegment
from tests.beneath import beneath
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import film

EXACT = Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)]
SIDES = {
    "copied at once": lambda: film({"writer": Annotated[str, Formerly("author")], "stars": int}),
    "one by one": lambda: film({"author": str, "stars": EXACT}, defaults={"stars": attribute("exact", column="exact")}),
}
MOMENT = timedelta(milliseconds=10)
REQUESTS = ("commit", "copy_fields", "scan")


class Watched:
    """A migration each of whose requests takes a moment; how long it has slept after each page is told."""

    def __init__(self, clock: FrozenClock, another: OpenStore, kind: str, *, records: int = 60) -> None:
        self.old, self.new = film({"author": str, "stars": int}), SIDES[kind]()
        self.others = ensured(another, self.old)
        self.others.put_many([self.old(film_id=f"{n:03d}", author="a", stars=n) for n in range(records)])
        self.store = ensured(another, self.new)
        self.clock, self.slept, self.rests = clock, list[float](), list[float]()
        self.limits: list[int] = []
        "So many records were to be copied at once, each time."
        clock.sleep = self._sleep  # type: ignore[method-assign]
        engine: Any = beneath(self.store)
        for name in (n for n in REQUESTS if hasattr(engine, n)):
            setattr(engine, name, self._taking_a_moment(getattr(engine, name)))

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def _taking_a_moment(self, request: Any) -> Any:
        def taking(*args: Any, **options: Any) -> Any:
            self.clock.advance(MOMENT)
            self.limits += [options["limit"]] if "limit" in options else []
            return request(*args, **options)

        return taking

    def run(self, *, beside: bool, page: int = 2) -> None:
        def note(told: MigrationProgress) -> None:
            if told.segment is not None:
                self.rests.append(sum(self.slept))
                self.slept.clear()
                if beside:
                    self.others.put(self.old(film_id="000", author="b", stars=len(self.rests)))

        run = Migration(self.store, self.new.__shape__, segments=2, page=page, shut_out=True, tell=note)
        assert run.run().stage == "complete"


@pytest.fixture(params=SIDES)
def watched(store: Store, another: OpenStore, clock: FrozenClock, request: pytest.FixtureRequest) -> Watched:
    return Watched(clock, another, request.param)


def test_it_rests_for_longer_than_it_works_while_others_write(watched: Watched, engine_name: str) -> None:
    watched.run(beside=True)
    first, *rests = watched.rests
    assert first == 0
    assert len(rests) > 1
    if engine_name == "sqlite":
        assert min(rests) >= 5 * MOMENT.total_seconds()
        assert 5 * MOMENT.total_seconds() <= watched.slept[0] < 1, "also once it has looked at all of them again"
    else:
        assert set(rests) == {0}, "nobody waits for it"


def test_it_goes_on_at_once_where_nobody_else_writes(watched: Watched) -> None:
    watched.run(beside=False)
    assert set(watched.rests) == {0}


def test_where_one_writes_at_a_time_one_walks(store: Store, another: OpenStore, engine_name: str) -> None:
    old, new = film({"stars": int}), film({"stars": EXACT}, defaults={"stars": attribute("exact", column="exact")})
    ensured(another, old).put_many([old(film_id=str(n), stars=n) for n in range(9)])
    after = ensured(another, new)
    numbers: set[int] = set()

    def look(told: MigrationProgress) -> None:
        numbers.update(s.number for s in after.find(MigrationSegment.of_migration(label="cinema.Film")))

    Migration(after, new.__shape__, segments=3, shut_out=True, tell=look).run()
    assert numbers == ({0} if engine_name == "sqlite" else {0, 1, 2})


def test_fewer_are_copied_at_once_where_that_takes_long(store: Store, another: OpenStore, clock: FrozenClock) -> None:
    if store.engine.features.key_texts:
        pytest.skip("this store copies nothing itself")
    there = Watched(clock, another, "copied at once", records=1700)
    there.run(beside=False, page=100)
    assert there.limits[:3] == [1000, 500, 250]


def test_a_batch_is_as_large_as_takes_a_moment() -> None:
    size = BatchSize(1000)
    size.took(0.004)
    assert size.number == 1000
    for _ in range(3):
        size.took(0.2)
    assert size.number == 125
    for _ in range(10):
        size.took(0.2)
    assert size.number == 10
    size.took(0.002)
    assert size.number == 10
    for _ in range(10):
        size.took(0.0001)
    assert size.number == 1000
