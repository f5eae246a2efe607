"""No session and no place of one is lost, whoever comes, goes or fails in the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from penstock.engines.sql import session_pool
from penstock.engines.sql.isolation import TENANT
from penstock.engines.sql.session import Session
from penstock.engines.sql.session_pool import SessionPool
from tests.engines.sql.test_session_pool import Opened


@pytest.fixture
def opened() -> Opened:
    return Opened()


def test_one_that_somebody_takes_in_the_moment_it_is_found_old_stays_theirs(opened: Opened) -> None:
    now = [0.0]
    taken: list[Session] = []

    class Contested(list[Session]):
        def remove(self, session: Session) -> None:
            if session is second:
                taken.extend((pool.take(None), pool.take(None)))
            super().remove(session)

    pool = SessionPool(opened, most=3, rest=60.0, now=lambda: now[0])
    first, second, third = (pool.take(None) for _ in range(3))
    pool._resting[None] = Contested()
    pool.keep(first, None)
    pool.keep(second, None)
    now[0] = 61.0
    pool.keep(third, None)
    assert taken == [third, second]
    assert [line.ended for line in opened.lines] == [True, False, False]
    assert pool.count == 2


def test_one_that_cannot_even_be_closed_leaves_its_place_to_the_next(opened: Opened) -> None:
    pool = SessionPool(opened, most=1, patience=0.01)
    for give_up in (pool.lose, lambda stuck: pool.replace(stuck, None)):
        stuck = pool.take(None)
        opened.lines[-1].is_stuck = True
        with pytest.raises(OSError, match="cannot be closed"):
            give_up(stuck)
        assert pool.count == 0


def wait_until(monkeypatch: pytest.MonkeyPatch, last_moment: Callable[[], bool]) -> None:
    """Whoever waits next does so until its last moment, in which something happens."""

    class Last(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            monkeypatch.undo()
            return last_moment()

    monkeypatch.setattr(session_pool, "Event", Last)


@pytest.mark.parametrize("given", ["nothing", "a session", "a place"])
def test_whoever_is_interrupted_while_waiting_keeps_nothing_from_others(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    pool = SessionPool(opened, most=1, patience=0.01)
    only = pool.take(TENANT)

    def interrupted() -> bool:
        if given == "a session":
            pool.keep(only, TENANT)
        elif given == "a place":
            pool.lose(only)
        raise KeyboardInterrupt

    wait_until(monkeypatch, interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool.take(None)
    if given == "nothing":
        pool.keep(only, TENANT)
    assert pool.take(None).role is None, "one of a project is never taken for one of all"
    assert (pool.count, opened.count) == (1, 1)


def test_whoever_is_called_in_the_moment_in_which_patience_ends_has_a_session(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = SessionPool(opened, most=1, patience=0.01)
    only = pool.take(None)

    def late() -> bool:
        pool.keep(only, None)
        return False

    wait_until(monkeypatch, late)
    assert pool.take(None) is only
