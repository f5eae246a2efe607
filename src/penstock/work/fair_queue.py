"""The fair queue: which tasks are next. Projects are served in turn: a thousand tasks of one do not starve another.

One look at all that is due is enough while it is little. When it is much, each queue (the tasks of one name that a
project has) is looked at by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from penstock.declare.pattern import until as up_to
from penstock.kernel.store import Store
from penstock.work import queue_hints
from penstock.work.concurrency import free_slots
from penstock.work.registry import TaskOf
from penstock.work.task import QueueHint, Task, TaskStatus

T = TypeVar("T")

_CROWDED = timedelta(seconds=1)
"So long after much was due queues are looked at by themselves, and those that are known are not looked up again."
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Chosen:
    """A task that may run, and the concurrency slot it may take, if its project has only so many."""

    task: Task
    slot: str | None


Passed: TypeAlias = "Callable[[Sequence[Task]], Container[str]]"
"Says which of some tasks are not wanted, by their ids."


@dataclass(frozen=True, slots=True)
class _Look:
    """How many tasks are read of what is due, and which of them are passed over."""

    reads: int
    passing_over: Passed

    def without_known(self, due: Sequence[Task]) -> list[Task]:
        known = self.passing_over(due)
        return [task for task in due if task.task_id not in known]


class FairQueue:
    """Chooses among the tasks that are due those to run next."""

    def __init__(self, store: Store, tasks: Mapping[str, TaskOf[Any]]) -> None:
        self._store, self._tasks = store, tasks
        self.saw_all = False
        "Did the last look see all that was due?"
        self.chose_all = False
        "Did it choose all of that, but for what was passed over?"
        self._fit = 0
        self._crowded_at: datetime | None = None
        self._hints: list[QueueHint] = []
        "Those that had something when it became crowded."
        self._served: dict[str, int] = {}
        "When each project was served last, as a number that grows."
        self._serial = 0

    def next(self, most: int, *, passing_over: Passed = lambda due: (), known: int = 0) -> list[Chosen]:
        """Up to so many tasks that are due, of each project in turn.

        ``passing_over`` says which of those that are due somebody knows of already; there are about so many ``known``.
        """
        most, look = min(most, _PAGE), _Look(min(most + known, _PAGE), passing_over)
        chosen = self._choose(most, look)
        if not chosen and self._crowded_at is not None:
            # The queues that were known are empty, which says nothing of others.
            self._crowded_at = None
            chosen = self._choose(most, look)
        self.chose_all = self.saw_all and len(chosen) == self._fit
        self._remember(chosen)
        return chosen

    def _choose(self, most: int, look: _Look) -> list[Chosen]:
        by_project: dict[str, list[list[Chosen]]] = defaultdict(list)
        for queue in self._queues_with_work(most, look):
            by_project[queue[0].task.project_id].append(queue)
        in_turn = sorted(by_project, key=self._last_served)
        return list(islice(interleaved(interleaved(by_project[p]) for p in in_turn), most))

    def _queues_with_work(self, most: int, look: _Look) -> Iterable[list[Chosen]]:
        """Of each queue the next tasks that may run here."""
        now = self._store.clock.now()
        if self._crowded_at is None or not timedelta(0) <= now - self._crowded_at < _CROWDED:
            everything = Task.by_status(status=TaskStatus.WAITING, due_at=up_to(now))
            page = self._store.page(everything, limit=look.reads)
            self.saw_all = page.cursor is None
            if self.saw_all:
                self._crowded_at, self._hints = None, []
                return self._sorted_into_queues(look.without_known(page.records))
            self._crowded_at = now
            self._hints = [hint for hint in queue_hints.active(self._store) if hint.name in self._tasks]
        return self._queue_by_queue(now, most, look)

    def _sorted_into_queues(self, due: Iterable[Task]) -> Iterator[list[Chosen]]:
        by_queue: dict[tuple[str, str], list[Task]] = defaultdict(list)
        for task in due:
            if task.name in self._tasks:
                by_queue[task.project_id, task.name].append(task)
        self._fit = sum(map(len, by_queue.values()))
        for tasks in by_queue.values():
            if may_run := self._with_slots(tasks):
                yield may_run

    def _queue_by_queue(self, now: datetime, most: int, look: _Look) -> Iterator[list[Chosen]]:
        """Until enough queues have something; those of projects that have waited longest come first."""
        found = 0
        for hint in sorted(self._hints, key=lambda hint: self._last_served(hint.project_id)):
            due = Task.of_project(
                project_id=hint.project_id, status=TaskStatus.WAITING, name=hint.name, due_at=up_to(now)
            )
            found_due = self._store.page(due, limit=look.reads).records
            if not found_due:
                self._hints.remove(hint)
                queue_hints.rest_if_idle(self._store, hint)
            elif (tasks := look.without_known(found_due)) and (may_run := self._with_slots(tasks)):
                yield may_run
                found += 1
                if found == most:
                    return

    def _with_slots(self, queue: list[Task]) -> list[Chosen]:
        """A queue's tasks; where its project has only so many concurrency slots, as far as they are free."""
        name, project = queue[0].name, queue[0].project_id
        limit = self._tasks[name].concurrency
        if limit is None:
            return [Chosen(task, None) for task in queue]
        free = free_slots(self._store, name, project, limit)
        return [Chosen(task, slot) for task, slot in zip(queue, free, strict=False)]

    def _last_served(self, project: str) -> int:
        return self._served.get(project, 0)

    def _remember(self, chosen: Iterable[Chosen]) -> None:
        """Who was served; of projects that have nothing any more nothing needs to be known."""
        known = {hint.project_id for hint in self._hints}
        self._served = {p: n for p, n in self._served.items() if p in known}
        for one in chosen:
            self._serial += 1
            self._served[one.task.project_id] = self._serial


def interleaved(several: Iterable[Iterable[T]]) -> Iterator[T]:
    """The first of each, then the second of each, and so on."""
    left = [iter(one) for one in several]
    while left:
        remaining = []
        for one in left:
            for item in one:
                yield item
                remaining.append(one)
                break
        left = remaining
