"""Workers for tests: nothing runs until it is told to, in the calling thread, by a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.kernel.store import Store
from penstock.work.domain_context import DomainContext
from penstock.work.registry import Tasks
from penstock.work.rescue import Rescuer
from penstock.work.runner import Runner
from penstock.work.task import Outcome, Task, TaskStatus


class ManualWorkers:
    """Collects what is enqueued, and runs it when asked."""

    def __init__(self, store: Store, tasks: Iterable[Tasks], *, context: DomainContext | None = None) -> None:
        self._store, self._tasks = store, list(tasks)
        self.runner = Runner(store, self._tasks, owner="manual", chance=_longest, context=context)
        self._rescuer = Rescuer(store, self._tasks, lease=self.runner.lease, chance=_longest)

    def waiting(self) -> list[Task]:
        """All that waits, the one that is due first, first."""
        return list(self._store.find(Task.by_status(status=TaskStatus.WAITING)))

    def run_one(self) -> Outcome | None:
        """Run the next task that is due; None when there is none."""
        works = self.runner.take(1)
        return self.runner.run(works[0]) if works else None

    def drain(self, *, most: int = 10_000) -> int:
        """Run what is due, and what that enqueues, until nothing is; how many attempts there were."""
        done = 0
        while done < most and self.run_one() is not None:
            done += 1
        return done

    def rescue(self) -> int:
        """Put back in the queue what was lost."""
        return self._rescuer.run_once()


def _longest() -> float:
    """Pauses are as long as they can be, so that a test knows when they are over."""
    return 1.0
