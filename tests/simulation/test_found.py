"""What the simulation has found, each as it was found and once more by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from penstock import FrozenClock, Store
from penstock.kernel.lease import Duty, NamedLease
from penstock.ports.clock import SKEW
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.simulation import Decision, Happening, Schedule, SimulatedEngine, simulate
from penstock.testing.simulation.shrinking import play
from penstock.work import Runner
from penstock.work.rescue import Rescuer
from penstock.work.working import WORKING
from tests.simulation.cinema import migrated_by_two
from tests.simulation.shop import followed, watch
from tests.simulation.twins import namesakes
from tests.work.plant import TASKS, Order, look

PERIOD = timedelta(seconds=60)


class Stalling:
    """An engine; a process that asks it stands still before one of its calls, and meanwhile others go on."""

    def __init__(self, real: SimulatedEngine, name: str, meanwhile: Callable[[], object]) -> None:
        self._real, self._name, self._meanwhile = real, name, [meanwhile]

    def __getattr__(self, name: str) -> Any:
        if name == self._name and self._meanwhile:
            self._meanwhile.pop()()
        return getattr(self._real, name)


def _opened(engine: Any, clock: FrozenClock) -> Store:
    store = Store(engine, clock=clock, own=SYSTEM_RECORDS)
    store.ensure(WORKING)
    return store


def test_one_who_stood_still_has_not_watched_a_lease_meanwhile() -> None:
    """It read its clock, stood still, found a lease of that very moment, and took it for one that is never renewed."""
    clock, engine = FrozenClock(), SimulatedEngine()
    holder = Duty(_opened(engine, clock), "watch", owner="holder", period=PERIOD)

    def meanwhile() -> None:
        clock.advance(2 * PERIOD)
        assert holder.hold() is not None

    stalled = Duty(_opened(Stalling(engine, "get", meanwhile), clock), "watch", owner="stalled", period=PERIOD)
    assert stalled.hold() is None
    clock.advance(timedelta(seconds=1))
    assert stalled.hold() is None, "the holder has renewed it a second ago"
    clock.advance(PERIOD)
    assert stalled.hold() is not None


def test_it_was_found_by_this_schedule() -> None:
    decisions = (
        Decision(0, 1, Happening.SWITCH, 1),
        Decision(1, 4, Happening.SWITCH, 2),
        Decision(0, 8, Happening.SWITCH, 1),
        Decision(1, 8, Happening.STALL, 1),
        Decision(2, 13, Happening.SWITCH, 1),
    )
    outcome = play(watch(), Schedule(3, decisions))
    assert outcome.broken is None


def test_a_rescuer_that_stood_still_has_not_watched_a_worker_meanwhile() -> None:
    """The worker's clock is behind, within the skew; so its leases look over, and only watching tells."""
    mine, fast = FrozenClock(skew=SKEW), FrozenClock(skew=SKEW)
    fast.jump(timedelta(minutes=4))
    engine = SimulatedEngine()
    store = _opened(engine, mine)
    with store.change() as change:
        look.enqueue(change, Order())
    runner = Runner(store, [TASKS], owner="worker", lease=PERIOD)
    (work,) = runner.take()

    def wait(time: timedelta) -> None:
        for clock in (mine, fast):
            clock.advance(time)
        runner.renew([work])

    stalling = _opened(Stalling(engine, "find", lambda: wait(2 * PERIOD)), fast)
    rescuer = Rescuer(stalling, [TASKS], lease=PERIOD)
    for _ in range(3):
        assert rescuer.run_once() == 0, "the worker lives, and renews its lease"
        wait(timedelta(seconds=1))


def test_two_equal_writes_of_a_handler_are_both_known_again() -> None:
    """They had one mark, which was gone with the first, so that it heard of the second."""
    token = "penstock-sim-1:145_0.3s2_2.1s3_3.10z4_0.6u_0.9z4_2.29z4_0.10z4"
    assert simulate(followed(), token=token).schedules == 1


def test_who_is_refused_in_the_last_moment_looks_again() -> None:
    """Whoever might have mended it met a store that was away for a moment, and was not waited for."""
    token = "penstock-sim-1:10567_0.10z3_1.11c_2.10jm26_2.42u"
    assert simulate(namesakes(), token=token).schedules == 1


def test_who_migrates_keeps_its_turn_while_it_waits_for_others() -> None:
    """It waited for silent writers for a minute without renewing its lease, and another began as well."""
    outcome = play(migrated_by_two(), Schedule(0))
    assert outcome.broken is None
    turns = [t for step in outcome.steps for t in step.touched if t.shape is NamedLease.__shape__]
    owners = [[row and row.values.get("lease_owner") for row in (t.old, t.new)] for t in turns]
    assert any(before is None and after for before, after in owners)
    assert [pair for pair in owners if None not in pair and pair[0] != pair[1]] == [], "none was relieved"
