"""Every verb of the kernel, with each of the answers it waits for lost in turn: nothing is doubled, nothing is denied.

SQLite is not here: it has no wire, so none of its answers can be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from penstock import FrozenClock, Store, the
from penstock.domains.musicvideo.model import DOMAIN as MUSIC
from penstock.domains.musicvideo.model import Project, ProjectStatus
from penstock.domains.novae.model import DOMAIN as NOVAE
from penstock.domains.novae.model import NameClaim
from penstock.errors import Conflict, NotUnique
from penstock.events.feed import Feed
from penstock.events.relay import Delivery, Relay, dead_letters, revive
from penstock.events.schedule import Period, Schedule, Scheduler, ScheduleState
from penstock.kernel.audit import SystemAudit
from penstock.kernel.history_trace import UntracedPeriod, write_traces
from penstock.kernel.idempotency import Claim, Replay, SystemOnce, begin, seize
from penstock.kernel.lease import Lease, LeaseLost, NamedLease, release, renew, take, take_named
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.seals import seal, verify
from penstock.lifecycle.bundle import bundles
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.lifecycle.reaper import Reaper
from penstock.lifecycle.retention import Retention
from penstock.operations.feed_entry import FeedEntry
from penstock.ports.engine import Engine
from penstock.ports.sink import Undeliverable
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.entities import SUITE, Counter, Session, Watched
from penstock.testing.faults.losing_proxy import LosingProxy
from tests.conftest import _drop_tables, chosen_engines
from tests.kernel.members import MEMBERS, Member
from tests.kernel.shelf import PAPERS, Paper
from tests.kernel.test_outbox import Listener

NETWORKED = tuple(name for name in chosen_engines() if name != "sqlite")
MINUTE = timedelta(minutes=1)
MOST = 100
"No verb waits for more answers than this; one that does never ends."


class Trial:
    """One run of a verb: a store, names of its own, and an answer that gets lost once it is `armed`."""

    def __init__(self, store: Store, behind: Store, proxy: LosingProxy, after: int) -> None:
        self.store, self._proxy, self._after = store, proxy, after
        self.behind = behind
        "The same store, on a line that loses nothing."
        self.name = str(uuid4())
        self.clock = store.clock
        assert isinstance(self.clock, FrozenClock)

    def arm(self) -> None:
        self._proxy.lose_answer(after=self._after)

    def meanwhile(self, happens: Callable[[], object]) -> None:
        """Let something happen after the answer was lost and before anybody knows."""
        self._proxy.meanwhile = happens

    def disarm(self) -> None:
        """What follows only looks."""
        self._proxy.lose_none()

    def project(self) -> Project:
        now = self.clock.now()
        made = Project(
            project_id=uuid4(), concept_prompt="a", character_description="b", created_at=now, updated_at=now
        )
        self.store.create(made)
        return made

    def mark(self) -> SystemOnce:
        now = self.clock.now()
        end = int((now + timedelta(days=1)).timestamp())
        return SystemOnce(idempotency_key=self.name, created_at=now, ttl=end)

    def pending(self, project: Project) -> list[str]:
        found = self.store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
        return [m.type for m in found if m.aggregate == repr(project.ref)]

    def lines(self, project: Project) -> list[str]:
        return [line.action for line in self.store.find(SystemAudit.of_project(project_id=str(project.project_id)))]


Verb = Callable[[Trial], None]


class LosingEach(Protocol):
    def __call__(self, verb: Verb, *, every: int = 1) -> None: ...


@pytest.fixture(scope="module", params=NETWORKED)
def line(request: pytest.FixtureRequest) -> Iterator[tuple[Engine, Engine, LosingProxy]]:
    """An engine whose answers can be lost, with the tables that are needed, and the same on a good line."""
    server = request.getfixturevalue(request.param.replace("-", "_") + "_server")
    prefix = f"lost{uuid4().hex[:8]}_"
    url = server.create_database(prefix) if request.param == "postgres" else server.url
    port = urlsplit(url).port
    assert port is not None
    with LosingProxy(port) as proxy:
        engine = _engine(request.param, url.replace(f":{port}", f":{proxy.port}"), prefix)
        behind = _engine(request.param, url, prefix)
        Store(engine, own=SYSTEM_RECORDS).ensure(MUSIC, NOVAE, SUITE, PAPERS, MEMBERS)
        yield engine, behind, proxy
        engine.close()
        behind.close()
    if request.param != "postgres":
        _drop_tables(url, prefix)


def _engine(name: str, url: str, prefix: str) -> Engine:
    if name == "postgres":
        from penstock.engines.sql.engine import SqlEngine
        from penstock.engines.sql.postgres import PostgresConnector

        return SqlEngine(PostgresConnector(url))
    from penstock.engines.dynamodb import DynamoEngine

    return DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test", table_prefix=prefix)


@pytest.fixture
def losing_each(line: tuple[Engine, Engine, LosingProxy]) -> LosingEach:
    """Carries a verb out again and again, losing the first answer it waits for, then the second, up to the last."""
    engine, behind, proxy = line

    def carry_out(verb: Verb, *, every: int = 1) -> None:
        for after in range(0, MOST, every):
            lost = proxy.lost
            engine.close()  # so that each begins on a new line, and what is its third answer now is its third always
            clock = FrozenClock()
            verb(
                Trial(
                    Store(engine, clock=clock, own=SYSTEM_RECORDS),
                    Store(behind, clock=clock, own=SYSTEM_RECORDS),
                    proxy,
                    after,
                )
            )
            proxy.lose_none()
            if proxy.lost == lost:
                assert after > 0, "no answer was lost, so nothing was tried"
                return
        raise AssertionError(f"it waits for more than {MOST} answers")

    return carry_out


def granted(lease: Lease | None) -> Lease:
    assert lease is not None
    return lease


def turn_of(outcome: Claim | Replay) -> Claim:
    assert isinstance(outcome, Claim)
    return outcome


# Change


def test_a_change_with_its_counter_line_and_message(losing_each: LosingEach) -> None:
    """AC-36, F-MV-4, F-MV-5, F-AC-6, F-VM-4: state, counter, line and message, each once."""

    def verb(trial: Trial) -> None:
        record = trial.project()
        trial.arm()
        with trial.store.change(by="ann", why="a wish") as change:
            moved = change.get(record.ref)
            change.save(moved.queue())
            change.emit("project.queued", moved)
            change.patch(NamedLease.at(name=_counter(trial)), the(NamedLease.lease_epoch).add(1))
        trial.disarm()
        assert trial.store.get(record.ref).status is ProjectStatus.QUEUED
        assert trial.store.get(NamedLease.at(name=_counter(trial))).lease_epoch == 1
        assert trial.pending(record) == trial.lines(record) == ["project.queued"]

    losing_each(verb)


def test_unique_values_and_versions(losing_each: LosingEach) -> None:
    """Each write counts once, frees what it left and claims what it has, whoever hears of it."""

    def verb(trial: Trial) -> None:
        store, name = trial.store, trial.name
        there, other = Member.at(member_id=name), Member.at(member_id=f"{name} other")
        trial.arm()
        store.create(Member(member_id=name, email=f"{name} 1"))
        store.patch(there, the(Member.email).set(f"{name} 2"))
        store.put(Member(member_id=name, email=f"{name} 3"))
        with store.change(by="ann", project=name) as change:
            read = change.get(there)
            read.email = f"{name} 4"
            change.save(read)
        store.patch(there, the(Member.note).set("x"))
        with pytest.raises(NotUnique):
            store.create(Member(member_id=other.key["member_id"], email=f"{name} 4"))
        trial.disarm()
        assert store.get(there) == Member(member_id=name, email=f"{name} 4", note="x", revision=5)
        for number in (1, 2, 3):
            store.put(Member(member_id=other.key["member_id"], email=f"{name} {number}"))
        trial.arm()
        store.delete(there)
        trial.disarm()
        store.create(Member(member_id=name, email=f"{name} 4"))

    losing_each(verb)


def _counter(trial: Trial) -> str:
    """A record that is only counted in."""
    name = f"{trial.name} counted"
    if trial.store.lookup(NamedLease.at(name=name)) is None:
        trial.store.create(NamedLease(name=name, lease_epoch=0))
    return name


def test_a_change_that_is_refused(losing_each: LosingEach) -> None:
    """F-MV-4: it stays refused, and leaves nothing."""

    def verb(trial: Trial) -> None:
        record = trial.project()
        with pytest.raises(Conflict) as refusal, trial.store.change() as change:
            moved = change.get(record.ref)
            with trial.store.change() as faster:
                faster.save(faster.get(record.ref).fail(error_message="first"))
            change.save(moved.queue())
            change.emit("project.queued", moved)
            trial.arm()
        trial.disarm()
        assert refusal.value.position == 0
        assert trial.store.get(record.ref).status is ProjectStatus.FAILED
        assert trial.pending(record) == []

    losing_each(verb)


def test_a_claim(losing_each: LosingEach) -> None:
    """F-NC-2: granted to the first, again to the same, and to nobody else."""

    def verb(trial: Trial) -> None:
        mine, others = (NameClaim(normalized_name=trial.name, nova_id=uuid4()) for _ in range(2))
        trial.arm()
        for _ in range(2):
            with trial.store.change(by=trial.name) as change:
                change.claim(mine, owner="nova_id")
        with pytest.raises(Conflict), trial.store.change(by=trial.name) as change:
            change.claim(others, owner="nova_id")
        trial.disarm()
        assert trial.store.get(mine.ref).nova_id == mine.nova_id

    losing_each(verb)


@pytest.mark.parametrize("by", ["ann", None])
def test_a_change_whose_message_is_told_before_its_answer_is_missed(losing_each: LosingEach, by: str | None) -> None:
    """F-AC-6: a relay is quick, and what it marks still proves that the change was made."""

    told: list[str] = []

    def verb(trial: Trial) -> None:
        record = trial.project()
        trial.arm()
        trial.meanwhile(lambda: told.append(_delivered(trial, record)))
        with trial.store.change(by=by) as change:
            moved = change.get(record.ref)
            change.save(moved.queue())
            change.emit("project.queued", moved)
        trial.disarm()
        assert trial.store.get(record.ref).status is ProjectStatus.QUEUED

    losing_each(verb)
    assert "published" in told, "the message was not told in time, so nothing was tried"


def test_a_change_of_several_records_is_once_in_the_history_of_each(losing_each: LosingEach) -> None:
    def verb(trial: Trial) -> None:
        records = [trial.project(), trial.project()]
        trial.arm()
        with trial.store.change(by=trial.name) as change:
            for record in records:
                change.save(change.get(record.ref).queue())
        assert isinstance(trial.clock, FrozenClock)
        trial.clock.advance(timedelta(seconds=10))
        write_traces(trial.store)
        for record in records:
            assert [e.by for e in trial.store.history(record.ref).entries] == [trial.name]
        trial.disarm()
        trial.store.delete_many(period.ref for period in trial.store.find(UntracedPeriod.all_of_them()))

    losing_each(verb)


def _delivered(trial: Trial, record: Project) -> str:
    """Mark the message about a record, as a relay does that has told it; what became of it."""
    for message in trial.behind.find(SystemMessage.by_status(status=MessageStatus.PENDING)):
        if message.aggregate == repr(record.ref):
            with trial.behind.change() as change:
                change.save(change.track(message).publish(forget_at=trial.clock.now() + timedelta(days=1)))
            return message.status.value
    return "not there yet"


def test_a_batch_of_many_changes_that_are_alike(losing_each: LosingEach) -> None:
    """F-MV-5: they travel as one statement, and each is counted once."""

    def verb(trial: Trial) -> None:
        counters = [Counter(name=f"{trial.name} {n}") for n in range(6)]
        trial.store.put_many(counters)
        trial.arm()
        with trial.store.batch() as batch:
            for counter in counters:
                with batch.change(by=trial.name) as change:
                    change.patch(counter.ref, the(Counter.total).add(1))
        trial.disarm()
        assert [trial.store.get(c.ref).total for c in counters] == [1] * 6

    losing_each(verb)


def test_a_change_that_creates_many_records_that_are_alike(losing_each: LosingEach) -> None:
    def verb(trial: Trial) -> None:
        counters = [Counter(name=f"{trial.name} {n}") for n in range(6)]
        trial.arm()
        with trial.store.change(by=trial.name) as change:
            for counter in counters:
                change.create(counter)
        trial.disarm()
        assert None not in trial.store.get_many(c.ref for c in counters)

    losing_each(verb)


def test_a_count_in_a_record_that_is_removed_before_the_answer_is_missed(losing_each: LosingEach) -> None:
    """It is told that the record is gone, and not handed nothing."""

    def verb(trial: Trial) -> None:
        counter = Counter(name=trial.name)
        trial.store.put(counter)
        trial.arm()
        trial.meanwhile(lambda: trial.behind.delete(counter.ref))
        try:
            assert trial.store.patch(counter.ref, the(Counter.total).add(1)).total == 1
        except Conflict:
            assert trial.behind.lookup(counter.ref) is None

    losing_each(verb)


# Leases


def test_a_lease_taken_renewed_and_released(losing_each: LosingEach) -> None:
    """NC-22, NC-23, F-NC-3, F-NC-4: the taker hears that it has it, and the epoch grows by one."""

    def verb(trial: Trial) -> None:
        record = trial.project()
        trial.arm()
        held = granted(take(trial.store, record.ref, owner="a", period=MINUTE))
        assert held.epoch == 1
        assert take(trial.store, record.ref, owner="b", period=MINUTE) is None
        held = renew(trial.store, held, period=2 * MINUTE)
        release(trial.store, held)
        again = granted(take(trial.store, record.ref, owner="b", period=MINUTE))
        trial.disarm()
        assert again.epoch == 2
        stored = trial.store.get(record.ref)
        assert (stored.lease_owner, stored.lease_epoch) == ("b", 2)

    losing_each(verb)


def test_a_named_lease_that_is_new_and_one_that_has_expired(losing_each: LosingEach) -> None:
    def verb(trial: Trial) -> None:
        trial.arm()
        first = granted(take_named(trial.store, trial.name, owner="a", period=MINUTE))
        assert take_named(trial.store, trial.name, owner="b", period=MINUTE) is None
        trial.clock.advance(MINUTE)  # type: ignore[attr-defined]
        second = granted(take_named(trial.store, trial.name, owner="b", period=MINUTE))
        assert (first.epoch, second.epoch) == (1, 2)
        with pytest.raises(LeaseLost):
            renew(trial.store, first, period=MINUTE)

    losing_each(verb)


def test_a_change_under_a_lease(losing_each: LosingEach) -> None:
    """F-NC-4: the holder's is made, and the former holder's is not."""

    def verb(trial: Trial) -> None:
        record = trial.project()
        old = granted(take(trial.store, record.ref, owner="a", period=MINUTE))
        trial.clock.advance(MINUTE)  # type: ignore[attr-defined]
        new = granted(take(trial.store, record.ref, owner="b", period=MINUTE))
        trial.arm()
        for lease, refused in ((old, True), (new, False)):
            try:
                with trial.store.change(by=lease.owner, under=lease) as change:
                    change.save(change.get(record.ref).queue())
                    change.emit("project.queued", record)
            except LeaseLost:
                assert refused
            else:
                assert not refused
        trial.disarm()
        assert trial.pending(record) == trial.lines(record) == ["project.queued"]

    losing_each(verb)


def test_a_change_under_a_lost_lease_that_another_has_made_just_so(losing_each: LosingEach) -> None:
    """F-NC-4: what stands there is what the zombie wanted, and still it is told that it was not its doing."""

    def verb(trial: Trial) -> None:
        record = trial.project()
        old = granted(take(trial.store, record.ref, owner="a", period=MINUTE))
        trial.clock.advance(MINUTE)  # type: ignore[attr-defined]
        new = granted(take(trial.store, record.ref, owner="b", period=MINUTE))
        with pytest.raises(LeaseLost), trial.store.change(under=old) as zombie:
            moved = zombie.get(record.ref)
            with trial.store.change(under=new) as change:
                change.save(change.get(record.ref).queue())
            zombie.save(moved.queue())
            trial.arm()

    losing_each(verb)


# Once


def test_a_claim_begun_and_ended_with_its_effect(losing_each: LosingEach) -> None:
    """AC-40, F-AC-4: who got the claim hears of it, and the effect is there once."""

    def verb(trial: Trial) -> None:
        record = trial.project()
        trial.arm()
        claim = turn_of(begin(trial.store, trial.mark(), owner="a", period=MINUTE))
        with trial.store.change(once=claim) as change:
            change.patch(record.ref, the(Project.scene_count).add(1))
            change.result = {"scenes": 1}
        assert begin(trial.store, trial.mark(), owner="b", period=MINUTE) == Replay({"scenes": 1})
        trial.disarm()
        assert trial.store.get(record.ref).scene_count == 1

    losing_each(verb)


def test_a_claim_that_failed_and_one_that_was_left_are_taken_over(losing_each: LosingEach) -> None:
    def verb(trial: Trial) -> None:
        trial.arm()
        first = turn_of(begin(trial.store, trial.mark(), owner="a", period=MINUTE))
        trial.store.commit([first.failed()])
        second = turn_of(begin(trial.store, trial.mark(), owner="a", period=MINUTE))
        trial.clock.advance(MINUTE)  # type: ignore[attr-defined]
        third = turn_of(begin(trial.store, trial.mark(), owner="a", period=MINUTE))
        with pytest.raises(Conflict):
            trial.store.commit([second.done({"by": "the second"})])
        trial.store.commit([third.done({"by": "the third"})])
        assert begin(trial.store, trial.mark(), owner="b", period=MINUTE) == Replay({"by": "the third"})

    losing_each(verb)


def test_a_claim_that_is_seized(losing_each: LosingEach) -> None:
    def verb(trial: Trial) -> None:
        lease = granted(take_named(trial.store, trial.name, owner="a", period=MINUTE))
        turn_of(begin(trial.store, trial.mark(), owner="dead", period=MINUTE))
        trial.arm()
        claim = turn_of(seize(trial.store, trial.mark(), owner="a", period=MINUTE, under=lease))
        trial.store.commit([claim.done(None)])

    losing_each(verb)


# Messages


def test_what_the_relay_marks(losing_each: LosingEach) -> None:
    """AC-37, AC-38: published, postponed and buried, each once; and what was told is not told again."""

    def verb(trial: Trial) -> None:
        listener = Listener()
        relay = Relay(trial.store, listener, owner=trial.name, chance=lambda: 1.0)
        relay.drain()  # what other tests have left
        listener.heard.clear()
        record, others = trial.project(), [trial.project() for _ in range(3)]
        with trial.store.change() as change:
            for name in ("a", "b"):
                change.emit(name, record)
            for other in others:
                change.emit("refused" if other is others[0] else "c", other)
        listener.failing = {"b": [ConnectionError("down")], "refused": [Undeliverable("no")]}
        trial.arm()
        assert relay.drain() == Delivery(published=3, postponed=1, buried=1)
        trial.clock.advance(MINUTE)  # type: ignore[attr-defined]
        assert relay.drain() == Delivery(published=1)
        (letter,) = [m for m in dead_letters(trial.store) if m.aggregate == repr(others[0].ref)]
        assert (letter.attempts, letter.error) == (1, "Undeliverable: no")
        revive(trial.store, letter, by="operator")
        assert relay.drain() == Delivery(published=1)
        relay.close()
        trial.disarm()
        assert listener.types == ["a", "c", "c", "b", "refused"]
        assert trial.pending(record) == []

    losing_each(verb)


# Schedules


def test_a_schedule_that_announces(losing_each: LosingEach) -> None:
    """F-TA-4: every period is announced once."""

    def verb(trial: Trial) -> None:
        scheduler = Scheduler(trial.store, [Schedule(trial.name, "0 * * * *", "sweep")], owner="a")
        trial.arm()
        scheduler.run_due()
        trial.clock.advance(timedelta(hours=2))  # type: ignore[attr-defined]
        assert [r.outcome for r in scheduler.run_due()] == ["done"] * 2
        trial.disarm()
        found = trial.store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
        told = [m.payload["until"] for m in found if m.payload.get("name") == trial.name]
        assert told == [f"2037-01-01T0{hour}:00:00Z" for hour in (1, 2)]

    losing_each(verb)


def test_a_schedule_that_runs_and_fails(losing_each: LosingEach) -> None:
    """F-TA-4: a period that succeeded is not run again, one that failed is counted once and run again."""

    def verb(trial: Trial) -> None:
        runs: list[Period] = []

        def task(period: Period) -> None:
            runs.append(period)
            if len(runs) == 2:
                raise ValueError("the bucket is gone")

        scheduler = Scheduler(trial.store, [Schedule(trial.name, "0 * * * *", task)], owner="a")
        scheduler.run_due()
        trial.clock.advance(timedelta(hours=2))  # type: ignore[attr-defined]
        trial.arm()
        assert [r.outcome for r in scheduler.run_due()] == ["done", "failed"]
        state = trial.store.get(ScheduleState.at(name=trial.name))
        assert state.failures == 1
        assert [r.outcome for r in scheduler.run_due()] == ["done"]
        assert [p.until.hour for p in runs] == [1, 2, 2]

    losing_each(verb)


# Lifetimes


def test_a_run_of_retention(losing_each: LosingEach, tmp_path: Path) -> None:
    """AC-42, F-AC-11: archived once, removed, and told once."""

    def verb(trial: Trial) -> None:
        archive = FolderArchive(tmp_path / trial.name)
        moment = trial.clock.now() - timedelta(days=31)
        papers = [Paper(name=f"{trial.name} {n}", filed_at=moment) for n in range(3)]
        trial.store.put_many(papers)
        trial.arm()
        (done,) = Retention(trial.store, archive, [PAPERS], owner=trial.name).run()
        trial.disarm()
        assert (done.records, done.removed, done.changed, done.busy) == (3, 3, 0, False)
        assert len(list(bundles(archive))) == 1
        assert trial.store.get_many([p.ref for p in papers]) == [None] * 3
        told = trial.store.find(SystemAudit.of_project(project_id="-"))
        assert len([line for line in told if line.actor == trial.name]) == 1

    losing_each(verb)


def test_a_run_of_the_reaper(losing_each: LosingEach) -> None:
    """F-X-2: what has expired goes, and nothing else."""

    def verb(trial: Trial) -> None:
        second = int(trial.clock.now().timestamp())
        gone, kept = (Session(user=trial.name, session_id=str(n), ends_at=second + n) for n in (10, 100))
        trial.store.put_many([gone, kept])
        trial.clock.advance(timedelta(seconds=10))  # type: ignore[attr-defined]
        trial.arm()
        if not trial.store.engine.features.native_expiry:
            Reaper(trial.store, [SUITE], owner="a").run_once()
        assert trial.store.get_many([gone.ref, kept.ref]) == [None, kept]

    losing_each(verb, every=4)


# What follows


def test_a_handler_of_the_feed(losing_each: LosingEach) -> None:
    """F-VM-6: each event once, and the place is kept."""

    def verb(trial: Trial) -> None:
        feed = Feed(trial.store, "of this test", owner=trial.name)
        trial.store.put(Counter(name=trial.name))
        seen: list[str] = []

        @feed.on(Watched, "insert")
        def count(entry: FeedEntry, claim: Claim) -> None:
            seen.append(entry.key["label"])
            with trial.store.change(once=claim) as change:
                change.patch(Counter.at(name=trial.name), the(Counter.total).add(1))

        assert feed.drain() == 0, "the last trial's place was kept"
        for label in "ab":
            trial.store.put(Watched(shelf=trial.name, label=label))
        trial.arm()
        assert feed.drain() == 2
        trial.disarm()
        feed.close()
        assert seen == ["a", "b"]
        assert trial.store.get(Counter.at(name=trial.name)).total == 2

    losing_each(verb)


def test_a_seal(losing_each: LosingEach) -> None:
    """The sealer hears that the seal is its own, and the chain has no gap."""

    def verb(trial: Trial) -> None:
        with trial.store.change(by="ann", project=trial.name) as change:
            change.put(Counter(name=trial.name))
        trial.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
        trial.arm()
        made = seal(trial.store, trial.name, by="sealer")
        assert made is not None
        assert (made.number, made.count) == (1, 1)
        trial.disarm()
        assert verify(trial.store, trial.name).sound

    losing_each(verb)
