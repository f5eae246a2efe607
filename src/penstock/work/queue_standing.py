"""How queues and workers stand: what waits and runs in each queue, who works, and on what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.declare.pattern import until
from penstock.kernel.store import Counted, Listing, Store
from penstock.work.task import QueueHint, QueueHintStatus, Task, TaskStatus
from penstock.work.worker_presence import WorkerPresence

_COUNTED = 100


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """The tasks of one name that a project has."""

    project_id: str
    name: str
    due: Counted
    "Those that could run now."
    running: Counted
    oldest_due_at: datetime | None
    dead: Counted


@dataclass(frozen=True, slots=True)
class WorkerStanding:
    """A process that runs tasks."""

    worker: str
    since: datetime
    seen_at: datetime
    silent: bool
    "It has said nothing for a minute: it is probably gone."
    ending: bool
    "It takes nothing more: it finishes what it has, or hands it back."
    busy: int
    takes: list[str]


def queues(store: Store, *, limit: int, cursor: str | None = None) -> Listing[QueueStanding]:
    """The queues that have something, or had some lately, with what is in each; four reads for each of them."""
    page = store.page(QueueHint.by_status(status=QueueHintStatus.ACTIVE), limit=limit, cursor=cursor)
    return Listing([_queue(store, hint) for hint in page.records], page.cursor)


def workers(store: Store, *, limit: int, cursor: str | None = None) -> Listing[WorkerStanding]:
    """Every process that runs tasks, by its name."""
    now = store.clock.now()
    page = store.page(WorkerPresence.all_there_are(), limit=limit, cursor=cursor)
    return Listing([_worker(w, now) for w in page.records], page.cursor)


def running(store: Store, *, limit: int, cursor: str | None = None) -> Listing[Task]:
    """The tasks that somebody has, the one whose lease ends first, first."""
    if store.project is not None:
        query = Task.of_project(project_id=store.project, status=TaskStatus.RUNNING)
    else:
        query = Task.by_status(status=TaskStatus.RUNNING)
    return store.page(query, limit=limit, cursor=cursor)


def _queue(store: Store, hint: QueueHint) -> QueueStanding:
    def counted(status: TaskStatus) -> Counted:
        query = Task.of_project(project_id=hint.project_id, status=status, name=hint.name)
        return store.count(query, up_to=_COUNTED)

    due = Task.of_project(
        project_id=hint.project_id,
        status=TaskStatus.WAITING,
        name=hint.name,
        due_at=until(store.clock.now()),
    )
    first = store.first(due)
    return QueueStanding(
        project_id=hint.project_id,
        name=hint.name,
        due=store.count(due, up_to=_COUNTED) if first is not None else Counted(0),
        running=counted(TaskStatus.RUNNING),
        oldest_due_at=None if first is None else first.due_at,
        dead=counted(TaskStatus.FAILED),
    )


def _worker(there: WorkerPresence, now: datetime) -> WorkerStanding:
    return WorkerStanding(
        worker=there.worker,
        since=there.since,
        seen_at=there.seen_at,
        silent=there.is_silent(now),
        ending=there.ending,
        busy=there.busy,
        takes=there.takes,
    )
