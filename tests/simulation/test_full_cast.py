"""The full cast by chance: a few schedules each time, and twenty thousand on long runs.

A schedule takes a fifth of a second, so that two cores have had half of them in some twenty minutes.
"""

from __future__ import annotations

import pytest

from penstock.testing.simulation import simulate
from tests.simulation.full_cast import full_cast

FAULTS = 8
"So many things happen at most in one schedule."
HOURS = (-1, 1)
"What is due by a clock a day ahead, or found overdue by one that is behind, takes a day: a run has three hours."


def test_some_schedules_of_the_full_cast() -> None:
    assert simulate(full_cast(), schedules=10, faults=FAULTS, hours=HOURS).schedules == 10


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(4))
def test_twenty_thousand_schedules_of_the_full_cast(part: int) -> None:
    seed = 100_000 * (part + 1)
    assert simulate(full_cast(), schedules=5000, seed=seed, faults=FAULTS, hours=HOURS).schedules == 5000
