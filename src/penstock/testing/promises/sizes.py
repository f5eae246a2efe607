"""How much a store holds is told without reading it whole."""

from __future__ import annotations

from datetime import timedelta

from penstock import FrozenClock, Store
from penstock.ports.engine import Engine
from penstock.testing.entities import SUITE, Session
from penstock.testing.promises.promise import Promise


class Sizes(Promise):
    """`sizes`."""

    def test_every_entity_is_counted_in_one_table(self, engine: Engine, store: Store) -> None:
        told = [label for size in engine.sizes(SUITE.shapes) for label in size.entities]
        assert sorted(told) == sorted(shape.label for shape in SUITE.shapes)

    def test_what_is_exact_counts_each_record_also_those_that_wait_for_the_reaper(
        self, engine: Engine, store: Store, clock: FrozenClock
    ) -> None:
        ends = int(clock.now().timestamp()) + 10
        store.put_many(Session(user="u", session_id=f"{n}", ends_at=ends + n) for n in range(5))
        clock.advance(timedelta(minutes=1))
        (size,) = [s for s in engine.sizes([Session.__shape__]) if s.entities]
        assert size.records >= 0
        if size.exact:
            assert (size.records, size.first_end) == (5, ends)
            engine.expire([Session.__shape__], now=clock.now())
            (size,) = [s for s in engine.sizes([Session.__shape__]) if s.entities]
            assert (size.records, size.first_end) == (0, None)
