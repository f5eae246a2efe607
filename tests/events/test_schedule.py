"""Schedules: every period once, in order, whatever happens to runners and clocks, and an alarm when it does not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.errors import OBJECTS, DeclarationError, Unavailable
from penstock.events.schedule import Period, Run, Schedule, Scheduler, ScheduleState, overdue
from penstock.kernel.lease import NamedLease, take_named
from penstock.kernel.outages import outages_of
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.ports.engine import Engine

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Task:
    """Remembers the periods it was given, and fails when told to."""

    def __init__(self) -> None:
        self.periods: list[Period] = []
        self.broken = False

    def __call__(self, period: Period) -> None:
        if self.broken:
            raise ValueError("the bucket is gone")
        self.periods.append(period)

    @property
    def ends(self) -> list[str]:
        return [p.until.strftime("%d %H:%M") for p in self.periods]


@pytest.fixture
def task() -> Task:
    return Task()


def noon(task: Any, **more: Any) -> Schedule:
    return Schedule("cleanup", "0 12 * * *", task, **more)


def started(store: Store, *schedules: Schedule, owner: str = "one") -> Scheduler:
    """A scheduler that has seen its schedules for the first time."""
    scheduler = Scheduler(store, schedules, owner=owner)
    assert scheduler.run_due() == []
    return scheduler


def state(store: Store, name: str = "cleanup") -> ScheduleState:
    return store.get(ScheduleState.at(name=name))


def messages(store: Store) -> list[SystemMessage]:
    return list(store.find(SystemMessage.by_status(status=MessageStatus.PENDING)))


class TestCron:
    """Which moments an expression means; known answers, so that another library would be noticed."""

    @pytest.mark.parametrize(
        ("cron", "after", "moments"),
        [
            ("0 12 * * *", "2037-01-01T12:00", ["2037-01-02T12:00", "2037-01-03T12:00"]),
            ("0 12 * * *", "2037-01-01T11:59:59", ["2037-01-01T12:00"]),
            ("*/20 * * * *", "2037-01-01T23:30", ["2037-01-01T23:40", "2037-01-02T00:00", "2037-01-02T00:20"]),
            ("5,35 8-9 * * *", "2037-01-01T08:06", ["2037-01-01T08:35", "2037-01-01T09:05", "2037-01-01T09:35"]),
            ("0 6-18/6 * * *", "2037-01-01T00:00", ["2037-01-01T06:00", "2037-01-01T12:00", "2037-01-01T18:00"]),
            ("0 0 * * mon-fri", "2037-01-01T00:00", ["2037-01-02T00:00", "2037-01-05T00:00"]),
            ("0 0 * * SUN", "2037-01-01T00:00", ["2037-01-04T00:00", "2037-01-11T00:00"]),
            ("0 0 * * 7", "2037-01-01T00:00", ["2037-01-04T00:00"]),
            ("0 0 1 jan,jul *", "2037-01-01T00:00", ["2037-07-01T00:00", "2038-01-01T00:00"]),
            ("0 0 31 * *", "2037-01-31T00:00", ["2037-03-31T00:00", "2037-05-31T00:00"]),
            ("0 0 L * *", "2037-01-31T00:00", ["2037-02-28T00:00", "2037-03-31T00:00"]),
            ("0 0 29 2 *", "2024-02-29T00:00", ["2028-02-29T00:00", "2032-02-29T00:00"]),
            ("0 0 13 * FRI", "2037-01-03T00:00", ["2037-01-09T00:00", "2037-01-13T00:00"]),
            ("30 2 29 3 *", "2037-01-01T00:00", ["2037-03-29T02:30"]),
        ],
    )
    def test_an_expression_means_these_moments(self, cron: str, after: str, moments: list[str]) -> None:
        schedule = Schedule("x", cron, "task", overdue=timedelta(days=5000))
        periods = schedule.periods(after=at(after), since=None, until=at("2040-01-01"))
        assert [p.until for p in islice(periods, len(moments))] == [at(m) for m in moments]

    def test_periods_join_without_gap(self) -> None:
        schedule = Schedule("x", "0 0 1 * *", "task", overdue=timedelta(days=32))
        periods = list(schedule.periods(after=at("2027-12-15"), since=None, until=at("2028-04-01")))
        assert [p.since for p in periods] == [at("2027-12-01"), *(p.until for p in periods[:-1])]
        assert [p.until - p.since for p in periods] == [timedelta(days=n) for n in (31, 31, 29, 31)], "a leap year"

    @pytest.mark.parametrize(
        ("cron", "told"),
        [
            ("0 12 * *", "five fields"),
            ("0 0 12 * * *", "five fields"),
            ("@daily", "five fields"),
            ("60 * * * *", "Bad minute"),
            ("0 24 * * *", "Bad hour"),
            ("0 0 * * 8", "Bad day-of-week"),
            ("0 0 * foo *", "Bad month"),
            ("0 0 31 2 *", "Bad day-of-month"),
            ("*/0 * * * *", "Bad minute"),
            ("9-5 * * * *", "Bad minute"),
            ("0 0 */29 2 MON#5", "never due"),
        ],
    )
    def test_a_wrong_expression_is_refused_where_it_is_declared(self, cron: str, told: str) -> None:
        with pytest.raises(DeclarationError, match=told):
            Schedule("x", cron, "task", overdue=timedelta(days=5000))

    def test_a_limit_shorter_than_the_pause_between_two_runs_is_refused(self) -> None:
        with pytest.raises(DeclarationError, match="7 days, 0:00:00 may pass"):
            Schedule("x", "0 0 * * SUN", "task")
        with pytest.raises(DeclarationError, match="1 day, 0:00:00 may pass"):
            Schedule("x", "0 12 * * *", "task", overdue=timedelta(hours=24))

    @pytest.mark.parametrize(
        ("cron", "pause"),
        [
            ("*/5 8-18 * * 1-5", timedelta(hours=61, minutes=5)),
            ("* * * * 1", timedelta(days=6, minutes=1)),
            ("0,1 0 * * *", timedelta(hours=23, minutes=59)),
            ("30 4 * * 0", timedelta(days=7)),
            ("0 0 29 2 *", timedelta(days=1461)),
            ("* * * * *", timedelta(minutes=1)),
        ],
    )
    def test_the_longest_pause_is_known_however_many_runs_a_day_has(self, cron: str, pause: timedelta) -> None:
        """A weekend is no reason for an alarm."""
        with pytest.raises(DeclarationError, match="may pass between two runs"):
            Schedule("x", cron, "task", overdue=pause)
        Schedule("x", cron, "task", overdue=pause + timedelta(seconds=1))

    def test_two_schedules_of_one_name_are_refused(self, store: Store, task: Task) -> None:
        with pytest.raises(DeclarationError, match="called cleanup"):
            Scheduler(store, [noon(task), noon("other")], owner="one")

    def test_an_unknown_way_of_catching_up_is_refused(self, task: Task) -> None:
        with pytest.raises(DeclarationError, match='"each" or "one"'):
            noon(task, catch_up="all")


class TestRunning:
    def test_the_past_of_a_new_schedule_is_not_run(self, store: Store, clock: FrozenClock, task: Task) -> None:
        clock.set(at("2037-01-05T13:00"))
        scheduler = started(store, noon(task))
        assert scheduler.run_due() == []
        assert task.periods == []

    def test_a_period_is_run_when_it_ends_and_then_never_again(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-01T11:59:59"))
        assert scheduler.run_due() == []
        clock.set(at("2037-01-01T12:00"))
        period = Period(at("2036-12-31T12:00"), at("2037-01-01T12:00"))
        assert scheduler.run_due() == [Run("cleanup", period, "done")]
        assert scheduler.run_due() == []
        assert task.periods == [period]
        assert (state(store).last_period, state(store).last_success_at) == (clock.now(), clock.now())

    def test_each_missed_period_is_caught_up_in_order(self, store: Store, clock: FrozenClock, task: Task) -> None:
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-04T09:00"))
        assert [r.outcome for r in scheduler.run_due()] == ["done"] * 3
        assert task.ends == ["01 12:00", "02 12:00", "03 12:00"]

    def test_one_run_can_cover_all_missed_periods(self, store: Store, clock: FrozenClock, task: Task) -> None:
        scheduler = started(store, noon(task, catch_up="one"))
        clock.set(at("2037-01-04T09:00"))
        assert len(scheduler.run_due()) == 1
        assert task.periods == [Period(at("2036-12-31T12:00"), at("2037-01-03T12:00"))]
        clock.set(at("2037-01-04T12:00"))
        scheduler.run_due()
        assert task.periods[1:] == [Period(at("2037-01-03T12:00"), at("2037-01-04T12:00"))]

    def test_one_that_is_far_behind_catches_up_in_rounds(self, store: Store, clock: FrozenClock, task: Task) -> None:
        often = Schedule("often", "* * * * *", task)
        scheduler = started(store, often)
        clock.advance(timedelta(minutes=250))
        assert [len(scheduler.run_due()) for _ in range(4)] == [100, 100, 50, 0]
        assert len(set(task.ends)) == 250

    def test_a_task_that_is_a_name_is_announced_in_the_commit_that_records_it(
        self, store: Store, clock: FrozenClock
    ) -> None:
        scheduler = started(store, noon("speech.sweep"))
        clock.set(at("2037-01-02T12:00"))
        scheduler.run_due()
        scheduler.run_due()
        assert [(m.type, m.payload["until"]) for m in messages(store)] == [
            ("speech.sweep", "2037-01-01T12:00:00Z"),
            ("speech.sweep", "2037-01-02T12:00:00Z"),
        ]

    def test_a_schedule_that_was_changed_goes_on_from_its_last_success(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-01T12:00"))
        scheduler.run_due()
        clock.set(at("2037-01-01T20:00"))
        Scheduler(store, [Schedule("cleanup", "0 18 * * *", task)], owner="two").run_due()
        assert task.periods[1:] == [Period(at("2037-01-01T12:00"), at("2037-01-01T18:00"))]


class TestFailing:
    def test_a_failed_run_is_recorded_told_and_tried_again_next_time(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        clock.set(at("2037-01-01T11:30"))
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-02T12:00"))
        task.broken = True
        (run,) = scheduler.run_due()
        assert (run.outcome, run.error) == ("failed", "ValueError: the bucket is gone")
        assert (state(store).last_error, state(store).failures) == ("ValueError: the bucket is gone", 1)
        assert state(store).last_period is None, "the next period waits for this one"
        (told,) = messages(store)
        assert (told.type, told.payload["error"], told.payload["until"]) == (
            "schedule.failed",
            "ValueError: the bucket is gone",
            "2037-01-01T12:00:00Z",
        )
        task.broken = False
        assert [r.outcome for r in scheduler.run_due()] == ["done", "done"]
        assert task.ends == ["01 12:00", "02 12:00"]
        assert (state(store).last_error, state(store).failures) == (None, 0)

    def test_what_keeps_failing_is_tried_again_ever_less_often_until_it_succeeds(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-01T12:00"))
        task.broken = True
        tried = []
        for minute in range(4 * 60):
            if scheduler.run_due():
                tried.append(minute)
            clock.advance(timedelta(minutes=1))
        assert tried == [0, 1, 2, 4, 8, 16, 32, 64, 124, 184], "at once, then a minute, two, four … an hour later"
        assert [m.type for m in messages(store)] == ["schedule.failed"] * 10
        task.broken = False
        clock.advance(timedelta(minutes=3))
        assert scheduler.run_due() == []
        clock.advance(timedelta(minutes=1))
        assert [r.outcome for r in scheduler.run_due()] == ["done"]
        assert (state(store).failures, state(store).retry_at) == (0, None)

    def test_a_pause_that_a_wrong_clock_has_set_holds_nobody_up(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        scheduler = started(store, noon(task))
        task.broken = True
        clock.set(at("2037-02-01T12:00"))  # a month ahead
        scheduler.run_due()
        scheduler.run_due()
        assert state(store).retry_at == at("2037-02-01T12:01")
        clock.set(at("2037-01-01T12:00"))
        task.broken = False
        assert [r.outcome for r in scheduler.run_due()] == ["done"]

    def test_one_that_fails_stops_no_other(self, store: Store, clock: FrozenClock, task: Task) -> None:
        broken = Task()
        broken.broken = True
        scheduler = started(store, Schedule("first", "0 12 * * *", broken), noon(task))
        clock.set(at("2037-01-01T12:00"))
        assert [(r.schedule, r.outcome) for r in scheduler.run_due()] == [("first", "failed"), ("cleanup", "done")]

    def test_one_whose_error_no_store_can_hold_stops_no_other(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        def fails(period: Period) -> None:
            raise ValueError("a NUL \x00 and half a character \ud800")

        scheduler = started(store, Schedule("broken", "0 12 * * *", fails), noon(task))
        clock.advance(DAY)
        assert [r.outcome for r in scheduler.run_due()] == ["failed", "done"]
        assert state(store, "broken").last_error == "ValueError: a NUL \N{REPLACEMENT CHARACTER} and half a character ?"

    def test_a_run_that_is_interrupted_frees_the_schedule_and_is_repeated(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        def interrupted(period: Period) -> None:
            raise KeyboardInterrupt

        started(store, noon(task))
        clock.set(at("2037-01-01T12:00"))
        with pytest.raises(KeyboardInterrupt):
            Scheduler(store, [noon(interrupted)], owner="one").run_due()
        assert [r.outcome for r in Scheduler(store, [noon(task)], owner="two").run_due()] == ["done"]


class TestOverdue:
    def test_no_success_for_too_long_is_told_once_until_the_next_success(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-01T12:00"))
        scheduler.run_due()
        task.broken = True

        def alarms() -> int:
            return [m.type for m in messages(store)].count("schedule.overdue")

        clock.advance(25 * HOUR)
        scheduler.run_due()
        assert alarms() == 0, "exactly as old as allowed"
        for _ in range(5):
            clock.advance(HOUR)
            scheduler.run_due()
        assert alarms() == 1
        task.broken = False
        clock.advance(HOUR)
        scheduler.run_due()
        assert state(store).alerted_at is None
        task.broken = True
        clock.advance(2 * DAY)
        scheduler.run_due()
        scheduler.run_due()
        assert alarms() == 2, "a new spell"

    def test_the_alarm_says_since_when_and_why(self, store: Store, clock: FrozenClock, task: Task) -> None:
        scheduler = started(store, noon(task))
        task.broken = True
        clock.advance(2 * DAY)
        scheduler.run_due()
        (told,) = [m for m in messages(store) if m.type == "schedule.overdue"]
        assert told.payload == {
            "name": "cleanup",
            "last_success_at": None,
            "first_seen_at": "2037-01-01T00:00:00Z",
            "overdue_seconds": 90000,
            "last_error": "ValueError: the bucket is gone",
        }

    def test_one_that_never_ran_is_overdue_since_it_was_first_seen(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        task.broken = True
        scheduler = started(store, noon(task))
        clock.advance(25 * HOUR)
        scheduler.run_due()
        assert state(store).alerted_at is None
        clock.advance(timedelta(seconds=1))
        scheduler.run_due()
        assert state(store).alerted_at == clock.now()

    def test_one_that_catches_up_at_once_is_not_overdue(self, store: Store, clock: FrozenClock, task: Task) -> None:
        scheduler = started(store, noon(task))
        clock.advance(5 * DAY)
        scheduler.run_due()
        assert messages(store) == []

    def test_a_health_check_notices_that_no_scheduler_runs(self, store: Store, clock: FrozenClock, task: Task) -> None:
        assert overdue(store, [noon(task)]) == [], "nobody has seen it yet"
        started(store, noon(task))
        clock.advance(25 * HOUR)
        assert overdue(store, [noon(task)]) == []
        clock.advance(HOUR)
        assert overdue(store, [noon(task)]) == ["cleanup"]


class TestClocks:
    def test_a_clock_that_jumps_back_repeats_nothing(self, store: Store, clock: FrozenClock, task: Task) -> None:
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-02T12:00"))
        scheduler.run_due()
        clock.set(at("2037-01-01T11:00"))
        scheduler.run_due()
        clock.set(at("2037-01-02T12:30"))
        scheduler.run_due()
        assert task.ends == ["01 12:00", "02 12:00"]

    def test_a_clock_that_jumps_ahead_and_back_skips_nothing_and_repeats_nothing(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-02T13:00"))
        scheduler.run_due()
        clock.set(at("2037-01-01T13:00"))
        for _ in range(60):
            clock.advance(HOUR)
            scheduler.run_due()
        assert task.ends == ["01 12:00", "02 12:00", "03 12:00"]

    def test_a_success_far_in_the_future_is_told_because_nothing_runs_until_then(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        scheduler = started(store, noon(task, catch_up="one"))
        clock.set(at("2038-01-01T12:00"))
        scheduler.run_due()
        clock.set(at("2037-01-02T12:00"))
        assert scheduler.run_due() == []
        assert [m.type for m in messages(store)] == ["schedule.overdue"]

    def test_month_ends_and_leap_days_are_each_run_once(self, store: Store, clock: FrozenClock, task: Task) -> None:
        clock.set(at("2028-01-15T00:00"))
        scheduler = started(store, Schedule("monthly", "0 0 L * *", task, overdue=timedelta(days=32)))
        for _ in range(90):
            clock.advance(DAY)
            scheduler.run_due()
        assert [p.until.strftime("%m-%d") for p in task.periods] == ["01-31", "02-29", "03-31"]


class TestTwoSchedulers:
    @pytest.mark.parametrize("ahead", [timedelta(minutes=5), timedelta(minutes=-5)], ids=["ahead", "behind"])
    def test_clocks_five_minutes_apart_run_each_period_once(
        self, store: Store, open_engine: Callable[[], Engine], clock: FrozenClock, task: Task, ahead: timedelta
    ) -> None:
        other_clock = FrozenClock(clock.now() + ahead)
        other = Store(open_engine(), clock=other_clock)
        often = Schedule("often", "*/10 * * * *", task)
        one, two = Scheduler(store, [often], owner="one"), Scheduler(other, [often], owner="two")
        one.run_due()
        for _ in range(71):
            one.run_due()
            two.run_due()
            clock.advance(timedelta(minutes=1))
            other_clock.advance(timedelta(minutes=1))
        assert len(task.ends) >= 7
        assert len(task.ends) == len(set(task.ends))
        assert task.periods == sorted(task.periods, key=lambda p: p.until)

    def test_while_one_runs_the_other_leaves_the_schedule_alone(
        self, store: Store, open_engine: Callable[[], Engine], clock: FrozenClock
    ) -> None:
        seen: list[list[Run]] = []
        other_store = Store(open_engine(), clock=FrozenClock(at("2037-01-01T12:05")))
        other = Scheduler(other_store, [noon(lambda _: None)], owner="two")
        scheduler = started(store, noon(lambda _: seen.append(other.run_due())))
        clock.set(at("2037-01-01T12:00"))
        assert [r.outcome for r in scheduler.run_due()] == ["done"]
        assert seen == [[]]

    def test_one_schedule_being_run_elsewhere_does_not_keep_the_others_waiting(
        self, store: Store, clock: FrozenClock, task: Task
    ) -> None:
        scheduler = started(store, noon(task), Schedule("other", "0 12 * * *", task))
        clock.set(at("2037-01-01T12:00"))
        take_named(store, "schedule:cleanup", owner="two", period=HOUR)
        assert [r.schedule for r in scheduler.run_due()] == ["other"]

    @pytest.mark.parametrize("fails", [False, True], ids=["succeeds", "fails"])
    def test_a_runner_that_outlived_its_lease_records_nothing(
        self, store: Store, open_engine: Callable[[], Engine], clock: FrozenClock, task: Task, fails: bool
    ) -> None:
        other = Scheduler(Store(open_engine(), clock=clock), [noon(task)], owner="two")

        def slow(period: Period) -> None:
            clock.advance(HOUR)
            assert [r.outcome for r in other.run_due()] == ["done"]
            if fails:
                raise ValueError("too late anyway")

        scheduler = started(store, noon(slow))
        clock.set(at("2037-01-01T12:00"))
        (run,) = scheduler.run_due()
        assert run.outcome == "lost"
        assert task.ends == ["01 12:00"]
        assert state(store).last_success_at == at("2037-01-01T13:00"), "the other's"
        assert (state(store).failures, messages(store)) == (0, [])

    def test_a_lease_is_renewed_between_the_periods_of_a_long_catch_up(
        self, store: Store, open_engine: Callable[[], Engine], clock: FrozenClock
    ) -> None:
        rival = Scheduler(Store(open_engine(), clock=clock), [noon(lambda _: None)], owner="two")
        stolen: list[Run] = []

        def takes_ten_minutes(period: Period) -> None:
            clock.advance(timedelta(minutes=10))
            stolen.extend(rival.run_due())

        scheduler = started(store, noon(takes_ten_minutes))
        clock.set(at("2037-01-05T09:00"))
        assert [r.outcome for r in scheduler.run_due()] == ["done"] * 4
        assert stolen == []

    def test_the_lease_is_given_back(self, store: Store, clock: FrozenClock, task: Task) -> None:
        scheduler = started(store, noon(task))
        clock.set(at("2037-01-01T12:00"))
        scheduler.run_due()
        assert store.get(NamedLease.at(name="schedule:cleanup")).lease_owner is None


def test_a_schedule_waits_for_a_part_that_is_away_and_tells_of_no_failure(tmp_path: Path, clock: FrozenClock) -> None:
    ran: list[Period] = []
    away = True

    def probe() -> None:
        if away:
            raise Unavailable("the disk is gone", part=OBJECTS)

    def tidy(period: Period) -> None:
        ran.append(period)
        probe()

    with closing(open_store(f"sqlite:///{tmp_path}/s.db", clock=clock)) as store:
        store.ensure()
        outages_of(store).lookout(OBJECTS, probe=probe)
        schedules = [Schedule("tidy", "0 * * * *", tidy)]
        Scheduler(store, schedules, owner="s").run_due()
        for _ in range(24):
            clock.advance(timedelta(hours=1))
            assert {r.outcome for r in Scheduler(store, schedules, owner="s").run_due()} <= {"waits"}
        state = store.get(ScheduleState.at(name="tidy"))
        assert (len(ran), state.failures, state.last_error) == (1, 0, None)
        assert list(store.find(SystemMessage.by_status(status=MessageStatus.PENDING))) == []
        away = False
        clock.advance(timedelta(hours=1))
        assert [r.outcome for r in Scheduler(store, schedules, owner="s").run_due()] == ["done"] * 25
