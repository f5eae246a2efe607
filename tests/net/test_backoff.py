"""How long to wait after failures; nothing here waits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import penstock
from penstock.net import backoff as one_place
from penstock.net.backoff import Backoff, Patience, RetryBudget


def test_pauses_grow_to_the_longest_and_no_further() -> None:
    backoff = Backoff(first=0.025, longest=2.0)
    assert [backoff.bound(n) for n in range(1, 9)] == [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0]
    assert backoff.bound(10**9) == 2.0


@pytest.mark.parametrize(("jitter", "pauses"), [(1.0, [0.0, 1.0, 2.0]), (0.5, [1.0, 1.5, 2.0]), (0.0, [2.0] * 3)])
def test_chance_decides_over_its_share_of_a_pause(jitter: float, pauses: list[float]) -> None:
    backoff = Backoff(first=1.0, longest=60.0, jitter=jitter)
    assert [backoff.pause(2, lambda drawn=drawn: drawn) for drawn in (0.0, 0.5, 1.0)] == pauses  # type: ignore[misc]


def test_patience_is_a_time_and_not_a_number_of_tries() -> None:
    slept: list[float] = []
    patience = Patience(Backoff(first=0.5, longest=2.0), 10.0, sleep=slept.append, chance=lambda: 1.0)
    while patience.wait():
        pass
    assert slept == [0.5, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0]
    assert not patience.wait()


def test_a_budget_is_drawn_filled_and_bounded() -> None:
    budget = RetryBudget(12)
    assert budget.take(10)
    assert not budget.take(5)
    budget.give(1)
    assert budget.left == 3
    budget.give(100)
    assert budget.left == 12


def test_there_is_one_back_off() -> None:
    """Powers of two of a count of failures, and pauses that are doubled, are written nowhere else."""
    growing = re.compile(r"2(\.0)? ?\*\* ?\(?\w*(attempt|retry|round|failure|doubling|tries)|[Pp]ause\w* \*=? ?2")
    source = Path(penstock.__file__).parent
    found = [path for path in source.rglob("*.py") if growing.search(path.read_text())]
    assert [path for path in found if path != Path(one_place.__file__)] == []
