"""The simulation: real code on a store in memory, where every call is a point at which another may go first.

    @invariant
    def nobody_pays_twice(world: World) -> None:
        assert all(film.charges <= 1 for film in world.records(Film))

    @simulated(tasks=[TASKS], domains=[FILMS], invariants=[nobody_pays_twice])
    def test_films(store: Store) -> None:
        with store.change(by="ann") as change:
            MAKING.start(change, {"film": "f1"})

It needs no server and no sleeping. `docs/simulation.md` tells more.
"""

from penstock.testing.simulation.cast import (
    crew,
    doing,
    follower,
    migrator,
    reaper,
    relay,
    rescuer,
    scheduler,
    sweeper,
    worker,
)
from penstock.testing.simulation.engine import EvolvingEngine, SimulatedEngine
from penstock.testing.simulation.exploration import Explored, explore
from penstock.testing.simulation.invariants import at_rest, invariant
from penstock.testing.simulation.objects import SimulatedObjects
from penstock.testing.simulation.outcome import Outcome
from penstock.testing.simulation.process import Process
from penstock.testing.simulation.schedule import Decision, Happening, Schedule, schedule_of
from penstock.testing.simulation.simulate import ScheduleFailed, Simulated, scene_of, simulate, simulated
from penstock.testing.simulation.story import story
from penstock.testing.simulation.world import Actor, Scene, World

__all__ = [
    "Actor",
    "Decision",
    "EvolvingEngine",
    "Explored",
    "Happening",
    "Outcome",
    "Process",
    "Scene",
    "Schedule",
    "ScheduleFailed",
    "Simulated",
    "SimulatedEngine",
    "SimulatedObjects",
    "World",
    "at_rest",
    "crew",
    "doing",
    "explore",
    "follower",
    "invariant",
    "migrator",
    "reaper",
    "relay",
    "rescuer",
    "scene_of",
    "schedule_of",
    "scheduler",
    "simulate",
    "simulated",
    "story",
    "sweeper",
    "worker",
]
