"""Dead letters, and tasks in quarantine: found, tried again, or given up, by a person whose name is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.declare.pattern import until as up_to
from penstock.errors import Conflict, InvalidValue, Unavailable, told
from penstock.kernel.batch import BatchRefused
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim, ClaimLost
from penstock.kernel.store import Store
from penstock.work import queue_hints
from penstock.work.errors import Cancelled
from penstock.work.failing import hear, tell_attempt
from penstock.work.registry import TaskOf, Tasks, by_name
from penstock.work.task import Outcome, Task, TaskStatus, as_read, attempt_at, audited_project

DEAD, QUARANTINED = TaskStatus.FAILED, TaskStatus.QUARANTINED
_RACES = 5
"How often one may meet a worker that is about to do something else with the same task."


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """Which dead letters are meant: all, or those for which everything that is given holds."""

    status: TaskStatus = DEAD
    name: str | None = None
    project: str | None = None
    error_class: str | None = None

    def __post_init__(self) -> None:
        if self.status not in (DEAD, QUARANTINED):
            raise InvalidValue(f"a dead letter is {DEAD.value} or {QUARANTINED.value}, not {self.status.value}")

    def find(self, store: Store) -> Iterator[Task]:
        """The dead letters that there are now, oldest first; of one project by their names."""
        now = store.clock.now()
        query = Task.by_status(status=self.status, due_at=up_to(now))
        if self.project is not None:
            query = Task.of_project(project_id=self.project, status=self.status, name=self.name)
        for task in store.find(query):
            # One that was tried again and has failed again meanwhile is another dead letter.
            if task.due_at <= now and self.name in (None, task.name) and self.error_class in (None, task.error_class):
                yield task


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of several dead letters."""

    done: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    "Why, by the task's id."


def retry(
    store: Store,
    tasks: Iterable[Tasks],
    task_id: str,
    *,
    by: str,
    why: str | None = None,
    once: Claim | None = None,
) -> Task:
    """Try a dead letter or a task in quarantine again, from the beginning, and with it what its domain says."""
    task = store.get(Task.at(task_id=task_id))
    declared = _declared(by_name(tasks), task)
    with store.change(by=by, why=why, project=audited_project(task), once=once) as change:
        _revive(change, declared, task)
        change.result = _kept(task)
    queue_hints.touch(store, task.project_id, task.name)
    return task


def retry_some(
    store: Store, tasks: Iterable[Tasks], some: Sequence[Task], *, by: str, why: str | None = None
) -> dict[str, str]:
    """Try some dead letters again, many in one commit; why not, of each that is refused, by its id."""
    known, refused = by_name(tasks), {}
    begun: list[Task] = []
    try:
        with store.batch() as batch:
            for task in some:
                try:
                    declared = _declared(known, task)
                    with batch.change(by=by, why=why, project=audited_project(task)) as change:
                        _revive(change, declared, task)
                except Unavailable:
                    raise
                except Exception as error:  # whatever a domain's handler may meet: it keeps no other from it
                    refused[task.task_id] = told(error)
                else:
                    begun.append(task)
    except BatchRefused as some_refused:
        for position in some_refused.refused:
            # Another of the same batch may have changed what it was decided by; alone it may well be possible.
            refused |= _retry_alone(store, tasks, begun[position].task_id, by=by, why=why)
    for project_id, name in {(task.project_id, task.name) for task in begun}:
        queue_hints.touch(store, project_id, name)
    return refused


def _retry_alone(store: Store, tasks: Iterable[Tasks], task_id: str, *, by: str, why: str | None) -> dict[str, str]:
    try:
        retry(store, tasks, task_id, by=by, why=why)
    except Unavailable:
        raise
    except Exception as error:
        return {task_id: told(error)}
    return {}


def _revive(change: Change, declared: TaskOf[Any], task: Task) -> None:
    change.track(task)
    change.save(task.revive(at=change.store.clock.now()))
    for handler in declared.revivals:
        handler(change, declared.load(task.input))


def cancel(
    store: Store,
    tasks: Iterable[Tasks],
    task_id: str,
    *,
    by: str,
    why: str | None = None,
    once: Claim | None = None,
) -> Task:
    """Give a task up, whatever becomes of it just now. What its domain says of a failure becomes true."""
    declared = by_name(tasks)
    for _ in range(_RACES - 1):
        try:
            return _cancel(store, declared, task_id, by=by, why=why, once=once)
        except ClaimLost:
            raise
        except Conflict:
            continue  # a worker has just taken it, or put it back
    return _cancel(store, declared, task_id, by=by, why=why, once=once)


def retry_all(
    store: Store, tasks: Iterable[Tasks], dead_letters: DeadLetters, *, by: str, why: str | None = None
) -> Settled:
    """Try all of these dead letters again; one that is refused keeps no other from it."""
    known = list(tasks)
    return _each(store, dead_letters, lambda task_id: retry(store, known, task_id, by=by, why=why))


def cancel_all(
    store: Store, tasks: Iterable[Tasks], dead_letters: DeadLetters, *, by: str, why: str | None = None
) -> Settled:
    """Give all of these dead letters up; one that is refused keeps no other from it."""
    known = list(tasks)
    return _each(store, dead_letters, lambda task_id: cancel(store, known, task_id, by=by, why=why))


def end_cancelled(change: Change, declared: TaskOf[Any], task: Task) -> None:
    """Cancel a task in a change, with the attempt of a worker that has it."""
    now = change.store.clock.now()
    if task.status is TaskStatus.RUNNING:
        attempt = change.create(attempt_at(task, Outcome.CANCELLED, at=now))
        tell_attempt(change, declared, task, attempt)
    unchanged = as_read(task)
    change.track(task)
    # It is given up whatever becomes of it just now, as long as no other worker has taken it.
    change.overwrite(task.cancel(at=now), when=unchanged)


def _cancel(
    store: Store, known: dict[str, TaskOf[Any]], task_id: str, *, by: str, why: str | None, once: Claim | None
) -> Task:
    task = store.get(Task.at(task_id=task_id))
    declared = _declared(known, task)
    failed_before = task.status is DEAD
    with store.change(by=by, why=why, project=audited_project(task), once=once) as change:
        end_cancelled(change, declared, task)
        if not failed_before:
            hear(change, declared, task, Cancelled(f"cancelled by {by}"))
        change.result = _kept(task)
    return task


def _kept(task: Task) -> dict[str, Any]:
    """What is kept of a task for whoever asks for the same again."""
    return {"task_id": task.task_id, "name": task.name, "status": task.status.value}


def _each(store: Store, dead_letters: DeadLetters, settle: Any) -> Settled:
    settled = Settled()
    for task in dead_letters.find(store):
        try:
            settle(task.task_id)
        except Exception as refused:
            settled.refused[task.task_id] = str(refused)
        else:
            settled.done.append(task.task_id)
    return settled


def _declared(known: dict[str, TaskOf[Any]], task: Task) -> TaskOf[Any]:
    if task.name not in known:
        raise InvalidValue(f"no task {task.name} is known here, so that it cannot be told what follows for others")
    return known[task.name]
