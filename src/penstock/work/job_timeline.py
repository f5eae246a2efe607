"""A job's timeline: its changes, steps, tasks and attempts, the messages it sent and what it made, in one order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.kernel.handle import StoreHandle
from penstock.kernel.history import HistoryEntry, HistoryKind, HistoryPage, HistoryQuestion, HistorySource
from penstock.kernel.line_history import LineHistory
from penstock.kernel.record_name import name_of
from penstock.kernel.store import Store
from penstock.operations.reads import Ref
from penstock.work.job import PipelineJob, StepRun
from penstock.work.task import TaskAttempt
from penstock.work.task_history import TaskHistory


def job_timeline(
    store: Store, job: PipelineJob, own: Ref[Any] | None, *, oldest_first: bool, limit: int, cursor: str | None
) -> HistoryPage:
    """What became of a job, and, where it has one, of the domain's ``own`` record of it; newest first, or oldest."""
    sources: list[HistorySource] = [JobTasks(), JobAttempts(), JobSteps(job.job_id)]
    if own is not None:
        sources.append(LinesBeside(job.ref))
    about = job.ref if own is None else own
    return store.history(about, beside=sources, oldest_first=oldest_first, detailed=True, limit=limit, cursor=cursor)


class JobTasks(TaskHistory):
    """The tasks that were enqueued for a job; the attempts stand among the other entries, each in its place."""

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        return entries


class JobAttempts:
    """The attempts at a job's tasks that have ended, at the moment they began."""

    def entries(self, store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
        for attempts in asked.read(store, TaskAttempt.of_record(about=asked.name, started_at=asked.ts)):
            yield from map(_attempt, attempts)

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        return entries


class JobSteps:
    """The runs of a job's steps, at the moment they were begun, with what they made."""

    def __init__(self, job_id: str) -> None:
        self._job_id = job_id

    def entries(self, store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
        for steps in asked.read(store, StepRun.as_begun(job_id=self._job_id, created_at=asked.ts)):
            yield from map(_step, steps)

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        return entries


class LinesBeside:
    """The changes of a further record, which is kept beside the one that is asked for."""

    def __init__(self, ref: Ref[Any]) -> None:
        self._ref, self._lines = ref, LineHistory()

    def entries(self, store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
        return self._lines.entries(store, replace(asked, ref=self._ref, name=name_of(self._ref)))

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        return entries  # the messages are completed with those of the record itself


def _attempt(attempt: TaskAttempt) -> HistoryEntry:
    return HistoryEntry(
        ts=attempt.started_at,
        kind=HistoryKind.ATTEMPT,
        action=attempt.name,
        id=attempt.task_id,
        source=attempt.ref,
        record=attempt,
        by=attempt.worker,
        why=attempt.error,
        state=attempt.outcome.value,
    )


def _step(step: StepRun) -> HistoryEntry:
    return HistoryEntry(
        ts=step.created_at,
        kind=HistoryKind.STEP,
        action=step.name,
        source=step.ref,
        record=step,
        by=step.decided_by,
        why=step.note or step.error,
        state=step.status.value,
    )
