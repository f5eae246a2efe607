"""The rate at which one may send: nothing is held back until a service refuses, and not for ever then."""

from __future__ import annotations

import pytest

from penstock.net.send_rate import SendRate


class Time:
    """A clock that moves while somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


def sent(rate: SendRate, time: Time, calls: int, *, each: float = 0.0) -> float:
    """How long so many calls take, each of which takes a while itself."""
    begun = time.now
    for _ in range(calls):
        rate.wait()
        time.now += each
    return time.now - begun


def test_nothing_is_held_back_until_a_call_is_refused() -> None:
    time = Time()
    sent(SendRate(sleep=time.sleep, now=time), time, 10_000)
    assert time.slept == 0


def test_after_a_refusal_calls_are_spread_below_the_rate_that_was_refused() -> None:
    """VM-24: adaptive."""
    time = Time()
    rate = SendRate(sleep=time.sleep, now=time)
    sent(rate, time, 64, each=0.01)
    rate.refused()
    assert rate.rate == pytest.approx(70, rel=0.05)
    assert sent(rate, time, 60) > 0.6
    rate.refused()
    assert (rate.rate or 0) < 70, "refused again, it is less"


def test_the_rate_grows_back_and_is_forgotten() -> None:
    time = Time()
    rate = SendRate(sleep=time.sleep, now=time)
    sent(rate, time, 64, each=0.01)
    rate.refused()
    rates = []
    while (now := rate.rate) is not None:
        rates.append(now)
        time.now += 0.5
    assert rates == sorted(rates)
    assert time.now - 100 < 60
    time.slept = 0
    sent(rate, time, 1000)
    assert time.slept == 0


def test_one_who_seldom_calls_waits_for_a_tenth_of_a_second_at_most() -> None:
    time = Time()
    rate = SendRate(sleep=time.sleep, now=time)
    for _ in range(5):
        time.now += 60
        rate.wait()
        rate.refused()
        rate.wait()
    assert time.slept <= 0.5
