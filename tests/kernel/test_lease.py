"""Leases: one holder, a growing epoch, and a fence that no zombie passes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from penstock import FrozenClock, Store, the
from penstock.domains import DOMAINS
from penstock.domains.musicvideo.model import Project, ProjectStatus, Scene
from penstock.errors import Conflict, Unavailable
from penstock.kernel.audit import SystemAudit
from penstock.kernel.lease import (
    Duty,
    Fence,
    Lease,
    LeaseLost,
    release,
    renew,
    renew_in_time,
    take,
    take_named,
    taken_by,
)
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.ports.engine import Engine

MINUTE = timedelta(minutes=1)


@pytest.fixture
def leased(store: Store) -> Store:
    return store


def project(store: Store) -> Project:
    now = store.clock.now()
    record = Project(project_id=uuid4(), concept_prompt="a", character_description="b", created_at=now, updated_at=now)
    store.create(record)
    return record


def granted(lease: Lease | None) -> Lease:
    assert lease is not None
    return lease


def test_a_lease_is_granted_when_absent_and_not_while_it_is_held(leased: Store, clock: FrozenClock) -> None:
    """NC-22, NC-23, F-NC-3, F-MV-10: a fresh record has no lease fields, and can be leased."""
    record = project(leased)
    first = granted(take(leased, record.ref, owner="a", period=MINUTE))
    assert (first.epoch, first.expires_at) == (1, clock.now() + MINUTE)
    assert take(leased, record.ref, owner="b", period=MINUTE) is None
    assert take(leased, record.ref, owner="a", period=MINUTE) is None, "not even by its holder: it renews"


def test_an_expired_lease_is_taken_over_with_a_higher_epoch(leased: Store, clock: FrozenClock) -> None:
    """NC-24, F-NC-4."""
    record = project(leased)
    granted(take(leased, record.ref, owner="a", period=MINUTE))
    clock.advance(MINUTE)
    assert granted(take(leased, record.ref, owner="b", period=MINUTE)).epoch == 2


def test_the_epoch_grows_across_release(leased: Store) -> None:
    record = project(leased)
    first = granted(take(leased, record.ref, owner="a", period=MINUTE))
    release(leased, first)
    stored = leased.get(record.ref)
    assert (stored.lease_owner, stored.lease_expires_at, stored.lease_epoch) == (None, None, 1)
    assert granted(take(leased, record.ref, owner="a", period=MINUTE)).epoch == 2


def test_a_heartbeat_keeps_a_lease(leased: Store, clock: FrozenClock) -> None:
    record = project(leased)
    held = granted(take(leased, record.ref, owner="a", period=MINUTE))
    clock.advance(MINUTE / 2)
    held = renew(leased, held, period=MINUTE)
    clock.advance(MINUTE * 0.75)
    assert take(leased, record.ref, owner="b", period=MINUTE) is None


def test_a_lease_is_renewed_once_half_of_its_time_is_over_and_not_before(leased: Store, clock: FrozenClock) -> None:
    record, second = project(leased), timedelta(seconds=1)
    held = granted(take(leased, record.ref, owner="a", period=MINUTE))
    clock.advance(MINUTE / 2 - second)
    assert renew_in_time(leased, held, period=MINUTE) is held
    clock.advance(second)
    renewed = renew_in_time(leased, held, period=MINUTE)
    assert (renewed.epoch, renewed.expires_at) == (held.epoch, clock.now() + MINUTE)
    assert leased.get(record.ref).lease_expires_at == renewed.expires_at.timestamp()


def test_a_lost_lease_cannot_be_renewed_and_its_release_is_silent(leased: Store, clock: FrozenClock) -> None:
    record = project(leased)
    old = granted(take(leased, record.ref, owner="a", period=MINUTE))
    clock.advance(MINUTE * 2)
    new = granted(take(leased, record.ref, owner="b", period=MINUTE))
    with pytest.raises(LeaseLost, match="b holds it now"):
        renew(leased, old, period=MINUTE)
    release(leased, old)
    assert leased.get(record.ref).lease_owner == "b"
    renew(leased, new, period=MINUTE)


def zombie_writes(store: Store, record: Project, lease: Lease) -> None:
    with store.change(by="a", under=lease) as change:
        change.save(change.get(record.ref).queue())
        change.emit("project.queued", record)


def test_a_fenced_out_owner_changes_nothing(leased: Store, clock: FrozenClock) -> None:
    """F-NC-4: it stalled, lost its lease and woke up: no state, no message, no audit line."""
    record = project(leased)
    old = granted(take(leased, record.ref, owner="a", period=MINUTE))
    clock.advance(MINUTE * 2)
    granted(take(leased, record.ref, owner="b", period=MINUTE))
    with pytest.raises(LeaseLost):
        zombie_writes(leased, record, old)
    assert leased.get(record.ref).status is ProjectStatus.PENDING
    assert not list(leased.find(SystemMessage.by_status(status=MessageStatus.PENDING)))
    assert not list(leased.find(SystemAudit.of_project(project_id=str(record.project_id))))


def test_the_same_owner_with_an_older_epoch_is_fenced_out_too(leased: Store, clock: FrozenClock) -> None:
    """A process that restarts under the same name is not its former self."""
    record = project(leased)
    old = granted(take(leased, record.ref, owner="a", period=MINUTE))
    clock.advance(MINUTE * 2)
    new = granted(take(leased, record.ref, owner="a", period=MINUTE))
    with pytest.raises(LeaseLost):
        zombie_writes(leased, record, old)
    zombie_writes(leased, record, new)
    assert leased.get(record.ref).status is ProjectStatus.QUEUED


def test_writes_to_other_records_are_fenced_as_well(leased: Store, clock: FrozenClock) -> None:
    record = project(leased)
    now = clock.now()
    scene = Scene(project_id=record.project_id, sequence=1, prompt="p", duration=1, created_at=now, updated_at=now)
    old = granted(take(leased, record.ref, owner="a", period=MINUTE))
    with leased.change(by="a", under=old) as change:
        change.create(scene)
    clock.advance(MINUTE * 2)
    granted(take(leased, record.ref, owner="b", period=MINUTE))
    with pytest.raises(LeaseLost), leased.change(by="a", under=old) as change:
        change.patch(scene.ref, the(Scene.prompt).set("by a zombie"))
    assert leased.get(scene.ref).prompt == "p"


def test_who_has_lost_a_lease_is_told_so_also_where_the_next_holder_has_written_already(
    leased: Store, clock: FrozenClock
) -> None:
    """The record that both write to would refuse by itself, and not say why."""
    record = project(leased)
    now = clock.now()
    scene = Scene(project_id=record.project_id, sequence=1, prompt="p", duration=1, created_at=now, updated_at=now)
    leased.create(scene)
    old = granted(take(leased, record.ref, owner="a", period=MINUTE))
    with pytest.raises(LeaseLost, match="b holds it now"), leased.change(under=old) as change:
        mine = change.get(scene.ref)
        clock.advance(MINUTE * 2)
        new = granted(take(leased, record.ref, owner="b", period=MINUTE))
        leased.modify(scene.ref, lambda found: setattr(found, "prompt", "of the next"), under=new)
        mine.prompt = "by a zombie"
        change.save(mine)
    with pytest.raises(Conflict) as refused, leased.change(under=new) as change:
        mine = change.get(scene.ref)
        leased.patch(scene.ref, the(Scene.prompt).set("of somebody else"))
        mine.prompt = "by the holder"
        change.save(mine)
    assert not isinstance(refused.value, LeaseLost)


def test_a_lease_that_was_given_back_protects_nothing_any_more(leased: Store) -> None:
    """Its epoch still stands, and it is nobody's: whoever goes on under it would meet the next holder."""
    record, other = project(leased), project(leased)
    lease = granted(take(leased, record.ref, owner="a", period=MINUTE))
    release(leased, lease)
    with pytest.raises(LeaseLost, match="nobody holds it now"):
        renew(leased, lease, period=MINUTE)
    for written in (record, other):
        with pytest.raises(LeaseLost, match="nobody holds it now"):
            zombie_writes(leased, written, lease)
    with pytest.raises(LeaseLost), leased.change(under=lease) as change:
        change.create(other)  # which is refused for itself, too
    assert {leased.get(r.ref).status for r in (record, other)} == {record.status}


def test_a_lease_that_another_has_by_the_time_its_answer_comes_is_not_ours(
    open_engine: Callable[[], Engine], leased: Store, clock: FrozenClock
) -> None:
    """What was taken is read back as it stands, and meanwhile it has ended and another has taken it."""

    class Slow(Store):
        def patch(self, ref: Any, *updates: Any, **options: Any) -> Any:
            super().patch(ref, *updates, **options)
            clock.advance(10 * MINUTE)
            granted(take(leased, ref, owner="b", period=MINUTE))
            return self.get(ref)

    record = project(leased)
    slow = Slow(open_engine(), clock=clock)
    assert take(slow, record.ref, owner="a", period=MINUTE) is None
    assert leased.get(record.ref).lease_owner == "b"


def test_a_fence_asks_nothing_of_what_writes_nothing(leased: Store, clock: FrozenClock) -> None:
    record = project(leased)
    held = granted(take(leased, record.ref, owner="a", period=MINUTE))
    assert Fence(held).join(leased, []) == []


def test_without_a_fence_the_zombie_would_win(leased: Store, clock: FrozenClock) -> None:
    """The twin that forgets `under`: it shows that the tests above can fail."""
    record = project(leased)
    granted(take(leased, record.ref, owner="a", period=MINUTE))
    clock.advance(MINUTE * 2)
    granted(take(leased, record.ref, owner="b", period=MINUTE))
    with leased.change(by="a") as change:
        change.save(change.get(record.ref).queue())
    assert leased.get(record.ref).status is ProjectStatus.QUEUED


def test_of_many_racers_exactly_one_wins(leased: Store) -> None:
    """NC-23: k concurrent callers, one lease."""
    record = project(leased)
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: take(leased, record.ref, owner=f"w{n}", period=MINUTE), range(16)))
    winners = [lease for lease in won if lease is not None]
    assert len(winners) == 1
    assert leased.get(record.ref).lease_owner == winners[0].owner


def test_of_many_racers_for_a_name_exactly_one_wins(leased: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: take_named(leased, "relay", owner=f"w{n}", period=MINUTE), range(16)))
    assert len([lease for lease in won if lease is not None]) == 1


def test_whoever_is_on_duty_writes_once_in_half_a_period(leased: Store, clock: FrozenClock) -> None:
    duty, second = Duty(leased, "relay", owner="a", period=MINUTE), timedelta(seconds=1)
    clock.advance(10 * MINUTE)
    held = granted(duty.hold())
    for _ in range(2):
        clock.advance(MINUTE / 2 - second)
        assert duty.hold() is held
        clock.advance(second)
        renewed = granted(duty.hold())
        assert (renewed.epoch, renewed.expires_at) == (1, clock.now() + MINUTE)
        held = renewed
    clock.jump(MINUTE / 2)  # of two clocks one may have been set
    renewed = granted(duty.hold())
    assert renewed is not held
    clock.advance(MINUTE / 2)
    clock.jump(-MINUTE / 2)
    assert duty.hold() is not renewed
    duty.leave()
    assert granted(take_named(leased, "relay", owner="b", period=MINUTE)).epoch == 2
    assert duty.hold() is None
    duty.leave()
    assert leased.get(held.ref).lease_owner == "b", "who is not on duty has nothing to give back"


def test_a_duty_that_was_lost_stays_lost_though_the_store_was_away_when_that_was_heard(
    leased: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    duty = Duty(leased, "relay", owner="a", period=MINUTE)
    held = granted(duty.hold())
    clock.advance(MINUTE)
    clock.jump(-MINUTE)  # by this clock the whole of its time is left
    leased.patch(held.ref, *taken_by("b", held.expires_at))

    def away(ref: Any) -> Any:
        raise Unavailable("away")

    with monkeypatch.context() as outage:
        outage.setattr(leased, "lookup", away)
        with pytest.raises(Unavailable):
            duty.hold()
    assert duty.hold() is None


def test_a_record_that_does_not_stand_cannot_be_leased(leased: Store) -> None:
    with pytest.raises(Conflict):
        take(leased, Project.at(project_id=uuid4()), owner="a", period=MINUTE)


@pytest.mark.parametrize("ahead", [timedelta(minutes=5), timedelta(minutes=-5)])
def test_clocks_five_minutes_apart_cost_work_but_never_safety(
    open_engine: Callable[[], Engine], clock: FrozenClock, ahead: timedelta
) -> None:
    """A fast clock takes a lease early; whoever lost it writes nothing, and epochs tell who is right."""
    mine = Store(open_engine(), clock=clock)
    mine.ensure(*DOMAINS)
    other = Store(open_engine(), clock=FrozenClock(clock.now() + ahead))
    record = project(mine)
    held = granted(take(mine, record.ref, owner="a", period=MINUTE))
    stolen = take(other, record.ref, owner="b", period=MINUTE)
    if ahead > timedelta():
        assert granted(stolen).epoch == held.epoch + 1
        with pytest.raises(LeaseLost):
            zombie_writes(mine, record, held)
        zombie_writes(other, record, granted(stolen))
    else:
        assert stolen is None
        zombie_writes(mine, record, held)
    assert mine.get(record.ref).status is ProjectStatus.QUEUED
