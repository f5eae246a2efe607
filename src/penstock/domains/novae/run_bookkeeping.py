"""Bookkeeping of runs: an `Attempt` of every invocation, and of every run what it has come to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.domains.novae.run_records import Attempt, JobRun, JobRunPlace, NameAttempt, NameRun, Tried, WorkflowRun
from penstock.domains.novae.states import ErrorClass, RunStatus
from penstock.kernel.change import Change
from penstock.operations.updates import Set
from penstock.schema.documents import kept
from penstock.work import EndedAttempt, JobRecords, Outcome, StepResult, StepRun, TaskContext

_ENDED = {
    Outcome.RETRYABLE: ErrorClass.RETRYABLE,
    Outcome.LOST: ErrorClass.RETRYABLE,
    Outcome.TERMINAL: ErrorClass.TERMINAL,
    Outcome.QUARANTINE: ErrorClass.QUARANTINE,
}
_CLASS, _MESSAGE = "error_class", "error_message"
_LONGEST = 2000
_VARYING = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\b[0-9a-fA-F]{16,}\b|\d+")
"What differs from run to run in the words of one error: ids, hashes, numbers, moments."


class Doubtful(Exception):
    """A person must look at it: the run ends in quarantine, with this code.

    With ``asks`` something waits for their decision, which another run goes on with.
    """

    def __init__(
        self, code: str, reason: str, *, details: Mapping[str, Any] | None = None, asks: Sequence[UUID] | None = None
    ) -> None:
        super().__init__(reason)
        self.code, self.reason, self.details = code, reason, dict(details or {})
        self.asks = None if asks is None else list(asks)

    def told(self) -> dict[str, Any]:
        """What is kept of it."""
        return {"reason": self.reason, **self.details}


def note_doubt(work: TaskContext, doubt: Doubtful) -> None:
    """Have the attempt tell that a person must look, also where the step, or its part, goes on."""
    work.metrics |= {_CLASS: ErrorClass.QUARANTINE.value, _MESSAGE: f"{doubt.code}: {doubt.reason}"}


def error_fingerprint(workflow: str, message: str | None) -> str:
    """The same for the same error of a workflow, whichever run met it, and when."""
    words = _VARYING.sub("#", kept(message or "", _LONGEST))
    return hashlib.sha256(f"{len(workflow)}:{workflow}:{words}".encode()).hexdigest()[:16]


def _tried(run: WorkflowRun, ended: EndedAttempt) -> dict[str, Any]:
    task, told = ended.task, ended.task.metrics or {}
    doubted = _CLASS in told
    kind = ErrorClass(told[_CLASS]) if doubted else _ENDED.get(task.outcome)
    message = told.get(_MESSAGE) if doubted else task.error
    return {
        "job_run_id": run.job_run_id,
        "task": ended.name,
        "attempt": min(ended.number, 999),
        "ts": task.started_at,
        "dataset_id": (run.asked_for or {}).get("dataset_id"),
        "succeeded": task.outcome is Outcome.DONE and not doubted,
        "error_class": kind,
        "error_message": kept(message, _LONGEST) if message else None,
        "error_fingerprint": error_fingerprint(run.workflow_name, message) if kind else None,
        "duration_ms": max(0, round((task.ended_at - task.started_at).total_seconds() * 1000)),
        "correlation_id": run.correlation_id,
        "ttl": run.ttl,
    }


def _nova_attempt(run: JobRun, ended: EndedAttempt) -> Tried:
    return Attempt(nova_id=run.nova_id, **_tried(run, ended))


def _name_attempt(run: NameRun, ended: EndedAttempt) -> Tried:
    return NameAttempt(normalized_name=run.normalized_name, **_tried(run, ended))


Ending = Callable[[Change, Any, "StepResult | None"], None]
_ENDINGS: dict[str, Ending] = {}


def at_end_of(workflow_name: str) -> Callable[[Ending], Ending]:
    """Declare what else becomes true in the commit that ends a run of a workflow, however it ends."""

    def declare(ending: Ending) -> Ending:
        _ENDINGS[workflow_name] = ending
        return ending

    return declare


def _finalize(change: Change, run: WorkflowRun, made: StepResult | None) -> None:
    """What a run has come to is kept with it, beyond the life of its steps."""
    if run.workflow_name in _ENDINGS:
        _ENDINGS[run.workflow_name](change, run, made)
    if made is not None and made.metrics:
        run.results = dict(made.metrics)
    if run.status is RunStatus.QUARANTINED:
        run.error_message = f"{run.outcome}: {(run.results or {}).get('reason', '')}"
    if run.error_message is not None:
        run.error_fingerprint = error_fingerprint(run.workflow_name, run.error_message)
    nova_id = (run.results or {}).get("nova_id")
    if isinstance(run, NameRun) and nova_id is not None:
        run.nova_id = UUID(nova_id)
        change.patch(JobRunPlace.at(job_run_id=run.job_run_id), Set("nova_id", run.nova_id))


def _told(run: WorkflowRun) -> dict[str, Any]:
    return {"correlation_id": run.correlation_id, "workflow_name": run.workflow_name, "outcome": run.outcome}


_EVENTS = {
    "done": "run.succeeded",
    "failed": "run.failed",
    "cancelled": "run.cancelled",
    "quarantined": "run.quarantined",
}
NOVA_RUNS: JobRecords[JobRun, StepRun] = JobRecords(
    *(JobRun, StepRun, Attempt),
    input="asked_for",
    make_attempt=_nova_attempt,
    ended=_finalize,
    tells=_told,
    events=_EVENTS,
)
NAME_RUNS: JobRecords[NameRun, StepRun] = JobRecords(
    *(NameRun, StepRun, NameAttempt),
    input="asked_for",
    make_attempt=_name_attempt,
    ended=_finalize,
    tells=_told,
    events=_EVENTS,
)
