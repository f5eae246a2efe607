"""Schedules: work that is due at moments of UTC, done for every period, one runner at a time.

The guarantee: each period is run at least once, in order, and never again after its success was recorded. It is run
more than once only if a run dies, or outlives its lease, between doing the work and recording it; whoever has lost the
lease records nothing. A task that is a name instead of a function is announced in the very commit that records the
period, hence exactly once.

The state knows the last period that succeeded, not when the next one is due, so nothing is forgotten while no scheduler
runs, and clocks that differ or jump back repeat nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

from cronsim import CronSim, CronSimError

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.units import Count, UtcMicros, UtcSeconds
from penstock.errors import Conflict, DeclarationError, NotFound, told
from penstock.kernel.change import Change
from penstock.kernel.lease import Lease, LeaseLost, release, renew, take_named
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.kernel.system import SYSTEM
from penstock.net.backoff import Backoff
from penstock.schema.documents import kept
from penstock.schema.kinds import instant_text

_LONGEST_ERROR = 500
_ROUND = 100
"How many periods of one schedule are caught up at a time, so that one far behind does not keep the others waiting."
_LONGEST_PAUSE = timedelta(hours=1)
"What keeps failing is tried again after a minute, after two, after four, up to this."
_BACKOFF = Backoff(first=60.0, longest=_LONGEST_PAUSE.total_seconds())
_LOOKED_AT = 500
"How many days with moments, from ten years at most, are looked at for the longest pause between two."
_LOOKED_FROM = datetime(2023, 12, 31, 23, 59, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """The time between two moments of a schedule; it is due when it ends."""

    since: datetime
    until: datetime


@dataclass(frozen=True)
class Schedule:
    """When something is done, and what.

    ``cron`` has five fields, in UTC: minute, hour, day of month, month, day of week. ``task`` is a function of the
    period, or the name of work to announce in the outbox. After downtime each missed period is run, or one run covers
    them all (``catch_up="one"``). No success for longer than ``overdue`` is told to others, once. ``task_names`` are
    those under which Celery knows it, where documents or other programs have names for it; beat sends the first.
    """

    name: str
    cron: str
    task: Callable[[Period], object] | str
    catch_up: Literal["each", "one"] = "each"
    overdue: timedelta = timedelta(hours=25)
    task_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.catch_up not in ("each", "one"):
            raise DeclarationError(f'schedule {self.name}: catch_up is "each" or "one", not {self.catch_up!r}')
        try:
            pause = _longest_pause(self.cron)
        except CronSimError as error:
            raise DeclarationError(f"schedule {self.name}: {self.cron!r} is not a cron expression: {error}") from None
        if pause is None:
            raise DeclarationError(f"schedule {self.name}: {self.cron!r} is never due; there is no such day")
        if self.overdue <= pause:
            raise DeclarationError(
                f"schedule {self.name}: {pause} may pass between two runs, so overdue={self.overdue} would alarm in "
                f"between; make it longer"
            )

    def periods(self, *, after: datetime, since: datetime | None, until: datetime) -> Iterator[Period]:
        """The periods that end after one moment and not after another; the first begins at ``since``, if given."""
        for moment in CronSim(self.cron, after.astimezone(UTC)):
            if moment > until:
                return
            yield Period(since or self._before(moment), moment)
            since = moment

    def next_after(self, moment: datetime) -> datetime | None:
        """When it is due next after a moment."""
        return next(iter(CronSim(self.cron, moment.astimezone(UTC))), None)

    def _before(self, moment: datetime) -> datetime:
        """The moment before this one."""
        return next(CronSim(self.cron, moment, reverse=True), moment)


@lru_cache(maxsize=256)  # schedules are made anew whenever a system is put together
def _longest_pause(cron: str) -> timedelta | None:
    """The longest time between two moments, as far as the first days show; None when there is no moment at all."""
    # cronsim takes a sixth field, for seconds; cron as people know it has five.
    if len(cron.split()) != 5:
        raise CronSimError("it has five fields, minute, hour, day of month, month and day of week")
    first = next(CronSim(cron, _LOOKED_FROM), None)
    if first is None:
        return None
    # A day has no moment, or the same ones as every other: one of them, and the first moments of many, tell it all.
    day = list(itertools.takewhile(lambda m: m.date() == first.date(), CronSim(cron, _LOOKED_FROM)))
    firsts: list[datetime] = []
    for moment in itertools.islice(CronSim(_once_a_day(cron, first), _LOOKED_FROM), _LOOKED_AT):
        firsts.append(moment)
        if len(firsts) > 1 and moment.year > _LOOKED_FROM.year + 10:
            break
    within = (b - a for a, b in itertools.pairwise(day))
    between = (b - a - (day[-1] - day[0]) for a, b in itertools.pairwise(firsts))
    return max(itertools.chain(within, between), default=timedelta(0))


def _once_a_day(cron: str, moment: datetime) -> str:
    """On the same days, at the time of a moment."""
    return " ".join([str(moment.minute), str(moment.hour), *cron.split()[2:]])


class ScheduleState(Entity, table=SYSTEM, relation="schedules"):
    """What is known of a schedule's runs."""

    __moved_by_work__ = True

    name: str
    first_seen_at: UtcSeconds
    "Periods that ended before are not run."
    last_period: UtcSeconds | None = None
    "The end of the last period that succeeded."
    last_success_at: UtcMicros | None = None
    last_error: str | None = None
    failures: Count = 0
    "Runs that failed since the last success."
    retry_at: UtcMicros | None = None
    "When one that keeps failing is tried again; removed by the next success."
    alerted_at: UtcMicros | None = None
    "When others were told that it is overdue; removed by the next success."

    @key("SCHEDULE#{name}", "SCHEDULE")
    def at(self, *, name: str) -> None: ...

    def fail(self, error: str, now: datetime) -> None:
        """Another run has failed. The first time it is tried again with the next look, then less and less often."""
        self.last_error, self.failures = error, self.failures + 1
        if self.failures > 1:
            self.retry_at = now + timedelta(seconds=_BACKOFF.bound(self.failures - 1))

    def rests(self, now: datetime) -> bool:
        """Is it too early to try again? A moment further away than any pause comes from a wrong clock."""
        return self.retry_at is not None and now < self.retry_at <= now + _LONGEST_PAUSE

    def is_overdue(self, now: datetime, limit: timedelta) -> bool:
        """Has there been no success for too long?

        A success recorded far in the future by a wrong clock counts as well: until then nothing would be run.
        """
        return abs(now - (self.last_success_at or self.first_seen_at)) > limit


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one period."""

    schedule: str
    period: Period
    outcome: Literal["done", "failed", "lost", "waits"]
    """lost: the lease passed to another before the outcome could be recorded, so that one runs the period as well.
    waits: a part of the system is away; that is no failure, and the period is run when it is back."""
    error: str | None = None


class Scheduler:
    """Runs what is due. Any number of processes may have one.

    ``period`` is how long a lease on a schedule lasts: longer than its longest run, and than the clocks differ.
    """

    def __init__(
        self, store: Store, schedules: Iterable[Schedule], *, owner: str, period: timedelta = timedelta(minutes=15)
    ) -> None:
        self._store, self._owner, self._period = store, owner, period
        self._schedules = list(schedules)
        names = [s.name for s in self._schedules]
        self._outages = outages_of(store)
        self._waits_for: dict[str, str] = store.context.known(__name__)
        "The part of the system that each schedule waited for when it was last run."
        if twice := {n for n in names if names.count(n) > 1}:
            raise DeclarationError(f"two schedules are called {', '.join(sorted(twice))}; they would share their state")

    def run_due(self) -> list[Run]:
        """Run every period that is due, except where another scheduler is at it; one that fails stops no other.

        A failed period, and with it the later ones of the same schedule, is tried again, and ever less often.
        """
        runs: list[Run] = []
        for schedule in self._schedules:
            lease = take_named(self._store, f"schedule:{schedule.name}", owner=self._owner, period=self._period)
            if lease is None:
                continue
            try:
                runs += self._run_schedule(schedule, lease)
            finally:
                release(self._store, lease)
        return runs

    def run_now(self, name: str, *, by: str) -> Run:
        """Run a schedule for all the time since its last period up to now, though it is not due; under its lease.

        The next period begins where this one ends, so nothing is left out or done twice. NotFound when there is no such
        schedule, Conflict while it is at work.
        """
        schedule = next((s for s in self._schedules if s.name == name), None)
        if schedule is None:
            raise NotFound(f"there is no schedule {name!r}; there are {', '.join(s.name for s in self._schedules)}")
        lease = take_named(self._store, f"schedule:{name}", owner=self._owner, period=self._period)
        if lease is None:
            raise Conflict(f"the schedule {name} is at work just now; look at it again in a while")
        try:
            state, now = self._state(schedule), self._store.clock.now()
            since = state.last_period or state.first_seen_at
            return self._run(schedule, state, Period(since, max(since, now)), lease, by=by)
        finally:
            release(self._store, lease)

    def _run_schedule(self, schedule: Schedule, lease: Lease) -> list[Run]:
        # Only now, under the lease: what is read here stays true until we change it or lose the lease.
        state = self._state(schedule)
        runs: list[Run] = []
        try:
            for period in itertools.islice(self._due(schedule, state), _ROUND):
                if lease.expires_at - self._store.clock.now() < self._period / 2:
                    lease = renew(self._store, lease, period=self._period)
                runs.append(self._run(schedule, state, period, lease))
                if runs[-1].outcome != "done":
                    break
            self._alert(schedule, state, lease)
        except LeaseLost:
            pass  # whoever has it now goes on
        return runs

    def _state(self, schedule: Schedule) -> ScheduleState:
        ref = ScheduleState.at(name=schedule.name)
        state = self._store.lookup(ref)
        if state is None:
            state = ScheduleState(name=schedule.name, first_seen_at=self._store.clock.now())
            try:
                self._store.create(state)
            except Conflict:
                state = self._store.get(ref)
        return state

    def _due(self, schedule: Schedule, state: ScheduleState) -> Iterator[Period]:
        """The periods to be run, oldest first."""
        if state.rests(self._store.clock.now()) or self._waits_still(schedule):
            return iter(())
        last = state.last_period
        periods = schedule.periods(after=last or state.first_seen_at, since=last, until=self._store.clock.now())
        if schedule.catch_up == "each":
            return periods
        return _as_one(periods)

    def _waits_still(self, schedule: Schedule) -> bool:
        """Is a part of the system away that it needs, as was seen when it was last run?"""
        part = self._waits_for.pop(schedule.name, None)
        if part is None or self._outages.lookout(part).ask():
            return False
        self._waits_for[schedule.name] = part
        return True

    def _run(
        self, schedule: Schedule, state: ScheduleState, period: Period, lease: Lease, *, by: str | None = None
    ) -> Run:
        failed, shown = None, ""
        try:
            if callable(schedule.task):
                schedule.task(period)
        except Exception as error:
            part = self._outages.met(error)
            # One that answers all the same is no reason to keep a failure from those who should hear of it.
            if part is not None and not self._outages.lookout(part).ask():
                self._waits_for[schedule.name] = part
                return Run(schedule.name, period, "waits", kept(str(error), _LONGEST_ERROR))
            failed = kept(f"{type(error).__name__}: {error}", _LONGEST_ERROR)
            shown = kept(f"{type(error).__name__}: {told(error)}", _LONGEST_ERROR)
        try:
            if failed is None:
                self._record_success(schedule, state, period, lease, by=by)
            else:
                self._record_failure(state, period, lease, failed, shown)
        except LeaseLost as lost:
            return Run(schedule.name, period, "lost", str(lost))
        return Run(schedule.name, period, "done" if failed is None else "failed", failed)

    def _record_success(
        self, schedule: Schedule, state: ScheduleState, period: Period, lease: Lease, *, by: str | None
    ) -> None:
        with self._store.change(by=by, why=None if by is None else "run now", under=lease) as change:
            change.track(state)
            state.last_period, state.last_success_at = period.until, self._store.clock.now()
            state.last_error, state.failures, state.retry_at, state.alerted_at = None, 0, None, None
            change.save(state)
            if isinstance(schedule.task, str):
                _emit(change, schedule.task, state, period)

    def _record_failure(self, state: ScheduleState, period: Period, lease: Lease, error: str, shown: str) -> None:
        """The alert goes to whoever runs the system, with all that is known; the state is for more to read."""
        with self._store.change(under=lease) as change:
            change.track(state)
            state.fail(shown, self._store.clock.now())
            change.save(state)
            _emit(change, "schedule.failed", state, period, error=error, failures=state.failures)

    def _alert(self, schedule: Schedule, state: ScheduleState, lease: Lease) -> None:
        """Tell once that a schedule is overdue; the next success ends the matter."""
        now = self._store.clock.now()
        if state.alerted_at is not None or not state.is_overdue(now, schedule.overdue):
            return
        success = state.last_success_at
        with self._store.change(under=lease) as change:
            change.track(state)
            state.alerted_at = now
            change.save(state)
            change.emit(
                "schedule.overdue",
                state,
                last_success_at=instant_text(success, 6) if success else None,
                first_seen_at=instant_text(state.first_seen_at, 0),
                overdue_seconds=int(schedule.overdue.total_seconds()),
                last_error=state.last_error,
            )


def overdue(store: Store, schedules: Iterable[Schedule]) -> list[str]:
    """The schedules that are overdue now, for a health check: a scheduler that is down can tell nobody itself."""
    chosen = list(schedules)
    states = store.get_many(ScheduleState.at(name=s.name) for s in chosen)
    now = store.clock.now()
    return [s.name for s, state in zip(chosen, states, strict=True) if state and state.is_overdue(now, s.overdue)]


def _as_one(periods: Iterator[Period]) -> Iterator[Period]:
    """One period from the beginning of the first to the end of the last."""
    first = next(periods, None)
    if first is not None:
        until = first.until
        for period in periods:
            until = period.until
        yield Period(first.since, until)


def _emit(change: Change, type: str, state: ScheduleState, period: Period, **more: Any) -> None:
    change.emit(type, state, since=instant_text(period.since, 0), until=instant_text(period.until, 0), **more)
