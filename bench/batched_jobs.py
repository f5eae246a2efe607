"""Penstock's jobs in batches of 100: items of batch tasks, enqueued, leased, done and written down a hundred at a time.

The function does nothing but count, as those of the others do. What is kept: each batch with all its inputs and how
many of them were done, its attempt, and a line in the audit trail.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from pydantic import BaseModel

from bench.job_peers import clip
from bench.measure import Work
from penstock import Store, open_store
from penstock.kernel.audit import SystemAudit
from penstock.kernel.change import Change
from penstock.work import WORKING, Runner, Task, Tasks, TaskStatus, batch_task

_BATCHES = 10
"Taken at once."


class Edit(BaseModel):
    clip: str


class _Count:
    ran = 0


TASKS = Tasks("bench_batches")


@batch_task(TASKS, "edit", size=100)
def edit(change: Change, input: Edit) -> None:
    _Count.ran += 1


@contextmanager
def penstock_in_hundreds(url: str) -> Iterator[Work]:
    """Enqueued in one change; a runner takes the batches and runs them, until none is left."""
    with closing(open_store(url)) as store:
        store.ensure(WORKING)
        runner = Runner(store, [TASKS], owner="worker")

        def work(times: int) -> None:
            _Count.ran = 0
            with store.change(by="api", project="bench") as change:
                edit.enqueue(change, [Edit(clip=clip(number)) for number in range(times)], project="bench")
            while held := runner.take(_BATCHES):
                for one in held:
                    runner.run(one)
            assert _Count.ran == times

        work(103)
        _check(store)
        yield work


def _check(store: Store) -> None:
    """Refuse to measure unless 103 jobs have left what was promised."""
    done = [task.result for task in store.find(Task.by_status(status=TaskStatus.DONE))]
    assert done == [{"done": 100}, {"done": 3}], done
    assert [line.actor for line in store.find(SystemAudit.of_project(project_id="bench"))].count(
        "task:bench_batches.edit"
    ) == 2
