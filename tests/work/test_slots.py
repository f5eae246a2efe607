"""Concurrency slots that have passed to another: who had one before neither holds nor frees it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Unavailable
from penstock.kernel.lease import NamedLease
from penstock.work import Outcome, Task, TaskContext
from penstock.work.concurrency import free_slots, leave_slot
from penstock.work.runner import Runner
from tests.work.plant import Order
from tests.work.test_tasks import announce, own

LEASE = timedelta(seconds=60)


def nothing(work: TaskContext, input: Order) -> None:
    return None


def the_slot(store: Store, task: Task) -> NamedLease:
    return store.get(NamedLease.at(name=f"task:{task.name}:p1:0"))


def test_whoever_has_lost_a_slot_neither_keeps_nor_frees_it_for_another(store: Store, clock: FrozenClock) -> None:
    """It may end its own work, as long as nobody has taken that from it."""
    tasks, task = own(nothing, concurrency=1)
    for _ in range(3):
        announce(store, task)
    first, second = (Runner(store, [tasks], owner=name, lease=LEASE) for name in ("first", "second"))
    (late,) = first.take()
    clock.advance(LEASE + timedelta(seconds=5))
    (now,) = second.take()
    clock.advance(timedelta(seconds=5))
    held = the_slot(store, now.task)
    assert (held.lease_owner or "").startswith(now.task.task_id)
    assert first.renew([late]) == []
    assert the_slot(store, now.task) == held, "it does not hold what is another's for longer"
    assert first.run(late) is Outcome.DONE
    assert the_slot(store, now.task) == held
    assert first.take() == [], "the slot is still taken"


def test_a_slot_goes_with_what_is_handed_back(store: Store) -> None:
    tasks, task = own(nothing, concurrency=1)
    announce(store, task)
    first, second = (Runner(store, [tasks], owner=name, lease=LEASE) for name in ("first", "second"))
    (work,) = first.take()
    assert second.take() == []
    first.hand_back(work)
    assert free_slots(store, task.name, "p1", 1) == [work.slot]
    assert len(second.take()) == 1


def test_a_slot_that_cannot_be_given_back_is_no_reason_to_have_failed(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tasks, task = own(nothing, concurrency=1)
    announce(store, task)
    runner = Runner(store, [tasks], owner="w", lease=LEASE)
    (work,) = runner.take()
    assert work.slot is not None

    def away(*args: Any, **named: Any) -> Any:
        raise Unavailable("the store is away")

    with monkeypatch.context() as patched:
        patched.setattr(store, "patch", away)
        leave_slot(store, work.slot, work.task)
    assert "could not be given back; it ends by itself" in caplog.text
    assert free_slots(store, task.name, "p1", 1) == []
