"""One process migrates an entity at a time; what cannot be migrated is said, and why."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest

from penstock import Formerly, FrozenClock, Retyped, Store, attribute
from penstock.errors import LayoutMismatch
from penstock.evolution.backfill import Backfill
from penstock.evolution.migration import Migration, MigrationProgress
from penstock.evolution.migration_turn import MigrationTurn, TurnLost
from penstock.evolution.pending import pending_migrations
from penstock.kernel.layouts.knower import HELD, LONGEST_REQUEST
from penstock.kernel.layouts.layout_register import LayoutRegister
from penstock.kernel.layouts.migration_segment import MigrationSegment
from penstock.kernel.lease import NamedLease
from penstock.operations.validation import prepare
from penstock.operations.writes import Put
from tests.beneath import beneath
from tests.evolution.proof.interleaved import as_another_process
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

EXACT = Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)]
ELSEWHERE = {"stars": attribute("exact", column="exact")}
LEASE = NamedLease.at(name="migration of cinema.Film")


def _sides() -> tuple[Declared, Declared]:
    return film({"author": str}), film({"writer": Annotated[str, Formerly("author")]})


def _stand(store: Store, declared: Declared) -> None:
    store.put_many([declared(film_id=str(n), author="a") for n in range(20)])


def test_a_second_runner_says_who_is_at_it_and_waits(store: Store, another: OpenStore) -> None:
    old, new = _sides()
    _stand(ensured(another, old), old)
    after = ensured(another, new)
    heard: list[MigrationProgress] = []
    seconds: list[Any] = []

    class Enough(Exception):
        pass

    def listen(told: MigrationProgress) -> None:
        heard.append(told)
        raise Enough

    def start_another(told: MigrationProgress) -> None:
        if not seconds:
            seconds.append(another().get(LEASE).lease_owner)
            with pytest.raises(Enough):
                Migration(another(), new.__shape__, tell=listen).run()

    done = Migration(after, new.__shape__, segments=1, page=7, tell=start_another).run()
    assert (done.stage, done.looked_at) == ("complete", 20)
    (told,) = heard
    assert (told.stage, told.label) == ("waiting", "cinema.Film")
    assert str(seconds[0]) in told.detail
    assert another().get(LEASE).lease_owner is None


@pytest.mark.parametrize("stage", ["filling", "closed"])
def test_a_runner_that_is_heard_of_no_more_is_relieved_and_goes_no_further(
    store: Store, another: OpenStore, clock: FrozenClock, stage: str
) -> None:
    old = film({"stars": int})
    new = film({"stars": EXACT}, defaults=ELSEWHERE)
    ensured(another, old).put_many([old(film_id=str(n), stars=1) for n in range(20)])
    after = ensured(another, new)

    def stand_still(told: MigrationProgress) -> None:
        if told.stage == stage and told.looked_at < 20:
            clock.advance(timedelta(minutes=10))
            second = Migration(another(), new.__shape__, segments=1, page=7, shut_out=True)
            assert second.run().stage == "complete"
            another().put_many([new(film_id=str(n), stars=Decimal("2.5")) for n in range(20)])

    with pytest.raises(LayoutMismatch, match="another process"):
        Migration(after, new.__shape__, segments=1, page=7, shut_out=True, tell=stand_still).run()
    assert {after.get(new.at(film_id=str(n))).stars for n in range(20)} == {Decimal("2.5")}


@pytest.mark.parametrize("is_copy", [True, False])
def test_a_runner_that_stands_still_right_before_it_writes_writes_nothing(
    store: Store, another: OpenStore, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, is_copy: bool
) -> None:
    """It still had its turn when it looked; what others have written since is newer than what it goes by."""
    old, new = _sides() if is_copy else (film({"stars": int}), film({"stars": EXACT}, defaults=ELSEWHERE))
    was, value = ("writer", "newer") if is_copy else ("stars", Decimal("2.5"))
    before = ensured(another, old)
    before.put_many([old(film_id=str(n), **({"author": "a"} if is_copy else {"stars": 1})) for n in range(20)])
    after, stalls, keep = ensured(another, new), [False], MigrationTurn.keep

    def keep_and_stand_still(turn: MigrationTurn) -> None:
        keep(turn)
        if stalls[0]:
            stalls[0] = False
            clock.advance(timedelta(minutes=10))
            assert Migration(another(), new.__shape__, segments=1, shut_out=True).run().stage == "complete"
            another().put_many([new(film_id=str(n), **{was: value}) for n in range(20)])

    def begin_to_stall(told: MigrationProgress) -> None:
        stalls[0] = told.stage == "filling" and told.looked_at < 20

    monkeypatch.setattr(MigrationTurn, "keep", keep_and_stand_still)
    with pytest.raises(TurnLost, match="another process"):
        Migration(after, new.__shape__, segments=1, page=1, shut_out=True, tell=begin_to_stall).run()
    assert {getattr(found.record, was) for found in beneath(after).scan(new.__shape__).found} == {value}
    assert list(after.find(MigrationSegment.of_migration(label="cinema.Film"))) == []


def test_a_runner_that_stands_still_before_it_notes_how_far_it_is_notes_nothing(
    store: Store, another: OpenStore, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next migration of the entity would begin with that note, and pass over records."""
    old, new = _sides()
    _stand(ensured(another, old), old)
    after, fill, stalls = ensured(another, new), Backfill.fill, [True]

    def fill_and_stand_still(self: Backfill, *given: Any, **options: Any) -> Any:
        page = fill(self, *given, **options)
        if stalls.pop() if stalls else False:
            clock.advance(timedelta(minutes=10))
            assert Migration(another(), new.__shape__, segments=1).run().stage == "complete"
        return page

    monkeypatch.setattr(Backfill, "fill", fill_and_stand_still)
    with pytest.raises(TurnLost, match="another process"):
        Migration(after, new.__shape__, segments=1).run()
    assert list(after.find(MigrationSegment.of_migration(label="cinema.Film"))) == []


def test_what_another_has_finished_is_not_told_to_be_damaged(
    store: Store, another: OpenStore, clock: FrozenClock
) -> None:
    """What is written by then has nothing at the former place, where one that stood still goes on looking."""
    old, new = film({"stars": int}), film({"stars": EXACT}, defaults=ELSEWHERE)
    ensured(another, old).put_many([old(film_id=str(n), stars=1) for n in range(3)])
    after, stalls = ensured(another, new), [False]
    engine = beneath(after)
    scan = engine.scan

    def stand_still(*args: Any, **options: Any) -> Any:
        if stalls[0]:
            stalls[0] = False
            clock.advance(timedelta(minutes=10))
            assert Migration(another(), new.__shape__, segments=1, shut_out=True).run().stage == "complete"
            another().put(new(film_id="late", stars=Decimal("2.5")))
        return scan(*args, **options)

    def begin_to_stall(told: MigrationProgress) -> None:
        stalls[0] = told.stage == "closed"

    engine.scan = stand_still
    with pytest.raises(TurnLost, match="another process"):
        Migration(after, new.__shape__, segments=1, shut_out=True, tell=begin_to_stall).run()
    assert after.get(new.at(film_id="late")).stars == Decimal("2.5")


def test_records_that_somebody_keeps_writing_as_before_are_told(store: Store, another: OpenStore) -> None:
    """They are on the first page, and all of the last are as they should be."""
    old, new = film({"stars": int}), film({"stars": EXACT}, defaults=ELSEWHERE)
    before = ensured(another, old)
    before.put_many([old(film_id=f"{n:02d}", stars=1) for n in range(20)])
    after, unaware = ensured(another, new), beneath(another())
    engine, shape, turns = beneath(after), old.__shape__, [0]
    scan = engine.scan

    def write_before(*args: Any, **options: Any) -> Any:
        page = scan(*args, **options)
        if options["after"] is None and page.found:
            turns[0] += 1
            first = page.found[0].record.film_id
            put = Put(shape, prepare(shape, old(film_id=first, stars=turns[0]).__dict__))
            unaware.commit([put], now=after.clock.now(), token=f"{turns[0]:032d}")
            page = scan(*args, **options)
        return page

    engine.scan = write_before
    with pytest.raises(LayoutMismatch, match=r"cinema\.Film: records fall behind.* run `penstock migrate` again"):
        Migration(after, new.__shape__, segments=1, page=1, shut_out=True).run()
    engine.scan = scan
    assert Migration(after, new.__shape__, segments=1, shut_out=True).run().stage == "complete"
    assert {after.get(new.at(film_id=f"{n:02d}")).stars for n in range(20)} == {Decimal(1), Decimal(turns[0])}


def test_what_a_store_remembers_is_not_asked_for_with_every_record(
    store: Store, another: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = film({"stars": int}), film({"stars": EXACT}, defaults=ELSEWHERE)
    ensured(another, old).put_many([old(film_id=str(n), stars=1) for n in range(100)])
    after, read, asked = ensured(another, new), LayoutRegister.read, list[object]()

    def count(register: LayoutRegister, *args: Any) -> Any:
        asked.append(args)
        return read(register, *args)

    monkeypatch.setattr(LayoutRegister, "read", count)
    assert Migration(after, new.__shape__, segments=1, shut_out=True).run().written == 100
    assert len(asked) < 50


def test_what_cannot_be_migrated_is_not_passed_over(store: Store, another: OpenStore) -> None:
    old, new = film({"author": str}), film({"author": int})
    _stand(ensured(another, old), old)
    after = ensured(another, new)
    (pending,) = pending_migrations(after, [cinema(new)])
    assert not pending.is_to_be_done
    assert "cinema.Film cannot be migrated" in str(pending.refused)
    assert "Retyped" in str(pending.refused)


def test_a_process_that_died_is_waited_for_once(store: Store, another: OpenStore, clock: FrozenClock) -> None:
    """Each stage waited for it anew, a minute each."""
    old, new = _sides()
    dead = as_another_process(ensured(another, old))
    _stand(dead, old)
    after = ensured(another, new)
    begun = clock.monotonic()
    assert Migration(after, new.__shape__, segments=1).run().stage == "complete"
    assert HELD + LONGEST_REQUEST < clock.monotonic() - begun < 2 * LONGEST_REQUEST
