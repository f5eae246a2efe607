"""Actors that are ready: the processes that a running system has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta

from penstock.declare.domain import Domain
from penstock.errors import Conflict
from penstock.events.feed import Feed
from penstock.events.relay import Relay
from penstock.events.schedule import Schedule, Scheduler
from penstock.evolution.migration import Migration
from penstock.evolution.migration_turn import TurnLost
from penstock.files.sweep import Sweep
from penstock.kernel.outbox import Message, SystemMessage
from penstock.lifecycle.reaper import Reaper
from penstock.ports.sink import Envelope, Sink
from penstock.testing.simulation.process import Process
from penstock.testing.simulation.world import Actor, Turn, World
from penstock.work.domain_context import DomainContext
from penstock.work.registry import Tasks
from penstock.work.rescue import Rescuer
from penstock.work.runner import Runner
from penstock.work.task import LEASE, Task, TaskStatus


def worker(*tasks: Tasks, name: str = "worker", context: Callable[[Process], DomainContext] | None = None) -> Actor:
    """Takes tasks that are due, and runs them."""

    def start(process: Process) -> Turn:
        given = None if context is None else context(process)
        runner = Runner(process.store, tasks, owner=process.name, chance=process.chance.random, context=given)

        def turn() -> bool:
            taken = runner.take(1)
            for work in taken:
                runner.run(work)
            return bool(taken)

        return turn

    return Actor(name, start)


def rescuer(*tasks: Tasks, name: str = "rescuer", lease: timedelta = LEASE) -> Actor:
    """Puts back in the queue what a worker has left that died."""

    def start(process: Process) -> Turn:
        return Rescuer(process.store, tasks, lease=lease, chance=process.chance.random).run_once

    return Actor(name, start)


class ToldSink:
    """Takes every message, and remembers it outside of the store."""

    def __init__(self, told: list[Envelope]) -> None:
        self._told = told

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        self._told.extend(messages)
        return [None] * len(messages)


def relay(*, outbox: type[Message] = SystemMessage, name: str = "relay") -> Actor:
    """Tells messages to the world outside; ``world.outside["told"]`` has them."""

    def start(process: Process) -> Turn:
        sink: Sink = process.pointed(ToldSink(process.outside.setdefault("told", [])), "sink", "deliver")
        made = Relay(process.store, sink, owner=process.name, outbox=outbox, chance=process.chance.random)
        return lambda: made.run_once().total

    return Actor(name, start)


def follower(feed: Callable[[Process], Feed], *, name: str = "follower") -> Actor:
    """Follows a feed with its handlers."""

    def start(process: Process) -> Turn:
        return feed(process).run_once

    return Actor(name, start)


def doing(name: str, *actions: Callable[[Process], object]) -> Actor:
    """Does some things, one after the other, each until it is done: one that was refused is.

    What is to happen once although its answer may be lost must be such that it is refused when it is repeated.
    """

    def start(process: Process) -> Turn:
        left = list(actions)

        def turn() -> bool:
            if not left:
                return False
            with suppress(Conflict):
                left[0](process)
            left.pop(0)
            return True

        return turn

    return Actor(name, start)


def reaper(*domains: Domain, name: str = "reaper") -> Actor:
    """Removes what has ended, every minute."""

    def start(process: Process) -> Turn:
        made = Reaper(process.store, domains, owner=process.name)
        return _every(timedelta(minutes=1), process, lambda: sum(made.run_once().values()))

    return Actor(name, start)


def scheduler(schedules: Callable[[Process], Sequence[Schedule]], *, name: str = "scheduler") -> Actor:
    """Does what is due by the clock, and looks four times a minute."""

    def start(process: Process) -> Turn:
        made = Scheduler(process.store, schedules(process), owner=process.name)
        return _every(timedelta(seconds=15), process, lambda: len(made.run_due()))

    return Actor(name, start)


def sweeper(*domains: Domain, name: str = "sweeper", grace: timedelta = timedelta(days=1)) -> Actor:
    """Settles files that no record points at, every quarter of an hour; give it every domain that has files."""

    def start(process: Process) -> Turn:
        made = Sweep(process.store, process.objects, domains, owner=process.name, grace=grace)
        return _every(timedelta(minutes=15), process, lambda: made.run() is None)

    return Actor(name, start)


def migrator(domain: Domain, *, name: str = "migrator") -> Actor:
    """Brings the records of a domain to its declarations while others write: as `penstock migrate --shut-out` does.

    The scene's engine is an `EvolvingEngine`, and its beginning ensures the declarations that there were before.
    """

    def start(process: Process) -> Turn:
        store, left = process.store, list(domain.shapes)

        def turn() -> bool:
            if not left:
                return False
            store.ensure(domain)
            with suppress(TurnLost):  # another has gone on with it
                Migration(store, left[0], segments=1, shut_out=True).run()
                left.pop(0)
            return True

        return turn

    return Actor(name, start)


def _every(period: timedelta, process: Process, act: Callable[[], object]) -> Turn:
    """Does something as often as a running system does."""
    due = process.clock.monotonic()

    def turn() -> object:
        nonlocal due
        if process.clock.monotonic() < due:
            return False
        due = process.clock.monotonic() + period.total_seconds()
        return act()

    return turn


def crew(*tasks: Tasks, workers: int = 2, context: Callable[[Process], DomainContext] | None = None) -> Sequence[Actor]:
    """Workers and a rescuer."""
    named = [worker(*tasks, name=f"worker {n + 1}", context=context) for n in range(workers)]
    return [*named, rescuer(*tasks)]


def work_is_done(world: World) -> bool:
    """Is there no task that waits or runs?"""
    return not any(t.status in (TaskStatus.WAITING, TaskStatus.RUNNING) for t in world.records(Task))
