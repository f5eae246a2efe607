"""Workers that die over a task, one after the other, until nobody tries it again."""

from __future__ import annotations

from datetime import timedelta

from penstock import FrozenClock, Store
from penstock.work import Tasks
from penstock.work.dead_letters import DeadLetters
from penstock.work.rescue import Rescuer
from penstock.work.runner import Runner
from penstock.work.task import LEASE, Task


def died_over(store: Store, tasks: Tasks, clock: FrozenClock) -> Task:
    """The letter that is left when worker after worker has died over what is to be done."""
    rescuer = Rescuer(store, [tasks], lease=LEASE)
    while not (letters := list(DeadLetters().find(store))):
        assert Runner(store, [tasks], owner="dying").take()
        for _ in range(3):
            clock.advance(LEASE)
            rescuer.run_once()
        clock.advance(timedelta(hours=1))
    (letter,) = letters
    return letter
