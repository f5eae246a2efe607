"""The full cast by chance: a few schedules each time, and twenty thousand on long runs."""

from __future__ import annotations

import pytest

from penstock.testing.simulation import simulate
from tests.simulation.full_cast import full_cast


def test_some_schedules_of_the_full_cast() -> None:
    assert simulate(full_cast(), schedules=15).schedules == 15


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(4))
def test_twenty_thousand_schedules_of_the_full_cast(part: int) -> None:
    assert simulate(full_cast(), schedules=5000, seed=100_000 * (part + 1)).schedules == 5000
