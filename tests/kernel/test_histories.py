"""The same random history on every engine and on a plain-Python model: the same answers everywhere, at every step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.kernel.card_history import SHAPES, CardHistory
from tests.kernel.everywhere import Everywhere, open_everywhere
from tests.kernel.thing_history import ThingHistory
from tests.kernel.worlds import DOMAIN

STEPS = 60
QUICK = 3
"With the seeds below so few examples follow every rule, although one follows only some of them."
SEEDS = range(1, 21)
EXAMPLES = 34
OPERATIONS = 200_000
"So many are done on every engine by all seeds together."


@pytest.fixture(scope="module")
def everywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    with open_everywhere(request, tmp_path_factory.mktemp("everywhere"), [*SHAPES, *DOMAIN.shapes]) as opened:
        yield opened


def _run(everywhere: Everywhere, machine: type[RuleBasedStateMachine], *, number: int, max_examples: int) -> int:
    """Let histories happen; so many operations were done on every engine."""

    class Here(machine):  # type: ignore[valid-type,misc] # of its own, as it is marked
        pass

    Here.everywhere = everywhere
    before = everywhere.operations
    run_state_machine_as_test(
        seed(number)(Here),
        settings=settings(
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],  # the seed finds it again, and shrinking would take hours
            max_examples=max_examples,
        ),
    )
    return everywhere.operations - before


def test_a_random_history_reads_the_same_everywhere(everywhere: Everywhere) -> None:
    _run(everywhere, ThingHistory, number=0, max_examples=QUICK)


def test_a_random_history_of_unique_counted_and_computed_values_is_as_promised(everywhere: Everywhere) -> None:
    _run(everywhere, CardHistory, number=7, max_examples=QUICK)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", SEEDS)
def test_200_000_operations_have_the_same_answers_everywhere(everywhere: Everywhere, number: int) -> None:
    """Each seed does its share of them, in histories of both kinds."""
    done = sum(
        _run(everywhere, machine, number=number, max_examples=EXAMPLES) for machine in (ThingHistory, CardHistory)
    )
    assert done >= OPERATIONS / len(SEEDS)
