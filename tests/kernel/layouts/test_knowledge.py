"""Every writer is known with the edition it goes by; nobody goes by another before all carry along what is new."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Unavailable
from penstock.kernel.layouts.knower import FRESH, HELD, LONGEST_REQUEST, Knower
from penstock.kernel.layouts.knower_watch import KnowerWatch
from penstock.kernel.layouts.stored_layout import EDITION
from penstock.operations.reads import Ref
from penstock.ports.engine import Engine
from tests.beneath import beneath
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

TITLE: dict[str, Any] = {"title": str}


@pytest.fixture
def old() -> Declared:
    return film()


@pytest.fixture
def new() -> Declared:
    return film({**TITLE, "note": str | None}, defaults={"note": None})


def _knowers(store: Store) -> list[Knower]:
    return list(store.find(Knower.everywhere()))


def _told(store: Store) -> Knower:
    (found,) = [k for k in _knowers(store) if k.process == store.engine.knowledge.process]  # type: ignore[attr-defined]
    return found


def test_a_writer_is_known_before_it_writes_and_a_reader_is_not(another: OpenStore, old: Declared) -> None:
    store = ensured(another, old)
    store.close()
    reader, writer = another(), another()
    assert reader.lookup(old.at(film_id="a")) is None
    assert _knowers(reader) == []
    writer.put(old(film_id="a", title="t"))
    assert [k.edition for k in _knowers(reader)] == [reader.get(EDITION).number]


def test_it_tells_so_again_while_it_goes_on_and_not_for_each_write(
    another: OpenStore, old: Declared, clock: FrozenClock
) -> None:
    store = ensured(another, old)
    before = _told(store).renewed
    for _ in range(3):
        store.put(old(film_id="a", title="t"))
    assert _told(store).renewed == before
    clock.advance(timedelta(seconds=FRESH))
    store.put(old(film_id="a", title="t"))
    assert _told(store).renewed == before + 1


def test_ensuring_what_there_is_tells_nothing_anew(another: OpenStore, old: Declared) -> None:
    store = ensured(another, old)
    before = _told(store)
    assert store.ensure(cinema(old)) == []
    assert _told(store) == before


def test_who_closes_is_known_no_more(another: OpenStore, old: Declared) -> None:
    store, other = ensured(another, old), another()
    assert len(_knowers(other)) == 1
    store.close()
    assert _knowers(other) == []


def test_a_store_without_tables_for_it_is_written_to_as_it_is(another: OpenStore, old: Declared) -> None:
    store = another()
    store.engine.ensure(old.__domain__.shapes)
    store.put(old(film_id="a", title="t"))
    assert store.get(old.at(film_id="a")).title == "t"


def test_what_grows_waits_for_a_writer_that_knows_less_until_it_is_over(
    another: OpenStore, old: Declared, new: Declared, clock: FrozenClock
) -> None:
    """A process that is gone tells nothing more, and is waited for as long as it might have gone on."""
    store = ensured(another, old)
    gone = Knower(process="gone", edition=1, renewed=1, place="elsewhere 1", declares={}, ttl=2**33)
    beneath(store).commit([_put(gone)], now=clock.now(), token="t")
    began = clock.monotonic()
    store.ensure(cinema(new))
    assert HELD + LONGEST_REQUEST < clock.monotonic() - began < HELD + LONGEST_REQUEST + 2
    began = clock.monotonic()
    store.ensure(cinema(film({**TITLE, "note": str | None, "more": int}, defaults={"note": None, "more": 1})))
    assert clock.monotonic() - began > HELD  # whoever watches anew has seen nothing of it yet


def test_what_grows_waits_for_nobody_who_knows_it(another: OpenStore, old: Declared, new: Declared) -> None:
    store, other = ensured(another, old), another()
    other.put(old(film_id="a", title="t"))
    began = store.clock.monotonic()
    store.ensure(cinema(new))
    assert store.clock.monotonic() == began


def test_a_write_that_has_not_ended_holds_the_edition_it_goes_by(
    another: OpenStore, old: Declared, new: Declared, clock: FrozenClock
) -> None:
    store, other = ensured(another, old), another()
    within, may_end = threading.Event(), threading.Event()
    engine = beneath(store)
    commit = engine.commit

    def slow(writes: Sequence[Any], **options: Any) -> None:
        if threading.current_thread().name == "slow":
            within.set()
            assert may_end.wait(60)
        commit(writes, **options)

    engine.commit = slow
    writer = threading.Thread(target=lambda: store.put(old(film_id="a", title="t")), name="slow")
    writer.start()
    assert within.wait(60)
    before, told = store.get(EDITION).number, _told(store).renewed
    done = threading.Event()

    def grow() -> None:
        other.ensure(cinema(new))
        done.set()

    growing = threading.Thread(target=grow, name="growing")
    watch = KnowerWatch(beneath(other), _Patient(clock, done))
    growing.start()
    try:
        _until(lambda: other.get(EDITION).number > before)
        _until(lambda: _told(store).renewed > told + 1)  # it has learned of the new edition, and told so
        assert _told(store).edition == before
        assert store.engine.knowledge.process in {k.process for k in watch.behind(before + 1)}  # type: ignore[attr-defined]
        assert not done.is_set()
    finally:
        may_end.set()
    writer.join(60)
    growing.join(60)
    assert done.is_set()


class _Patient:
    """A clock whose sleeping is real, and lets no time pass."""

    def __init__(self, clock: FrozenClock, done: threading.Event) -> None:
        self.skew, self.now, self.monotonic, self._done = clock.skew, clock.now, clock.monotonic, done

    def sleep(self, seconds: float) -> None:
        self._done.wait(0.01)


def _until(holds: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(3000):
        if holds():
            return
        waiting.wait(0.01)
    raise AssertionError("it never came to be")


def test_a_store_that_is_away_for_a_moment_is_gone_on_with_and_not_for_longer(
    another: OpenStore, old: Declared, clock: FrozenClock
) -> None:
    store = ensured(another, old)
    engine = beneath(store)
    get, commit = engine.get, engine.commit

    def away_get(refs: Sequence[Ref[Any]], **options: Any) -> Any:
        if any(ref.shape is EDITION.shape for ref in refs):
            raise Unavailable("away")
        return get(refs, **options)

    def away_commit(writes: Sequence[Any], **options: Any) -> None:
        if any(w.shape is Knower.__shape__ for w in writes):
            raise Unavailable("away")
        commit(writes, **options)

    engine.get, engine.commit = away_get, away_commit
    clock.advance(timedelta(seconds=FRESH))
    store.put(old(film_id="a", title="t"))
    assert store.get(old.at(film_id="a")).title == "t"
    clock.advance(timedelta(seconds=HELD))
    with pytest.raises(Unavailable):
        store.put(old(film_id="a", title="u"))
    with pytest.raises(Unavailable):
        store.get(old.at(film_id="a"))
    engine.get, engine.commit = get, commit
    assert store.get(old.at(film_id="a")).title == "t"


def _put(record: Any) -> Any:
    from penstock.kernel.handle import put

    return put(record)


def test_a_scoped_handle_goes_by_the_knowledge_of_its_store(
    open_engine: Callable[[], Engine], another: OpenStore
) -> None:
    owned: dict[str, Any] = {"project_id": str, "title": str}
    old = film(owned, keys=("FILM#{film_id}", "{project_id}"))
    new = film({**owned, "note": str | None}, keys=("FILM#{film_id}", "{project_id}"), defaults={"note": None})
    before, after = ensured(another, old), ensured(another, new)
    after.put(new(film_id="a", project_id="p", title="t", note="n"))
    before.scoped("p", enforce=False).put(old(film_id="a", project_id="p", title="u"))
    kept = after.scoped("p", enforce=False).get(new.at(film_id="a", project_id="p"))
    assert kept == new(film_id="a", project_id="p", title="u", note="n")
