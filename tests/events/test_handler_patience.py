"""How long one waits for a handler that fails for a part of the system which is there for everybody else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.errors import STORE, Unavailable
from penstock.events.handler_patience import HandlerPatience
from penstock.kernel.outages import outages_of
from penstock.schema.kinds import instant_text

AWAY = Unavailable("this one statement is never answered", part=STORE)


def test_whoever_comes_later_makes_all_the_tries_before_it_believes_what_is_written(
    store: Store, clock: FrozenClock
) -> None:
    patience = HandlerPatience(store, least=3)
    long_ago = {"hear": instant_text(clock.now() - timedelta(hours=2), 6)}
    for _ in range(2):
        assert [patience.waits("hear", AWAY, long_ago) is long_ago for _ in range(3)] == [True, True, False]
        begun = patience.waits("hear", AWAY, {})
        assert begun == {"hear": instant_text(clock.now(), 6)}, "and makes them anew after a success"


def test_a_moment_that_a_wrong_clock_has_written_down_holds_nobody_up(store: Store, clock: FrozenClock) -> None:
    patience = HandlerPatience(store, least=1)
    wrong = {"hear": instant_text(clock.now() + timedelta(days=30), 6), "other": "2037-01-01T00:00:00Z"}
    known = patience.waits("hear", AWAY, wrong)
    assert known == {**wrong, "hear": instant_text(clock.now(), 6)}
    clock.advance(timedelta(hours=1))
    assert patience.waits("hear", AWAY, known) is None
    assert patience.succeeded("hear", known) == {"other": wrong["other"]}


def test_a_part_that_is_away_or_that_nobody_can_ask_is_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent() -> None:
        raise Unavailable("nobody is there")

    patience, known = HandlerPatience(store, least=1), dict[str, str]()
    assert patience.waits("hear", Unavailable("no answer", part="the moon"), known) is known
    monkeypatch.setattr(outages_of(store).store, "probe", silent)
    assert patience.waits("hear", AWAY, known) is known, "it is asked at the first failure"
