"""Each of many lines, broken on purpose, is found with its story; whole, the same scenes are sound."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.testing.simulation import Scene, ScheduleFailed, simulate
from tests.simulation import cinema, shop, speech
from tests.simulation.twins import TWINS, Twin, namesakes, rollers

SLOW = {
    "a lease that is its owner's, whichever it is",
    "a fence that looks at nothing",
    "a task that two may take",
    "a feed's mark that stays",
    "a file that is removed though its record may stand",
    "a migration that waits for nobody",
    "a migration that goes on though another has ended it",
}
"Those that take seconds."
QUICK = [*shop.SCENES.values(), namesakes, rollers, speech.spoken]
SCENES = [*QUICK, cinema.migrated]


@pytest.mark.parametrize(
    "twin", [pytest.param(t, id=t.name, marks=pytest.mark.long if t.name in SLOW else ()) for t in TWINS]
)
def test_a_broken_line_is_found_with_its_story(twin: Twin) -> None:
    with twin.broken():
        with pytest.raises(ScheduleFailed) as failed:
            simulate(twin.scene(), schedules=400, likely=twin.likely)
        with pytest.raises(ScheduleFailed) as again:
            simulate(twin.scene(), token=failed.value.token)
    assert str(again.value) == str(failed.value)
    assert len(str(failed.value).splitlines()) <= 30
    if twin.function is not None:
        assert simulate(twin.scene(), token=failed.value.token).schedules == 1, "whole, it is sound"


@pytest.mark.parametrize("scene", QUICK, ids=lambda scene: scene.__name__)
def test_whole_the_scene_is_sound(scene: Callable[[], Scene]) -> None:
    assert simulate(scene(), schedules=25).schedules == 25


@pytest.mark.long
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_whole_it_is_sound_in_thousands_of_schedules(scene: Callable[[], Scene]) -> None:
    assert simulate(scene(), schedules=3000, seed=10_000).schedules == 3000


def test_there_are_at_least_twenty() -> None:
    assert len({twin.name for twin in TWINS}) == len(TWINS) >= 20
    assert {twin.name for twin in TWINS} > SLOW
