"""A record whose end has come is gone at once, however late the reaper."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock import FrozenClock, Store, the
from penstock.errors import Conflict, NotFound
from penstock.kernel.handle import put
from penstock.operations.conditions import Missing, Present
from penstock.operations.writes import Check
from penstock.ports.engine import Engine
from penstock.testing.entities import SUITE, Session, specimen
from penstock.testing.promises.paging import by_pages
from penstock.testing.promises.promise import Promise

HERE = Session.at(user="u", session_id="s")


def _session(clock: FrozenClock, seconds: int | None = 10, name: str = "s", **values: object) -> Session:
    """A session that ends in some seconds, or never."""
    end = None if seconds is None else int(clock.now().timestamp()) + seconds
    return Session.model_validate({"user": "u", "session_id": name, "ends_at": end, **values})


class Expiry(Promise):
    """Lifetimes, on a clock that is told when to move."""

    def test_a_record_is_there_until_its_end(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, 10))
        clock.advance(timedelta(seconds=9, microseconds=999_999))
        assert store.get(HERE).session_id == "s"
        clock.advance(timedelta(microseconds=1))
        with pytest.raises(NotFound):
            store.get(HERE)

    def test_a_record_without_an_end_stays(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, None))
        clock.advance(timedelta(days=40_000))
        assert store.get(HERE).ends_at is None

    def test_an_ended_record_is_invisible_in_every_read(self, store: Store, clock: FrozenClock) -> None:
        store.put_many([_session(clock, 10, "a", device="d"), _session(clock, None, "b", device="d")])
        clock.advance(timedelta(seconds=10))
        refs = [Session.at(user="u", session_id=x) for x in "ab"]
        assert [s and s.session_id for s in store.get_many(refs)] == [None, "b"]
        assert [s.session_id for s in store.find(Session.by_user(user="u"))] == ["b"]
        assert [s.session_id for s in store.find(Session.by_device(device="d"))] == ["b"]
        first = store.first(Session.by_device(device="d"))
        assert first is not None
        assert first.session_id == "b"

    def test_an_ended_record_does_not_stand_in_the_way(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, 10))
        clock.advance(timedelta(seconds=10))
        store.create(_session(clock, 10, visits=1))
        assert store.get(HERE).visits == 1
        with pytest.raises(Conflict):
            store.create(_session(clock, 10, visits=2))

    def test_a_condition_does_not_see_an_ended_record(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, 10, visits=5, device="d"))
        clock.advance(timedelta(seconds=10))
        conditions = [
            (Present(), False),
            (Missing(), True),
            (the(Session.visits).equals(5), False),
            (the(Session.visits).differs(5), True),
            (the(Session.device).exists(), False),
            (the(Session.device).absent(), True),
            (~the(Session.visits).equals(5), True),
            (the(Session.visits).equals(5) | Missing(), True),
            (the(Session.visits).equals(5) & Missing(), False),
        ]
        for condition, expected in conditions:
            if expected:
                store.commit([Check(HERE.shape, HERE.key, condition)])
                continue
            with pytest.raises(Conflict) as refused:
                store.commit([Check(HERE.shape, HERE.key, condition)])
            assert refused.value.found is None

    def test_an_ended_record_cannot_be_patched(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, 10))
        clock.advance(timedelta(seconds=10))
        with pytest.raises(Conflict) as refused:
            store.patch(HERE, the(Session.visits).add(1))
        assert refused.value.found is None

    def test_a_put_under_a_condition_treats_an_ended_record_as_none(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, 10, visits=5))
        clock.advance(timedelta(seconds=10))
        with pytest.raises(Conflict):
            store.put(_session(clock, 10), when=the(Session.visits).equals(5))
        store.put(_session(clock, 10, visits=6), when=Missing() | the(Session.visits).equals(1))
        assert store.get(HERE).visits == 6

    def test_an_ended_record_may_be_removed(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, 10))
        clock.advance(timedelta(seconds=10))
        store.delete(HERE, when=Missing())
        store.delete(HERE)
        with pytest.raises(Conflict):
            store.delete(HERE, when=Present())
        assert store.lookup(HERE) is None

    def test_a_commit_treats_ended_records_as_none(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, 10))
        clock.advance(timedelta(seconds=10))
        with pytest.raises(Conflict) as refused:
            store.commit([put(specimen()), Check(HERE.shape, HERE.key, Present())])
        assert (refused.value.position, refused.value.found) == (1, None)
        store.commit([put(specimen()), put(_session(clock, 10, visits=9), when=Missing())])
        assert store.get(HERE).visits == 9

    def test_an_end_may_be_moved_and_taken_away(self, store: Store, clock: FrozenClock) -> None:
        store.put(_session(clock, 10))
        end = int(clock.now().timestamp()) + 20
        store.patch(HERE, the(Session.ends_at).set(end))
        clock.advance(timedelta(seconds=15))
        assert store.get(HERE).ends_at == end
        store.patch(HERE, the(Session.ends_at).remove())
        clock.advance(timedelta(days=1))
        assert store.get(HERE).ends_at is None

    def test_ended_records_leave_no_holes_in_pages(self, store: Store, clock: FrozenClock) -> None:
        store.put_many([_session(clock, None if n % 7 == 0 else 10, f"{n:03d}", device="d") for n in range(50)])
        clock.advance(timedelta(seconds=10))
        left = [f"{n:03d}" for n in range(0, 50, 7)]
        for size in (1, 3, 8, 100):
            assert [s.session_id for s in by_pages(store, Session.by_user(user="u"), size)] == left
            assert [s.session_id for s in by_pages(store, Session.by_device(device="d").reversed(), size)] == left[::-1]

    def test_the_reaper_removes_what_has_ended_and_nothing_else(
        self, store: Store, engine: Engine, clock: FrozenClock
    ) -> None:
        store.put_many([_session(clock, n if n else None, f"{n}") for n in range(10)])
        clock.advance(timedelta(seconds=5))
        removed = engine.expire(SUITE.shapes, now=clock.now())
        assert removed == (0 if engine.features.native_expiry else 5)
        assert engine.expire(SUITE.shapes, now=clock.now()) == 0
        assert [s.session_id for s in store.find(Session.by_user(user="u"))] == ["0", "6", "7", "8", "9"]

    def test_the_reaper_stops_at_its_limit(self, store: Store, engine: Engine, clock: FrozenClock) -> None:
        store.put_many([_session(clock, 1, f"{n}") for n in range(10)])
        clock.advance(timedelta(seconds=5))
        wanted = [0, 0, 0] if engine.features.native_expiry else [4, 4, 2]
        assert [engine.expire(SUITE.shapes, now=clock.now(), limit=4) for _ in range(3)] == wanted
