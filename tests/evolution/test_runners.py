"""One process migrates an entity at a time; what cannot be migrated is said, and why."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest

from penstock import Formerly, FrozenClock, Retyped, Store, attribute
from penstock.errors import LayoutMismatch
from penstock.evolution.migration import Migration, MigrationProgress
from penstock.evolution.migration_turn import MigrationTurn, TurnLost
from penstock.evolution.pending import pending_migrations
from penstock.kernel.layouts.knower import HELD, LONGEST_REQUEST
from penstock.kernel.lease import NamedLease
from tests.beneath import beneath
from tests.evolution.proof.interleaved import as_another_process
from tests.kernel.layouts.conftest import OpenStore, ensured
from tests.kernel.layouts.films import Declared, cinema, film

WORD = Annotated[str, Retyped(was=str, forward=str.upper, back=str.lower)]
WORDS = {"author": attribute("word", column="word")}
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


def test_a_runner_that_is_heard_of_no_more_is_relieved_and_goes_no_further(
    store: Store, another: OpenStore, clock: FrozenClock
) -> None:
    old = film({"stars": int})
    exact = Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)]
    new = film({"stars": exact}, defaults={"stars": attribute("exact", column="exact")})
    ensured(another, old).put_many([old(film_id=str(n), stars=1) for n in range(20)])
    after = ensured(another, new)

    def stand_still(told: MigrationProgress) -> None:
        if told.stage == "filling" and told.looked_at < 20:
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
    """It still had its turn when it looked; what others have written since is newer than what it has read."""
    old, new = _sides() if is_copy else (film({"author": str}), film({"author": WORD}, defaults=WORDS))
    name = "writer" if is_copy else "author"
    _stand(ensured(another, old), old)
    after, stalls = ensured(another, new), [False]
    keep = MigrationTurn.keep

    def keep_and_stand_still(turn: MigrationTurn) -> None:
        keep(turn)
        if stalls[0]:
            stalls[0] = False
            clock.advance(timedelta(minutes=10))
            assert Migration(another(), new.__shape__, segments=1, shut_out=True).run().stage == "complete"
            another().put_many([new(film_id=str(n), **{name: "newer"}) for n in range(20)])

    def begin_to_stall(told: MigrationProgress) -> None:
        stalls[0] = told.stage == "filling" and told.looked_at < 20

    monkeypatch.setattr(MigrationTurn, "keep", keep_and_stand_still)
    with pytest.raises(TurnLost, match="another process"):
        Migration(after, new.__shape__, segments=1, page=1, shut_out=True, tell=begin_to_stall).run()
    page = beneath(after).scan(new.__shape__)
    assert {getattr(found.record, name) for found in page.found} == {"newer"}


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
