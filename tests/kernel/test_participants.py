"""What takes part in a commit adds its writes, and tells a refusal of them in its own words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict
from penstock.kernel.audit import SystemAudit
from penstock.kernel.handle import StoreHandle, patch, put
from penstock.kernel.idempotency import Claim, ClaimLost, SystemOnce, begin
from penstock.kernel.lease import Lease, LeaseLost, NamedLease, release, take_named
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.participants import Participant, commit
from penstock.kernel.quota import Quota, QuotaExceeded, Share
from penstock.operations.conditions import Compare, Missing
from penstock.operations.updates import Set
from penstock.operations.writes import Write

JOBS = Quota("participants.jobs", "jobs")
MINUTE = timedelta(minutes=1)


class Mark:
    """Adds a write that a condition refuses a few times."""

    def __init__(self, name: str, *, refusals: int) -> None:
        self._name, self._left = name, refusals
        self.asked: list[Write] = []

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        never = Compare("name", "=", "another")
        self._own = put(NamedLease(name=self._name), when=never if self._left else None)
        return [*writes, self._own]

    def was_refused(self, write: Write, refused: Conflict) -> bool:
        self.asked.append(write)
        self._left -= write is self._own
        return write is self._own


def note(name: str) -> Write:
    return put(NamedLease(name=name), when=Missing())


def stands(store: Store, name: str) -> bool:
    return store.lookup(NamedLease.at(name=name)) is not None


def test_a_commit_is_made_anew_while_a_participant_asks_for_it(store: Store) -> None:
    mark = Mark("mark", refusals=3)
    commit(store, [note("one")], [mark])
    assert len(mark.asked) == 3
    assert stands(store, "one")
    assert stands(store, "mark")


def test_a_commit_that_is_refused_for_ever_ends_with_the_refusal(store: Store) -> None:
    with pytest.raises(Conflict):
        commit(store, [note("one")], [Mark("mark", refusals=1000)])
    assert not stands(store, "one")


def test_a_refusal_of_anothers_write_is_nobodys_matter(store: Store) -> None:
    store.create(NamedLease(name="taken"))
    marks: Sequence[Participant] = [Mark("a", refusals=0), Mark("b", refusals=0)]
    with pytest.raises(Conflict) as refused:
        commit(store, [note("taken")], marks)
    assert (type(refused.value), refused.value.position) == (Conflict, 0)
    assert not stands(store, "a")


def test_nothing_to_commit_is_no_commit(store: Store, clock: FrozenClock) -> None:
    lease = held(store)
    with store.change(by="ann", under=lease):
        pass
    release(store, lease)
    with store.change(by="ann", under=lease) as change:
        change.quotas.settle("no such hold")
    assert list(store.find(SystemAudit.of_project(project_id="-"))) == []


def held(store: Store) -> Lease:
    lease = take_named(store, "work", owner="me", period=MINUTE)
    assert lease is not None
    return lease


def claimed(store: Store, clock: FrozenClock) -> Claim:
    now = clock.now()
    record = SystemOnce(idempotency_key="k", created_at=now, ttl=int(now.timestamp()) + 3600)
    claim = begin(store, record, owner="me", period=MINUTE)
    assert isinstance(claim, Claim)
    return claim


@pytest.mark.parametrize("lost", ["lease", "claim", "quota", "nothing"])
def test_whoever_is_refused_says_so_in_its_own_words_and_nothing_is_written(
    store: Store, clock: FrozenClock, lost: str
) -> None:
    """All of them take part in one commit, and one of them has lost what it needs."""
    lease, claim = held(store), claimed(store, clock)
    share = Share(JOBS, "p", 1, limit=1)
    if lost == "lease":
        release(store, lease)
    if lost == "claim":
        store.commit([claim.failed()])
    if lost == "quota":
        with store.change() as change:
            change.quotas.reserve("earlier", share, until=clock.now() + MINUTE)

    def work() -> None:
        with store.change(by="ann", why="work", project="p", under=lease, once=claim) as change:
            change.quotas.reserve("mine", share, until=clock.now() + MINUTE)
            record = change.create(NamedLease(name="done"))
            change.emit("work.done", record)
            change.result = {"done": True}

    if lost == "nothing":
        work()
    else:
        with pytest.raises({"lease": LeaseLost, "claim": ClaimLost, "quota": QuotaExceeded}[lost]):
            work()
    done = lost == "nothing"
    assert stands(store, "done") is done
    assert len(list(store.find(SystemAudit.of_project(project_id="p")))) == done
    assert len(list(store.find(SystemMessage.by_status(status=MessageStatus.PENDING)))) == done


def test_a_refusal_by_the_leased_record_itself_is_not_taken_for_a_lost_lease(store: Store) -> None:
    lease = held(store)
    with pytest.raises(Conflict) as refused, store.change(under=lease) as change:
        change.patch(lease.ref, Set("project_id", "p"), when=Compare("project_id", "=", "q"))
    assert type(refused.value) is Conflict
    store.commit([patch(lease.ref, Set("lease_owner", "another"))])
    with pytest.raises(LeaseLost), store.change(under=lease) as change:
        change.patch(lease.ref, Set("project_id", "p"))
