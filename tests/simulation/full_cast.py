"""The full cast on one store: all that runs in a system, while guests, clerks and a migration are at it.

Workers and a rescuer of a pipeline and of the speech domain, clerks, relays, followers of a feed, a scheduler, a
sweeper and a reaper; two writers, each by a declaration of its own, and a migrator who brings records along.
"""

from __future__ import annotations

from dataclasses import replace

from penstock import Store
from penstock.domains.speech import DOMAIN as SPEECH
from penstock.domains.speech.tasks import TASKS as SPEAKING
from penstock.testing.simulation import EvolvingEngine, Scene, reaper, scene_of
from penstock.testing.simulation.cast import crew
from penstock.testing.simulation.invariants import settled
from penstock.work.working import WORKING
from tests.simulation import cinema, foundry, shop, speech
from tests.work.plant import PLANT, TASKS


def begin(store: Store) -> None:
    cinema.begin(store)
    shop.opened(store)
    foundry.begin(store)


def full_cast() -> Scene:
    """All of them, and all that each of them must keep."""
    shops = {actor.name: actor for scene in (shop.letters(), shop.followed()) for actor in scene.actors}
    everybody = [
        *crew(TASKS, SPEAKING, context=speech.context),
        *shops.values(),
        *speech.cast(),
        *cinema.cast(),
        reaper(WORKING, PLANT, shop.SHOP, SPEECH),
    ]
    scene = scene_of(
        begin,
        actors=everybody,
        domains=[PLANT, shop.SHOP, SPEECH],
        invariants=[*foundry.INVARIANTS, *shop.LETTERS, *shop.FOLLOWED, *speech.SPOKEN, *cinema.MIGRATED],
    )
    return replace(scene, engine=EvolvingEngine, is_done=settled(*scene.at_rest), most_steps=20_000)
