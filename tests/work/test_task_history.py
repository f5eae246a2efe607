"""Tasks in the history of the record they are for, among its changes."""

from __future__ import annotations

from datetime import timedelta

from penstock import FrozenClock, Store
from penstock.kernel.history import HistoryKind
from penstock.work.task_history import TASK_HISTORY
from penstock.workers.manual import ManualWorkers
from tests.work.plant import CAST, Order, Stamp, look, press

MINUTE = timedelta(minutes=1)
REF = Stamp.at(name="a")


def test_a_task_is_told_with_the_changes_of_its_record_and_on_request_with_its_attempts(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    with store.change(by="ann") as change:
        change.create(Stamp(name="a"))
    clock.advance(MINUTE)
    with store.change(by="bob") as change:
        task_id = press.enqueue(change, Order(fails="error", until=2), project="p1", about=REF)
        press.enqueue(change, Order(name="b"), project="p1")
    for _ in range(2):
        workers.drain()
        clock.advance(MINUTE)
    with store.change(by="cid") as change:
        change.put(Stamp(name="a"))
    entries = store.history(REF, beside=(TASK_HISTORY,)).entries
    assert [(e.kind, e.by, e.action, e.state) for e in entries] == [
        (HistoryKind.CHANGE, "cid", "put Stamp", None),
        (HistoryKind.TASK, None, "plant.press", "done"),
        (HistoryKind.CHANGE, "ann", "create Stamp", None),
    ]
    assert (entries[1].id, entries[1].parts) == (task_id, ())
    assert [e.kind for e in store.history(REF).entries] == [HistoryKind.CHANGE] * 2, "tasks are asked for"
    (task,) = [e for e in store.history(REF, beside=(TASK_HISTORY,), detailed=True).entries if e.id]
    assert [(p.kind, p.action, p.why) for p in task.parts] == [
        (HistoryKind.ATTEMPT, "retryable", "no luck"),
        (HistoryKind.ATTEMPT, "done", None),
    ]


def test_pages_go_through_tasks_and_changes_alike(store: Store, clock: FrozenClock) -> None:
    for turn in range(5):
        with store.change(by=f"{turn}") as change:
            change.put(Stamp(name="a"))
            look.enqueue(change, Order(), project="p1", about=REF)
            look.enqueue(change, Order(), project="p2", about=REF)
        clock.advance(MINUTE)
    for oldest_first in (False, True):
        asked = {"beside": (TASK_HISTORY,), "oldest_first": oldest_first}
        whole = store.history(REF, **asked).entries  # type: ignore[arg-type]
        assert len(whole) == 15
        for size in (1, 2, 4):
            found, cursor = [], None
            while True:
                page = store.history(REF, limit=size, cursor=cursor, **asked)  # type: ignore[arg-type]
                found += page.entries
                cursor = page.cursor
                if cursor is None:
                    break
            assert found == whole


def test_the_tasks_of_a_pipeline_are_for_its_job(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    with store.change(by="ann") as change:
        job = CAST.start(change, {}, project="p1")
    workers.drain()
    clock.advance(MINUTE)
    found = store.history(job.ref, beside=(TASK_HISTORY,), oldest_first=True)
    tasks = [e.action for e in found.entries if e.kind is HistoryKind.TASK]
    assert tasks == ["plant.cast.melt", "plant.cast.pour", "plant.cast.file"]
    moves = [e.moved["status"] for e in found.entries if "status" in e.moved]
    assert moves == [(None, "running"), ("running", "done")]
