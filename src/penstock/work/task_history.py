"""The tasks in a record's history: those that were enqueued for it (``about=``), and the attempts at each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.kernel.handle import StoreHandle
from penstock.kernel.history import HistoryEntry, HistoryKind, HistoryQuestion, HistorySource
from penstock.work.task import Task, TaskAttempt


class TaskHistory:
    """Tasks, at the moment they were enqueued, as they stand now. They are forgotten a while after they are over."""

    def entries(self, store: StoreHandle, asked: HistoryQuestion) -> Iterator[HistoryEntry]:
        for tasks in asked.read(store, Task.of_record(about=asked.name, created_at=asked.ts)):
            yield from map(_task, tasks)

    def completed(self, store: StoreHandle, asked: HistoryQuestion, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        """With the attempts at each task that have ended."""
        return [
            replace(entry, parts=tuple(map(_attempt, store.find(TaskAttempt.of_task(task_id=entry.id)))))
            if entry.kind is HistoryKind.TASK and entry.id is not None
            else entry
            for entry in entries
        ]


TASK_HISTORY: HistorySource = TaskHistory()
"For `Store.history`: ``store.history(ref, beside=(TASK_HISTORY,))``."


def _task(task: Task) -> HistoryEntry:
    return HistoryEntry(
        ts=task.created_at,
        kind=HistoryKind.TASK,
        action=task.name,
        id=task.task_id,
        source=task.ref,
        why=task.error,
        state=task.status.value,
    )


def _attempt(attempt: TaskAttempt) -> HistoryEntry:
    return HistoryEntry(
        ts=attempt.started_at,
        kind=HistoryKind.ATTEMPT,
        action=attempt.outcome.value,
        source=attempt.ref,
        by=attempt.worker,
        why=attempt.error,
    )
