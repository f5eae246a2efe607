"""A schedule that is run now runs as it would by itself: under its lease, once, and nothing is left out after it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.errors import OBJECTS, Conflict, NotFound, Unavailable, telling
from penstock.events.schedule import Period, Schedule, Scheduler, ScheduleState
from penstock.kernel.lease import take_named
from penstock.kernel.outages import outages_of
from penstock.kernel.outbox import MessageStatus, SystemMessage


def test_it_covers_the_time_since_the_last_period_and_the_next_begins_there(store: Store, clock: FrozenClock) -> None:
    ran: list[Period] = []
    scheduler = Scheduler(store, [Schedule("nightly", "0 3 * * *", ran.append)], owner="a")
    scheduler.run_due()
    clock.advance(timedelta(days=1))
    scheduler.run_due()
    clock.advance(timedelta(minutes=7))
    run = scheduler.run_now("nightly", by="ann")
    assert (run.outcome, len(ran)) == ("done", 2)
    assert (ran[1].since, ran[1].until) == (ran[0].until, clock.now().replace(microsecond=0))
    clock.advance(timedelta(days=1))
    scheduler.run_due()
    assert ran[2].since == ran[1].until, "nothing is left out, and nothing done twice"


def test_it_is_refused_while_the_schedule_is_at_work(store: Store, clock: FrozenClock) -> None:
    scheduler = Scheduler(store, [Schedule("nightly", "0 3 * * *", lambda period: None)], owner="a")
    take_named(store, "schedule:nightly", owner="b", period=timedelta(minutes=5))
    with pytest.raises(Conflict, match="at work just now"):
        scheduler.run_now("nightly", by="ann")
    with pytest.raises(NotFound, match="there are nightly"):
        scheduler.run_now("daily", by="ann")


def test_a_failure_is_recorded_as_that_of_any_run(store: Store) -> None:
    def fail(period: Period) -> None:
        raise ValueError("no clay")

    run = Scheduler(store, [Schedule("nightly", "0 3 * * *", fail)], owner="a").run_now("nightly", by="ann")
    assert (run.outcome, run.error) == ("failed", "ValueError: no clay")
    assert store.get(ScheduleState.at(name="nightly")).failures == 1


def test_the_next_moment_is_told(clock: FrozenClock) -> None:
    schedule = Schedule("nightly", "0 3 * * *", "work")
    following = schedule.next_after(clock.now())
    assert following is not None
    assert following > clock.now()
    assert (following.hour, following.minute) == (3, 0)


def test_no_period_runs_backwards_where_the_clock_was_set_back(store: Store, clock: FrozenClock) -> None:
    ran: list[Period] = []
    scheduler = Scheduler(store, [Schedule("nightly", "0 3 * * *", ran.append)], owner="a")
    scheduler.run_now("nightly", by="ann")
    last = ran[-1].until
    clock.jump(timedelta(hours=-5))
    scheduler.run_now("nightly", by="ann")
    assert (ran[-1].since, ran[-1].until) == (last, last)
    assert store.get(ScheduleState.at(name="nightly")).last_period == last


def test_what_is_kept_of_a_failure_is_what_may_be_told(store: Store) -> None:
    """The rest is for whoever runs the system: in the alert, and in the answer to who ran it."""

    def fail(period: Period) -> None:
        raise telling(ValueError("the password is sesame"), "it cannot sign in")

    run = Scheduler(store, [Schedule("nightly", "0 3 * * *", fail)], owner="a").run_now("nightly", by="ann")
    assert run.error == "ValueError: the password is sesame"
    (alert,) = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    assert (alert.type, alert.payload["error"]) == ("schedule.failed", run.error)
    assert store.get(ScheduleState.at(name="nightly")).last_error == "ValueError: it cannot sign in"


def test_a_failure_for_a_part_that_answers_is_no_reason_to_wait(store: Store) -> None:
    """Else nobody would hear of it for as long as it lasts."""

    def fail(period: Period) -> None:
        raise Unavailable("the disk is gone", part=OBJECTS)

    outages_of(store).lookout(OBJECTS, probe=lambda: None)
    scheduler = Scheduler(store, [Schedule("nightly", "0 3 * * *", fail)], owner="a")
    assert scheduler.run_now("nightly", by="ann").outcome == "failed"
