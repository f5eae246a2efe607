"""What becomes of a task whose attempt ended badly: another attempt, a person's look, or the end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from penstock.errors import Conflict
from penstock.kernel.change import Change
from penstock.kernel.lease import Lease, LeaseLost
from penstock.kernel.store import Store
from penstock.operations.conditions import Condition, both, holds
from penstock.schema.documents import kept
from penstock.work import queue_hints
from penstock.work.errors import PutOff, WorkerLost
from penstock.work.put_off import pause_of
from penstock.work.registry import TaskOf
from penstock.work.task import LONGEST_ERROR, Outcome, Task, TaskAttempt, actor, audited_project, error_text

log = logging.getLogger("penstock.work")

_RACES = 10
"How often what a handler writes may meet others who write to the same records, before it is left out."


class _Write(Protocol):
    def __call__(self, *, heard: bool) -> None: ...


def record_failure(
    store: Store,
    declared: TaskOf[Any],
    task: Task,
    attempt: TaskAttempt,
    error: BaseException,
    *,
    chance: Callable[[], float],
    when: Condition | None = None,
    part: str | None = None,
) -> Outcome:
    """Write down, under the lease of the attempt, that it ended badly, and what follows; LeaseLost if it is lost.

    ``part`` is the part of the system that was away, if that was the reason: whatever the domain says of errors, the
    attempt does not count, and of one wait for it a single attempt is kept.
    """
    outcome, put_off = _judged(declared, task, error, part)
    told_before = part is not None and task.waits_for == part
    attempt.outcome = Outcome.LOST if isinstance(error, WorkerLost) else Outcome.HANDED_BACK if put_off else outcome
    told = {"error_class": type(error).__name__, "error": error_text(error)}
    now = attempt.ended_at
    lease = Lease(task.ref, task.lease_owner or "", task.lease_epoch or 0, task.due_at)
    due_at = _due_at(declared, task, error, part, now, chance)
    by = None if outcome is Outcome.RETRYABLE else actor(task)

    def write(*, heard: bool) -> None:
        with store.change(by=by, project=audited_project(task), under=lease) as change:
            ended = change.track(task.model_copy())
            if part is not None:
                ended.put_off(part=part, at=now, due_at=due_at, **told)
            elif outcome is Outcome.RETRYABLE:
                ended.retry(due_at=due_at, **told)
                ended.attempts -= put_off
            elif outcome is Outcome.QUARANTINE:
                ended.quarantine(at=now, **told)
                change.emit("task.quarantined", task, name=task.name)
            else:
                ended.fail(at=now, **told)
                change.emit("task.failed", task, name=task.name)
            # The lease is the guard: the heartbeat of a task that still runs may just have prolonged it.
            change.overwrite(ended, when=when)
            if not told_before:
                change.create(attempt)
            if heard and not told_before:
                tell_attempt(change, declared, task, attempt)
                if outcome is Outcome.TERMINAL:
                    hear(change, declared, task, error)

    _as_far_as_possible(store, task, write, stands=both(lease.holds(), when))
    if outcome is Outcome.RETRYABLE:
        queue_hints.touch(store, task.project_id, task.name)
    if part is not None:
        log.info("%s waits for %s: %s", task.name, part, error)
        return Outcome.HANDED_BACK
    if outcome is not Outcome.RETRYABLE:
        log.error("%s %s: %s: %s", task.name, outcome.value, told["error_class"], error)
    elif told["error"] != kept(str(error), LONGEST_ERROR):  # which says more than the task does
        log.warning("%s %s: %s: %s", task.name, outcome.value, told["error_class"], error)
    return outcome


def _due_at(
    declared: TaskOf[Any],
    task: Task,
    error: BaseException,
    part: str | None,
    now: datetime,
    chance: Callable[[], float],
) -> datetime:
    """When it is tried again. One whose worker was lost had its turn already, and has it before what came later; but
    not at once if the worker before was lost with it, too."""
    if part is not None:
        return now + pause_of(task, part, now)
    if isinstance(error, WorkerLost) and task.error_class != WorkerLost.__name__:
        return min(task.created_at, now)
    return now + declared.pause(error, task.attempts, chance)


def _judged(declared: TaskOf[Any], task: Task, error: BaseException, part: str | None) -> tuple[Outcome, bool]:
    """What an error means for the task, and whether it is put off: then the attempt does not count."""
    if part is not None:
        return Outcome.RETRYABLE, True
    outcome = declared.outcome(error)
    if outcome is not Outcome.RETRYABLE or isinstance(error, PutOff):
        return outcome, outcome is Outcome.RETRYABLE
    return Outcome.TERMINAL if task.attempts >= task.most_attempts else outcome, False


def hear(change: Change, declared: TaskOf[Any], task: Task, error: BaseException) -> None:
    """Let a domain say what else becomes true now that its task is over."""
    for handler in declared.failures:
        try:
            with change.attempt():
                handler(change, declared.load(task.input), error)
        except Exception:
            # A mistake in the handler must not keep the task from being buried, and so being found.
            log.exception("what %s does on failure has failed itself", task.name)


def tell_attempt(change: Change, declared: TaskOf[Any], task: Task, attempt: TaskAttempt) -> None:
    """Let a domain say what else becomes true now that an attempt has ended."""
    for handler in declared.endings:
        try:
            with change.attempt():
                handler(change, declared.load(task.input), attempt)
        except Exception:
            log.exception("what %s does after an attempt has failed itself", task.name)


def _as_far_as_possible(store: Store, task: Task, write: _Write, *, stands: Condition | None) -> None:
    """End an attempt with what its handlers write; without that, if it is refused though the task still stands so."""
    for turn in range(_RACES + 1):
        heard = turn < _RACES
        try:
            return write(heard=heard)
        except LeaseLost:
            raise
        except Conflict as refused:
            found = store.lookup(task.ref)
            if not heard or found is None or not holds(stands, found.__dict__):
                raise
            log.warning("what %s does on failure was refused: %s", task.name, refused)
