"""What becomes of a task whose attempt ended badly: another attempt, a person's look, or the end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from penstock.errors import Conflict
from penstock.kernel.lease import Lease, LeaseLost
from penstock.operations.conditions import Condition, both, holds
from penstock.schema.documents import kept
from penstock.work import queue_hints as lanes
from penstock.work.errors import PutOff, WorkerLost
from penstock.work.task import LONGEST_ERROR, NO_PROJECT, Attempt, Outcome, Task, error_text

if TYPE_CHECKING:
    from penstock.kernel.change import Change
    from penstock.kernel.store import Store
    from penstock.work.registry import TaskOf

log = logging.getLogger("penstock.work")


def record_failure(
    store: Store,
    declared: TaskOf[Any],
    task: Task,
    attempt: Attempt,
    error: BaseException,
    *,
    chance: Callable[[], float],
    when: Condition | None = None,
) -> Outcome:
    """Write down, under the lease of the attempt, that it ended badly, and what follows; LeaseLost if it is lost."""
    outcome = declared.outcome(error)
    put_off = isinstance(error, PutOff) and outcome is Outcome.RETRYABLE
    if outcome is Outcome.RETRYABLE and task.attempts >= task.most_attempts and not put_off:
        outcome = Outcome.TERMINAL
    attempt.outcome = Outcome.LOST if isinstance(error, WorkerLost) else Outcome.HANDED_BACK if put_off else outcome
    told = {"error_class": type(error).__name__, "error": error_text(error)}
    now = attempt.ended_at
    lease = Lease(task.ref, task.lease_owner or "", task.lease_epoch or 0, task.due_at)
    if outcome is Outcome.RETRYABLE:
        due_at = now + declared.pause(error, task.attempts, chance)
        with store.change(under=lease) as change:
            waiting = change.track(task.model_copy()).retry(due_at=due_at, **told)
            waiting.attempts -= put_off
            change.save(waiting, when=when)
            change.create(attempt)
        lanes.touch(store, task.project_id, task.name)
    elif outcome is Outcome.QUARANTINE:
        with store.change(by=actor(task), project=audited_project(task), under=lease) as change:
            change.save(change.track(task.model_copy()).quarantine(at=now, **told), when=when)
            change.create(attempt)
            change.emit("task.quarantined", task, name=task.name)
    else:

        def bury(handlers: Sequence[Any]) -> None:
            with store.change(by=actor(task), project=audited_project(task), under=lease) as change:
                change.save(change.track(task.model_copy()).fail(at=now, **told), when=when)
                change.create(attempt)
                change.emit("task.failed", task, name=task.name)
                hear(change, declared, task, error, handlers)

        _as_far_as_possible(store, task, declared.failures, bury, stands=both(lease.holds(), when))
    level = logging.WARNING if outcome is Outcome.RETRYABLE else logging.ERROR
    if outcome is not Outcome.RETRYABLE or told["error"] != kept(str(error), LONGEST_ERROR):
        log.log(level, "%s %s: %s: %s", task.name, outcome.value, told["error_class"], error)
    return outcome


def hear(
    change: Change, declared: TaskOf[Any], task: Task, error: BaseException, handlers: Sequence[Any] | None = None
) -> None:
    """Let a domain say what else becomes true now that its task is over."""
    for handler in declared.failures if handlers is None else handlers:
        try:
            with change.attempt():
                handler(change, declared.load(task.input), error)
        except Exception:
            # A mistake in the handler must not keep the task from being buried, and so being found.
            log.exception("what %s does on failure has failed itself", task.name)


def _as_far_as_possible(
    store: Store,
    task: Task,
    handlers: Sequence[Any],
    bury: Callable[[Sequence[Any]], None],
    *,
    stands: Condition | None,
) -> None:
    """Bury a task with what its handlers write; without that, if it is refused though the task still stands so."""
    for those in (handlers, handlers, ()):
        try:
            return bury(those)
        except LeaseLost:
            raise
        except Conflict as refused:
            found = store.lookup(task.ref)
            if not those or found is None or not holds(stands, found.__dict__):
                raise
            log.warning("what %s does on failure was refused: %s", task.name, refused)


def actor(task: Task) -> str:
    """Who did it, in the audit trail."""
    return f"task:{task.name}"


def audited_project(task: Task) -> str | None:
    """In whose trail it is."""
    return None if task.project_id == NO_PROJECT else task.project_id
