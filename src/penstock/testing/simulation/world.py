"""The world of one run: the true state behind all actors, for invariants, and what is put into it at the beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.kernel.store import Store
from penstock.operations.reads import Ref, Unreadable
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.simulation.engine import SimulatedEngine, Touched, relation
from penstock.testing.simulation.objects import SimulatedObjects
from penstock.testing.simulation.process import Process, ProcessClock, SimulatedTime, learns_by_itself
from penstock.work.task import LEASE

E = TypeVar("E", bound=Entity)

Turn = Callable[[], object]
"Does the next piece of work; something true if there was any."


@dataclass(frozen=True)
class Actor:
    """Somebody who acts: ``start`` is given each process of it, and gives what that process does again and again."""

    name: str
    start: Callable[[Process], Turn]
    steady: bool = False
    """No call of it stays under way for longer than a minute. Whoever migrates waits no longer for those who write, and
    what arrives later is written by a layout that is over."""


class World:
    """All that is true in a run, seen from outside: no look at it is a point, and nothing is hidden."""

    def __init__(self, engine: SimulatedEngine, time: SimulatedTime) -> None:
        self.engine, self.time = engine, time
        clock = ProcessClock(time, skew=timedelta(0))
        self.store = Store(engine, clock=clock, secret=b"of the simulation", own=SYSTEM_RECORDS)
        learns_by_itself(self.store)
        self.objects = SimulatedObjects(clock)
        "The files that there are."
        self.touched: Sequence[Touched] = ()
        "What the last step has written."
        self.acting: str | None = None
        "The process that has just made a step."
        self.actor: int | None = None
        "The number of the actor whose process it is."
        self.clocks_set = False
        "Was the clock of anybody set?"
        self.outside: dict[str, list[Any]] = {}
        "What has been told to, or done by, the world outside."
        self.notes: dict[str, Any] = {}
        "What invariants remember from step to step, each under its own name."

    def records(self, entity: type[E]) -> Iterator[E]:
        """All records of an entity that have not ended."""
        shape, now = entity.__shape__, int(self.time.now.timestamp())
        for row in list(self.engine.tables.get(relation(shape), {}).values()):
            record = row.read(shape)
            if not isinstance(record, Unreadable) and row.is_live(shape, now):
                yield record

    def lookup(self, ref: Ref[E]) -> E | None:
        """The record at a key."""
        return self.store.lookup(ref)


Invariant = Callable[[World], object]
"Raises, an AssertionError for example, when something is not as it must be."


@dataclass(frozen=True)
class Scene:
    """What is simulated: who acts, on which records, beginning with what, and what must always be so."""

    actors: Sequence[Actor]
    begin: Callable[[Store], object]
    "Puts what there is at the beginning into an empty store."
    domains: Sequence[Domain] = ()
    always: Sequence[Invariant] = ()
    "Looked at after every step that has written something."
    at_rest: Sequence[Invariant] = ()
    "Looked at when nothing moves any more, however much time passes."
    is_done: Callable[[World], bool] = lambda world: False
    "Is there nothing more to wait for? Without, one waits until nothing has moved for long."
    outside: Callable[[], object] = lambda: None
    "What else the actors' next steps may depend on, or an invariant speaks of; explorations compare it."
    engine: Callable[[], SimulatedEngine] = SimulatedEngine
    at: datetime = field(default_factory=lambda: datetime(2037, 1, 1, tzinfo=UTC))
    pause: timedelta = LEASE + timedelta(seconds=5)
    "How much time passes whenever nobody has anything to do; ever more, if nothing comes of it."
    pauses: int = 16
    "After so many in which nothing was written, nothing will be."
    skew: timedelta = timedelta(0)
    most_steps: int = 5000
