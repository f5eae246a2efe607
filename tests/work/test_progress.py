"""Progress: durable, seldom enough, and seen by whoever follows the feed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict
from penstock.events.feed import Feed
from penstock.kernel.idempotency import Claim
from penstock.operations.feed_entry import FeedEntry
from penstock.work import Progress, Runner, TaskContext, Tasks
from penstock.work.attempt_log import AttemptLog
from penstock.workers.manual import ManualWorkers
from tests.work.plant import TASKS, Order, look

SECOND = timedelta(seconds=1)


def test_progress_is_throttled_and_reaches_the_feed(store: Store, clock: FrozenClock) -> None:
    tasks = Tasks("own")

    @tasks.task("slow")
    def slow(work: TaskContext, input: Order) -> None:
        for tenth in range(10):
            work.progress(tenth / 10, f"{tenth} of 10")
            clock.advance(SECOND * 0.4)
        work.progress(1.5, "all")

    seen: list[tuple[float, str | None]] = []
    feed = Feed(store, "watch", owner="test")

    @feed.on(Progress, "insert", "update")
    def watch(entry: FeedEntry, claim: Claim) -> None:
        assert isinstance(entry.new, Progress)
        seen.append((entry.new.fraction, entry.new.note))

    feed.drain()
    seen.clear()  # what earlier tests told
    with store.change() as change:
        task_id = slow.enqueue(change, Order(), project="p")
    ManualWorkers(store, [tasks]).drain()
    feed.drain()
    assert seen == [(0.0, "0 of 10"), (0.3, "3 of 10"), (0.6, "6 of 10"), (0.9, "9 of 10"), (1.0, "all")]
    kept = store.get(Progress.at(task_id=task_id))
    assert (kept.fraction, kept.project_id, kept.told_at) == (1.0, "p", clock.now())


def test_progress_of_an_attempt_that_is_over_is_not_heard(store: Store, clock: FrozenClock) -> None:
    with store.change() as change:
        task_id = look.enqueue(change, Order())
    workers = ManualWorkers(store, [TASKS])
    (stalled,) = Runner(store, [TASKS], owner="stalled", lease=10 * SECOND).take()
    stalled.progress(0.9)
    clock.advance(10 * SECOND)
    workers.rescue()
    clock.advance(10 * SECOND)
    (again,) = workers.runner.take()
    again.progress(0.1)
    with pytest.raises(Conflict):
        stalled.progress(1.0)
    assert store.get(Progress.at(task_id=task_id)).fraction == 0.1


def test_what_an_attempt_that_is_over_logs_takes_no_others_place(store: Store, clock: FrozenClock) -> None:
    with store.change() as change:
        task_id = look.enqueue(change, Order())
    workers = ManualWorkers(store, [TASKS])
    (stalled,) = Runner(store, [TASKS], owner="stalled", lease=10 * SECOND).take()
    clock.advance(20 * SECOND)
    workers.rescue()
    (again,) = workers.runner.take()
    for work, line in ((again, "new"), (stalled, "old")):
        work.log.info(line)
        work.tell_log()
    assert store.get(AttemptLog.at(task_id=task_id)).lines == ["INFO new"]
