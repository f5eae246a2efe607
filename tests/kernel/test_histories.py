"""The same random history on every engine and on a plain-Python model: the same answers everywhere, at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from penstock import FrozenClock, Store
from tests.conftest import _opener as opener_of
from tests.conftest import chosen_engines
from tests.kernel.card_history import SHAPES, CardHistory
from tests.kernel.everywhere import SECRET, Everywhere, open_everywhere
from tests.kernel.film_history import FilmHistory
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


@pytest.fixture(scope="module")
def open_cinemas(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], list[Store]]]:
    """Opens one store on every engine; each call could be another process."""
    clock, folder = FrozenClock(), tmp_path_factory.mktemp("cinemas")
    openers = [opener_of(name, request, folder, shared=True) for name in chosen_engines()]
    yield lambda: [Store(open_one(), clock=clock, secret=SECRET) for open_one, _ in openers]
    for _, clean in openers:
        clean()


def _run(everywhere: Everywhere, machine: type[RuleBasedStateMachine], *, number: int, max_examples: int) -> int:
    """Let histories happen; so many operations were done on every engine."""

    class Here(machine):  # type: ignore[valid-type,misc] # of its own, as it is marked
        pass

    Here.everywhere = everywhere
    before = everywhere.operations
    run_state_machine_as_test(
        seed(number)(Here),
        settings=_settings(max_examples, STEPS),
    )
    return everywhere.operations - before


def _settings(max_examples: int, steps: int) -> settings:
    return settings(
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],  # the seed finds it again, and shrinking would take hours
        max_examples=max_examples,
    )


def test_a_random_history_reads_the_same_everywhere(everywhere: Everywhere) -> None:
    _run(everywhere, ThingHistory, number=0, max_examples=QUICK)


def test_a_random_history_of_unique_counted_and_computed_values_is_as_promised(everywhere: Everywhere) -> None:
    _run(everywhere, CardHistory, number=7, max_examples=QUICK)


def _run_films(open_cinemas: Callable[[], list[Store]], *, number: int, max_examples: int, steps: int) -> int:
    class Here(FilmHistory):
        open_stores = staticmethod(open_cinemas)

    run_state_machine_as_test(seed(number)(Here), settings=_settings(max_examples, steps))
    return Here.migrations


def test_a_random_history_in_which_a_declaration_changes_reads_the_same_everywhere(
    open_cinemas: Callable[[], list[Store]],
) -> None:
    assert _run_films(open_cinemas, number=1, max_examples=2, steps=40) > 4


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", SEEDS)
def test_declarations_change_in_many_histories(open_cinemas: Callable[[], list[Store]], number: int) -> None:
    assert _run_films(open_cinemas, number=number, max_examples=10, steps=STEPS) > 10


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", SEEDS)
def test_200_000_operations_have_the_same_answers_everywhere(everywhere: Everywhere, number: int) -> None:
    """Each seed does its share of them, in histories of both kinds."""
    done = sum(
        _run(everywhere, machine, number=number, max_examples=EXAMPLES) for machine in (ThingHistory, CardHistory)
    )
    assert done >= OPERATIONS / len(SEEDS)
