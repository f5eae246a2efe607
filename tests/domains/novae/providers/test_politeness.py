"""So many requests a second and at once to one host, whoever asks."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from penstock.domains.novae.providers.politeness import Politeness
from penstock.work.errors import PutOff, RetryLater


class Time:
    """Moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def polite(self, per_second: float = 2.0, at_once: int = 2, *, alone: bool = True) -> Politeness:
        return Politeness(
            per_second=per_second,
            at_once=at_once,
            alone=alone,
            patience=timedelta(seconds=5),
            sleep=self.sleep,
            monotonic=lambda: self.now,
        )


def test_requests_are_spread_to_the_rate() -> None:
    time = Time()
    polite = time.polite()
    for _ in range(4):
        with polite.turn("a.example"):
            pass
    assert time.slept == pytest.approx([0.5, 0.5, 0.5])


def test_hosts_are_counted_apart_and_alike_however_they_are_written() -> None:
    time = Time()
    polite = time.polite()
    for host in ("a.example", "b.example", "A.Example"):
        with polite.turn(host):
            pass
    assert time.slept == pytest.approx([0.5])


def test_whoever_would_wait_for_long_is_put_off_and_takes_no_turn() -> None:
    time = Time()
    polite = time.polite(per_second=0.1)
    with polite.turn("a.example"):
        pass
    for _ in range(2):
        with pytest.raises(PutOff) as raised, polite.turn("a.example"):
            pass
        assert raised.value.after == timedelta(seconds=10)
    assert time.slept == []


def test_a_host_that_asks_for_a_pause_gets_it_from_everybody() -> None:
    time = Time()
    polite = time.polite()
    with pytest.raises(RetryLater), polite.turn("a.example"):
        raise RetryLater("429", after=timedelta(seconds=60))
    with pytest.raises(PutOff) as raised, polite.turn("a.example"):
        pass
    assert raised.value.after == timedelta(seconds=60)
    time.now += 58
    with polite.turn("a.example"):
        pass
    assert time.slept == pytest.approx([2.0])


def test_all_of_a_process_share_what_they_know_of_a_host() -> None:
    time = Time()
    one, other = time.polite(alone=False), time.polite(alone=False)
    for polite in (one, other):
        with polite.turn("shared.of-this-test.example"):
            pass
    assert time.slept == pytest.approx([0.5])


def test_no_more_are_at_a_host_at_once_than_may_be() -> None:
    polite = Politeness(per_second=10_000, at_once=2, alone=True, patience=timedelta(seconds=10))
    here, most, lock, two = [0], [0], threading.Lock(), threading.Barrier(2)

    def visit() -> None:
        with polite.turn("a.example"):
            with lock:
                here[0] += 1
                most[0] = max(most[0], here[0])
            two.wait(10)  # nobody leaves before two are in, so two at once are certain
            with lock:
                here[0] -= 1

    visitors = [threading.Thread(target=visit) for _ in range(8)]
    for each in visitors:
        each.start()
    for each in visitors:
        each.join(20)
    assert most == [2]
    assert here == [0]


def test_a_place_that_does_not_get_free_is_not_waited_for_without_end() -> None:
    polite = Politeness(per_second=10_000, at_once=1, alone=True, patience=timedelta(seconds=0.01))
    with polite.turn("a.example"), pytest.raises(PutOff, match="under way"), polite.turn("a.example"):
        pass
    with polite.turn("a.example"):
        pass
