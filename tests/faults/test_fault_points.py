"""The fault points that others use with their servers."""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest

from penstock.ports.clock import SystemClock
from penstock.testing.faults import Blade, Killed, SettableClock
from tests.forked import forked


def test_a_clock_is_set_and_goes_on() -> None:
    clock, real = SettableClock(), SystemClock()
    passed = clock.monotonic()
    clock.set_by(timedelta(days=1))
    clock.set_by(timedelta(hours=-2))
    ahead = clock.now() - real.now()
    assert timedelta(hours=22) - ahead < timedelta(seconds=5)
    assert clock.monotonic() - passed < 5


def test_a_blade_ends_a_process_before_one_of_its_writes_and_for_good() -> None:
    written: list[int] = []
    blade = Blade(at=2)
    cut = blade.cut(written, "append")
    cut.append(1)
    for _ in range(2):
        with pytest.raises(Killed):
            cut.append(2)
    assert (written, blade.dead, blade.writes) == ([1], True, 2)


def test_a_real_one_kills() -> None:
    cut = Blade(at=1, real=True).cut([], "append")
    assert forked(lambda: cut.append(1)) == -signal.SIGKILL
