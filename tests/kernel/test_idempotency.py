"""Once: the first caller works, the others get its answer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import FrozenClock, Store
from penstock.errors import Conflict
from penstock.kernel import idempotency
from penstock.kernel.idempotency import (
    Claim,
    InProgress,
    KeyReused,
    Once,
    Replay,
    SystemOnce,
    begin,
    new_id,
    once_key,
    seize,
)
from penstock.kernel.lease import LeaseLost, NamedLease, take_named
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.schema.shape import Rights

MINUTE = timedelta(minutes=1)


@pytest.fixture
def kept(open_engine: Callable[[], Engine], clock: FrozenClock) -> Store:
    store = Store(open_engine(), clock=clock)
    store.ensure()
    return store


def asked(store: Store, body: str = "body", key: str = "k") -> SystemOnce:
    now = store.clock.now()
    return SystemOnce(
        idempotency_key=key, fingerprint=body, created_at=now, ttl=int((now + timedelta(days=1)).timestamp())
    )


def turn_of(outcome: Claim | Replay) -> Claim:
    assert isinstance(outcome, Claim)
    return outcome


def test_the_second_caller_gets_the_first_answer(kept: Store) -> None:
    """AC-40, F-AC-4."""
    claim = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    kept.commit([claim.done({"id": 7})])
    assert begin(kept, asked(kept), owner="b", period=MINUTE) == Replay({"id": 7})


def test_while_it_is_being_done_others_are_told_so(kept: Store) -> None:
    begin(kept, asked(kept), owner="a", period=MINUTE)
    with pytest.raises(InProgress):
        begin(kept, asked(kept), owner="b", period=MINUTE)


def test_another_body_under_the_same_key_is_refused(kept: Store) -> None:
    claim = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    kept.commit([claim.done(None)])
    with pytest.raises(KeyReused):
        begin(kept, asked(kept, "another"), owner="b", period=MINUTE)


def test_whoever_takes_over_makes_the_same_ids(kept: Store, clock: FrozenClock) -> None:
    first = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    clock.advance(MINUTE)
    second = turn_of(begin(kept, asked(kept), owner="b", period=MINUTE))
    assert second.id_for("film") == first.id_for("film") != second.id_for("poster")
    other = turn_of(begin(kept, asked(kept, key="other"), owner="b", period=MINUTE))
    assert other.id_for("film") != first.id_for("film")
    assert new_id(None, "film") != new_id(None, "film")
    assert {new_id(claim, "film").version for claim in (first, None)} == {4}, "nobody can tell one from the other"


def test_a_claim_knows_that_a_change_has_ended_it(kept: Store) -> None:
    claims = [turn_of(begin(kept, asked(kept, key=key), owner="a", period=MINUTE)) for key in "xyz"]
    with kept.change(once=claims[0]):
        assert not claims[0].ended
    with kept.batch() as batch:
        for claim in claims[1:]:
            with batch.change(once=claim):
                pass
    assert [claim.ended for claim in claims] == [True, True, True]
    with pytest.raises(Conflict), kept.change(once=claims[0]):
        pass


def test_a_failed_claim_is_taken_over(kept: Store) -> None:
    claim = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    kept.commit([claim.failed()])
    assert turn_of(begin(kept, asked(kept), owner="b", period=MINUTE)).owner == "b"


def test_what_is_done_after_a_failure_is_remembered_as_long_as_anything(kept: Store, clock: FrozenClock) -> None:
    """The failure itself was to be forgotten soon; if its end stood, the work would be done a second time."""
    failed = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    kept.commit([failed.failed(forgotten_at=int((clock.now() + MINUTE).timestamp()))])
    kept.commit([turn_of(begin(kept, asked(kept), owner="b", period=MINUTE)).done({"id": 7})])
    clock.advance(timedelta(hours=23))
    assert begin(kept, asked(kept), owner="c", period=MINUTE) == Replay({"id": 7})


def test_a_claim_whose_owner_died_is_taken_over_and_its_old_owner_ends_nothing(kept: Store, clock: FrozenClock) -> None:
    """F-AC-4: a crash after the put must not block every retry until the record expires."""
    dead = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    clock.advance(MINUTE)
    turn_of(begin(kept, asked(kept), owner="b", period=MINUTE))
    with pytest.raises(Conflict):
        kept.commit([dead.done({"from": "the dead"})])


def test_an_owner_that_was_replaced_by_its_namesake_ends_nothing(kept: Store, clock: FrozenClock) -> None:
    """F-AC-4: a process that restarts under the same name is not its former self."""
    zombie = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    clock.advance(MINUTE)
    claim = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    with pytest.raises(Conflict), kept.change(once=zombie) as change:
        change.create(NamedLease(name="of the zombie"))
    with pytest.raises(Conflict):
        kept.commit([zombie.failed()])
    kept.commit([claim.done({"id": 8})])
    assert kept.lookup(NamedLease.at(name="of the zombie")) is None
    assert begin(kept, asked(kept), owner="b", period=MINUTE) == Replay({"id": 8})


def test_the_holder_of_a_lease_takes_a_claim_at_once_and_nobody_else_does(kept: Store, clock: FrozenClock) -> None:
    leases = [take_named(kept, "all such work", owner=o, period=MINUTE) for o in ("a", "b")]
    assert leases[1] is None
    assert leases[0] is not None
    former = turn_of(begin(kept, asked(kept), owner="dead", period=MINUTE))
    claim = turn_of(seize(kept, asked(kept), owner="a", period=MINUTE, under=leases[0]))
    clock.advance(MINUTE)
    assert take_named(kept, "all such work", owner="b", period=MINUTE) is not None
    with pytest.raises(LeaseLost):
        seize(kept, asked(kept), owner="a", period=MINUTE, under=leases[0])
    with pytest.raises(Conflict):
        kept.commit([former.done(None)])
    kept.commit([claim.done({"id": 7})])
    assert seize(kept, asked(kept), owner="a", period=MINUTE, under=leases[0]) == Replay({"id": 7})


def test_the_effect_and_its_end_commit_together(kept: Store) -> None:
    claim = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    with kept.change(once=claim) as change:
        change.create(NamedLease(name="the effect"))
        change.result = {"made": True}
    assert begin(kept, asked(kept), owner="b", period=MINUTE) == Replay({"made": True})
    with pytest.raises(Conflict), kept.change(once=claim) as change:
        change.create(NamedLease(name="a second effect"))
    assert kept.lookup(NamedLease.at(name="a second effect")) is None


def test_whoever_works_for_one_project_forgets_no_claim_of_it(kept: Store) -> None:
    """Or what was done once could be done again."""
    turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    assert SystemOnce.__shape__.rights == Rights(remove=False)


def test_after_its_lifetime_the_key_is_new(kept: Store, clock: FrozenClock) -> None:
    """AC-41, F-X-2: expired is invisible at once, whether the reaper has run or not."""
    claim = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    kept.commit([claim.done({"id": 7})])
    clock.advance(timedelta(days=1))
    turn_of(begin(kept, asked(kept, "another"), owner="b", period=MINUTE))


def test_of_many_callers_exactly_one_works(kept: Store) -> None:
    def ask(number: int) -> str:
        try:
            outcome = begin(kept, asked(kept), owner=f"w{number}", period=MINUTE)
        except InProgress:
            return "waits"
        return "works" if isinstance(outcome, Claim) else "answered"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(ask, range(16)))
    assert outcomes.count("works") == 1
    assert outcomes.count("answered") == 0


@given(st.lists(st.one_of(st.text(), st.integers(-(2**60), 2**60), st.booleans(), st.none()), max_size=6).map(tuple))
def test_a_key_is_made_of_its_parts_and_nothing_else(parts: tuple[Any, ...]) -> None:
    """AC-39, F-AC-5: deterministic; joining or splitting parts makes another key."""
    clean = tuple("x" if isinstance(p, str) and ("\x00" in p or not _valid(p)) else p for p in parts)
    assert once_key(*clean) == once_key(*clean)
    assert once_key(*clean) != once_key(*clean, "")
    if len(clean) > 1:
        assert once_key(*clean) != once_key(list(clean))
    if len(set(map(repr, clean))) > 1:
        assert once_key(*clean) != once_key(*reversed(clean)) or clean == clean[::-1]


def _valid(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def test_every_part_of_the_documents_key_counts() -> None:
    """AC-39: project, asset type, step, inputs, seed, model version."""
    base = ("p", "3D_CHARACTER", "rig", {"a": 1, "b": [1, 2]}, 42, "v1")
    keys = {once_key(*base), once_key("p", "3D_CHARACTER", "rig", {"b": [1, 2], "a": 1}, 42, "v1")}
    assert len(keys) == 1, "the order of names in a map does not count"
    for position, other in enumerate(("q", "2D_SPRITE", "anim", {"a": 1, "b": [2, 1]}, 43, "v2")):
        changed = (*base[:position], other, *base[position + 1 :])
        keys.add(once_key(*changed))
    assert len(keys) == 7


def test_of_two_who_find_a_claim_over_at_the_same_moment_one_has_it(
    kept: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read the same; that somebody is at it says nothing of who."""
    begin(kept, asked(kept), owner="dead", period=MINUTE)
    clock.advance(timedelta(hours=1))
    quicker: list[Claim | Replay] = []
    looked = idempotency._is_at_it

    def look_and_be_slow(found: Once, clock: Clock) -> bool:
        over = looked(found, clock)
        if not quicker:
            monkeypatch.setattr(idempotency, "_is_at_it", looked)
            quicker.append(begin(kept, asked(kept), owner="a", period=MINUTE))
        return over

    monkeypatch.setattr(idempotency, "_is_at_it", look_and_be_slow)
    with pytest.raises(InProgress):
        begin(kept, asked(kept), owner="b", period=MINUTE)
    kept.commit([turn_of(quicker[0]).done({"by": "a"})])
    assert begin(kept, asked(kept), owner="c", period=MINUTE) == Replay({"by": "a"})


def test_a_key_that_was_forgotten_makes_other_ids_when_it_is_used_anew(kept: Store, clock: FrozenClock) -> None:
    """What was made under it may still be there."""
    first = turn_of(begin(kept, asked(kept), owner="a", period=MINUTE))
    clock.advance(timedelta(hours=1))
    again = turn_of(begin(kept, asked(kept), owner="b", period=MINUTE))
    assert new_id(first, "film") == new_id(again, "film")
    clock.advance(timedelta(days=2))
    anew = turn_of(begin(kept, asked(kept), owner="c", period=MINUTE))
    assert new_id(anew, "film") != new_id(first, "film")
