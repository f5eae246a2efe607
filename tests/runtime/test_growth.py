"""A day of traffic, with kills, restarts and jumps of the clock, ends with every internal table within its bound."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from penstock import FrozenClock
from penstock.declare.pattern import before
from penstock.kernel.audit import SystemAudit
from penstock.kernel.seals import read_chain, verify_all
from penstock.lifecycle.archived_trails import ArchivedTrails
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.ports.engine import Engine
from penstock.runtime.bounds import BOUNDS, Stays
from tests.runtime.mill import Mill

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DUTIES = 14
"Leases by name: one for each duty of a service, and for its relay, feed and schedule."


@pytest.fixture
def clock() -> FrozenClock:
    """It stands still at the present: DynamoDB Local removes for good what has ended by the time of the day."""
    return FrozenClock(datetime.now(UTC).replace(microsecond=0))


@pytest.fixture
def mill(open_engine: Callable[[], Engine], tmp_path: Path, clock: FrozenClock) -> Mill:
    return Mill(open_engine, tmp_path, clock)


def live(mill: Mill, rounds: int, chance: random.Random) -> int:
    """Rounds of traffic, two hours each; some processes die, and now and then the clock is set. How many have died."""
    died = 0
    for number in range(rounds):
        dies = number % 3 == 1
        died += not mill.work(dies_after=chance.randrange(5, 90) if dies else None)
        jump = {2: 2 * HOUR, 3: -2 * HOUR, 5: 5 * DAY, 6: -5 * DAY}.get(number % 12, timedelta(0))
        mill.clock.advance(2 * HOUR + jump)
    return died


def rest(mill: Mill, *, days: int = 0) -> None:
    """Time in which nobody comes and a service runs: hours, until the log is trimmed, then days."""
    for pause in (*[HOUR] * 4, *[35 * DAY] * (days // 35), *[HOUR] * 5, 2 * DAY):
        mill.clock.advance(pause)
        mill.duties(mill.process())


def check_rest(mill: Mill, census: Counter[str], *, rounds: int) -> None:
    """What is left of the traffic is what its bound says."""
    left = {bound.label: census[bound.label] for bound in BOUNDS}
    for bound in BOUNDS:
        if bound.stays in (Stays.NONE, Stays.UNSETTLED) and bound.label != "penstock.LogMark":
            assert left[bound.label] == 0, f"{bound.label}: {left[bound.label]} are left, though {bound.kept}"
    assert left["penstock.LogMark"] <= 80
    assert left["penstock.FeedPlace"] == left["penstock.ScheduleState"] == 1
    assert left["penstock.NamedLease"] <= DUTIES
    assert left["penstock.AuditedProject"] <= mill.projects + 1
    assert left["penstock.Seal"] <= rounds * 5
    assert left["penstock.Checkpoint"] <= rounds


def check_trail(mill: Mill) -> None:
    """All that was written down is still proved, wherever it is, and what is old is in the archive.

    Where the clock was set back, lines are dated before a seal: that is told, as the page of the kernel says, and they
    stay in the store for whoever looks into it.
    """
    store = mill.process().context.store
    chain = read_chain(store)
    archive = ArchivedTrails(FolderArchive(mill.settings.archive))
    verdicts = list(verify_all(store, chain, trails=[SystemAudit], archive=archive))
    assert chain.sound
    assert {f.kind for v in verdicts for f in v.findings} <= {"added"}
    sound = [v for v in verdicts if v.sound]
    assert len(sound) > len(verdicts) / 2
    assert sum(v.archived for v in sound) > mill.projects
    old = before(mill.clock.now() - 2 * DAY)
    assert [v.project for v in sound if store.first(SystemAudit.of_project(project_id=v.project, ts=old))] == []


def check_log(mill: Mill) -> None:
    """Where the store does not trim its log, we do."""
    size = mill.process().change_log().size()
    assert size is None or size.entries == 0


def check_overdue(mill: Mill) -> None:
    service = mill.process()
    service.reaper().run_once()
    assert [s.wrong for s in service.stored() if s.wrong] == []


def test_a_day_of_traffic_ends_within_every_bound(mill: Mill) -> None:
    assert live(mill, 12, random.Random(16)) >= 3
    check_overdue(mill)
    found = mill.census()
    assert all(found[name] for name in ("work.Task", "work.Job", "work.QueueHint", "penstock.FeedLetter"))
    mill.settle()
    rest(mill, days=70)
    check_rest(mill, mill.census(), rounds=12 + 11)
    check_trail(mill)
    check_log(mill)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_week_of_traffic_ends_within_every_bound(mill: Mill) -> None:
    seed = uuid4().int
    print(f"seed {seed}")
    live(mill, 7 * 12, random.Random(seed))
    check_overdue(mill)
    rest(mill, days=35)  # what a clock that was ahead has put off is over by then
    mill.settle()
    rest(mill, days=70)
    check_rest(mill, mill.census(), rounds=7 * 12 + 23)
    check_trail(mill)
    check_log(mill)
