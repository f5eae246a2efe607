"""The full cast on one store: workers, a rescuer, clerks, relays, followers of a feed, guards and a reaper."""

from __future__ import annotations

from penstock import Store
from penstock.testing.simulation import Scene, reaper, scene_of
from penstock.work.working import WORKING
from tests.simulation import foundry, shop
from tests.work.plant import PLANT, TASKS


def begin(store: Store) -> None:
    shop.opened(store)
    foundry.begin(store)


def full_cast() -> Scene:
    """All of them, and all that each of them must keep."""
    scenes = [shop.letters(), shop.followed()]
    actors = {actor.name: actor for scene in scenes for actor in scene.actors}
    invariants = [*foundry.INVARIANTS, *shop.LETTERS, *shop.FOLLOWED]
    return scene_of(
        begin,
        tasks=[TASKS],
        actors=[*actors.values(), reaper(WORKING, PLANT, shop.SHOP)],
        domains=[PLANT, shop.SHOP],
        invariants=invariants,
    )
