"""Queue hints: which projects have tasks of which names, so that they can be served in turn when there are many.

The tasks of one name that a project has are a queue. Its hint is touched before a task is enqueued and whenever one is
put back, and rests when the queue has long been empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from penstock.declare.pattern import until as up_to
from penstock.errors import Conflict
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare
from penstock.work.task import QueueHint, QueueHintStatus, Task, TaskStatus

_FRESH = timedelta(minutes=5)
"So long a process remembers that it has touched a hint."
_MANY = 10_000
_EMPTY = timedelta(minutes=20)
"So long after it was touched the hint of an empty queue rests: far longer than clocks differ and processes remember."
_FORGOTTEN = timedelta(minutes=2)
"A task that has been due for so long may be in a queue that nobody looks at."


def touch(store: Store, project_id: str, name: str) -> None:
    """Have workers look at a queue."""
    now = store.clock.now()
    known: dict[tuple[str, str], datetime] = store.context.known(__name__)
    last = known.get((project_id, name))
    if last is None or not timedelta(0) <= now - last < _FRESH:
        store.put(QueueHint(project_id=project_id, name=name, touched_at=now))
        if len(known) >= _MANY:
            known.clear()  # touching some again is cheaper than remembering all
        known[project_id, name] = now


def active(store: Store) -> Iterator[QueueHint]:
    """The queues worth looking at."""
    return store.find(QueueHint.by_status(status=QueueHintStatus.ACTIVE))


def rest_if_idle(store: Store, hint: QueueHint) -> None:
    """Stop looking at a queue in which nothing is due, unless it was touched lately or something will be due."""
    if store.clock.now() - hint.touched_at < _EMPTY:
        return
    for status in (TaskStatus.WAITING, TaskStatus.RUNNING):
        if store.first(Task.of_project(project_id=hint.project_id, status=status, name=hint.name)) is not None:
            return
    try:
        with store.change() as change:
            change.save(change.track(hint).rest(at=store.clock.now()), when=Compare("touched_at", "=", hint.touched_at))
    except Conflict:
        pass


def rest_idle(store: Store) -> None:
    """Stop looking at every queue that has long been empty: where there is never a crowd, nobody else finds them."""
    for hint in active(store):
        rest_if_idle(store, hint)


def wake_queues(store: Store) -> None:
    """Have workers look at every queue in which something has been due for long.

    It reads all that is due, and finds a hint to touch only if a change stayed open, or clocks differed, for a quarter
    of an hour: seldom is enough.
    """
    due = Task.by_status(status=TaskStatus.WAITING, due_at=up_to(store.clock.now() - _FORGOTTEN))
    for project_id, name in {(task.project_id, task.name) for task in store.find(due)}:
        touch(store, project_id, name)
