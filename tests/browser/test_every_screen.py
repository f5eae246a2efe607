"""Every screen can be used by everybody, keeps to the policy, and asks nobody but the service."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.servers import had

from .accessibility import too_wide_for_a_phone, violations_in_both_themes
from .complaints import Complaints
from .console import build_once
from .shots.camera import DESK, Visitors
from .shots.full_house import FullHouse, full_house
from .shots.places import Place, places, screen_of, screens
from .shots.stories import settings_of, tell_all, tell_little

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext


def test_every_screen_is_visited() -> None:
    """A screen that is added to the console gets a place here, and is looked at from then on."""
    nothing_made: defaultdict[str, str] = defaultdict(lambda: "-")
    visited = {screen_of(place) for place in places(nothing_made)}
    assert [screen for screen in screens() if screen not in visited] == []


def usual(made: Iterable[Place]) -> list[Place]:
    """The first place of each screen, and all that are shown before or instead of one."""
    first: dict[str, Place] = {}
    for place in sorted(made, key=lambda place: place.act is not None):
        first.setdefault(screen_of(place) or place.name, place)
    return list(first.values())


def looked_at(browser: Browser, house: FullHouse, chosen: Iterable[Place], complaints: Complaints) -> None:
    """Open each; fail if somebody could not use it, in either theme or on a phone, or it complains or asks others."""
    asked: list[str] = []

    def meet(context: BrowserContext) -> None:
        complaints.listen(context)
        context.on("request", lambda request: asked.append(request.url))

    visitors = Visitors(browser, house, meet=meet, viewport=DESK)
    wrong: dict[str, list[str]] = {}
    for place in chosen:
        complaints.allow(*place.complains)
        with visitors.at(place) as page:
            if found := violations_in_both_themes(page):
                wrong[place.name] = found
            if too_wide_for_a_phone(page):
                wrong.setdefault(place.name, []).append("wider than a phone")
    visitors.leave()
    assert wrong == {}
    own = (house.console.url, "blob:", "data:")
    assert [url for url in asked if not url.startswith(own)] == []
    complaints.settle()


@pytest.mark.parametrize(
    ("tell", "choose"),
    [(tell_little, usual), pytest.param(tell_all, list, marks=pytest.mark.long)],
    ids=["usual", "every"],
)
def test_everybody_can_use_every_screen(
    tell: Callable[[FullHouse], None],
    choose: Callable[[Iterable[Place]], list[Place]],
    browser: Browser,
    complaints: Complaints,
    tmp_path: Path,
) -> None:
    had(build_once)
    with full_house(tmp_path, settings_of(tmp_path / "sky", fine=False)) as house:
        tell(house)
        looked_at(browser, house, choose(places(house.made)), complaints)
