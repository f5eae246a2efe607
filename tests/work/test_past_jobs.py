"""Past jobs: remembered for their time, then forgotten as a whole, and never while somebody may still need them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any, cast

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, NotFound
from penstock.kernel.lease import Lease, release, take_named
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import (
    FanOut,
    JobStatus,
    Pipeline,
    PipelineJob,
    PipelineStep,
    StepContext,
    StepResult,
    StepRun,
    TaskContext,
    Tasks,
    past_jobs,
)
from penstock.work.job import ChildCount, ChildRun
from penstock.work.past_jobs import Forgotten, PastJobs, forget
from penstock.work.registry import Retry
from penstock.work.task import KEPT
from penstock.workers.manual import ManualWorkers
from tests.faults.mortal import ENGINE, Killed, Life, Mortal

DAY = timedelta(days=1)
WORKS = Tasks("past")


def plan(work: TaskContext, context: StepContext[PipelineJob, StepRun]) -> list[dict[str, Any]]:
    return [{"part": number} for number in range(context.input.get("parts", 3))]


def child(work: TaskContext, context: StepContext[PipelineJob, StepRun], input: dict[str, Any]) -> StepResult:
    return StepResult(metrics=input)


def paint(work: TaskContext, context: StepContext[PipelineJob, StepRun]) -> StepResult:
    if context.input.get("fails"):
        raise PermissionError("no paint")
    return StepResult(artifacts=["paint/1.png"] if context.input.get("files") else [])


PARTS = Pipeline(
    WORKS,
    "parts",
    [PipelineStep("cut", FanOut(plan, child)), PipelineStep("paint", paint, retry=Retry(attempts=1))],
)


def run(store: Store, **input: Any) -> PipelineJob:
    with store.change(by="ann") as change:
        job = PARTS.start(change, input, project="p1")
    ManualWorkers(store, [WORKS]).drain()
    return job


def kept(store: Store, job: PipelineJob) -> list[int]:
    """How many jobs, runs, children and counts there are of it."""
    found = store.lookup(job.ref)
    parts = (kind.of_job(job_id=job.job_id) for kind in (StepRun, ChildRun, ChildCount))
    return [int(found is not None), *(sum(1 for _ in store.find(cast(Any, query))) for query in parts)]


def past(store: Store) -> PastJobs:
    return PastJobs(store, owner="a")


def test_a_job_is_forgotten_with_all_that_was_kept_of_it(store: Store, clock: FrozenClock) -> None:
    done, other = run(store), run(store)
    with store.change(by="ann") as change:
        waiting = PARTS.start(change, {}, project="p1")
    PARTS.cancel(store, other, by="ann") if store.get(other.ref).status is JobStatus.RUNNING else None
    clock.advance(KEPT - DAY)
    assert (past(store).run().jobs, kept(store, done)) == (0, [1, 2, 3, 1])
    clock.advance(2 * DAY)
    told = past(store).plan()
    assert (told.jobs, told.records) == (2, 12)
    assert kept(store, done) == [1, 2, 3, 1]
    ran = past(store).run()
    assert (ran.jobs, ran.records, ran.held) == (2, 12, 0)
    assert [kept(store, job) for job in (done, other)] == [[0, 0, 0, 0]] * 2
    assert kept(store, waiting)[0] == 1
    with pytest.raises(NotFound, match="forgotten 30 days after its end"):
        PARTS.resume(store, done, from_step="paint", by="ann")


def test_a_job_that_failed_waits_for_a_person(store: Store, clock: FrozenClock) -> None:
    failed = run(store, fails=True)
    assert store.get(failed.ref).status is JobStatus.FAILED
    clock.advance(10 * KEPT)
    assert past(store).run().jobs == 0
    PARTS.cancel(store, failed, by="ann")
    clock.advance(KEPT + DAY)
    assert past(store).run().jobs == 1
    assert kept(store, failed) == [0, 0, 0, 0]


def test_a_job_whose_steps_hold_files_stays_until_it_is_let_go(store: Store, clock: FrozenClock) -> None:
    made = run(store, files=True)
    clock.advance(KEPT + DAY)
    assert (past(store).plan().held, past(store).run().held, past(store).run().held) == (1, 1, 1)
    assert PARTS.made_by(store, made, "paint").artifacts == ["paint/1.png"]
    PARTS.forget(store, made)
    assert kept(store, made) == [0, 0, 0, 0]


def test_one_at_a_time_forgets_and_no_more_than_it_may(store: Store, clock: FrozenClock) -> None:
    holding = run(store, files=True)
    clock.advance(timedelta(seconds=1))
    jobs = [run(store) for _ in range(3)]
    clock.advance(KEPT + DAY)
    other = take_named(store, "past-jobs", owner="b", period=timedelta(minutes=1))
    assert other is not None
    assert past(store).run() == Forgotten(busy=True)
    release(store, other)
    assert past(store).run(limit=2) == Forgotten(jobs=2, records=12, held=1)
    assert sum(kept(store, job)[0] for job in jobs) == 1
    assert store.get(holding.ref).holds_files, "its steps are not looked at again"
    assert PastJobs(store, owner="b").run() == Forgotten(jobs=1, records=6, held=1), "nobody is at it any more"


def test_whoever_is_relieved_meanwhile_forgets_no_more(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        run(store)
    clock.advance(KEPT + DAY)
    relieved = list[Lease | None]()

    def slowly(store: Store, job: PipelineJob) -> int:
        clock.advance(timedelta(minutes=10))
        relieved.append(take_named(store, "past-jobs", owner="b", period=timedelta(minutes=10)))
        return forget(store, job)

    monkeypatch.setattr("penstock.work.past_jobs.forget", slowly)
    assert past(store).run() == Forgotten(jobs=1, records=6, busy=True)
    assert [lease and lease.owner for lease in relieved] == ["b"], "after ten minutes without a sign of life"


def test_a_job_that_somebody_lets_go_meanwhile_is_no_mistake(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, plain = run(store, files=True), run(store)
    clock.advance(KEPT + DAY)
    read, holds_files = store.get(plain.ref), past_jobs._holds_files

    def then_let_go(store: Store, job: PipelineJob) -> bool:
        found = holds_files(store, job)
        if found:
            PARTS.forget(store, job)
        return found

    monkeypatch.setattr(past_jobs, "_holds_files", then_let_go)
    assert past(store).run() == Forgotten(jobs=1, records=6, held=1)
    assert kept(store, made) == [0, 0, 0, 0]
    assert forget(store, read) == 0


def test_a_job_that_is_taken_up_again_is_not_forgotten(store: Store, clock: FrozenClock) -> None:
    job = run(store)
    clock.advance(KEPT + DAY)
    read = store.get(job.ref)
    PARTS.resume(store, job, from_step="paint", by="ann")
    assert forget(store, read) == 0
    assert store.get(job.ref).status is JobStatus.RUNNING


def test_whoever_takes_up_a_job_that_is_just_forgotten_is_told(store: Store, clock: FrozenClock) -> None:
    job = run(store)
    clock.advance(KEPT + DAY)
    with pytest.raises(Conflict), store.change(by="ann") as change:
        PARTS.resume(change, job, from_step="paint", by="ann")
        forget(store, store.get(job.ref))
    assert kept(store, job) == [0, 0, 0, 0]


def _same(life: Life) -> Life:
    return life


def dying(store: Store, life: Life) -> Store:
    """The store, for somebody who dies after so many writes."""
    mortal = Mortal(lambda: store.engine, partial(_same, life), ENGINE)
    return Store(cast(Engine, mortal), clock=store.clock, own=SYSTEM_RECORDS)


def test_what_was_begun_to_be_forgotten_is_not_taken_up_though_whoever_began_it_died(
    store: Store, clock: FrozenClock
) -> None:
    """Some of its steps may be gone by then."""
    job = run(store)
    clock.advance(KEPT + DAY)
    read = store.get(job.ref)
    with pytest.raises(Conflict), store.change(by="ann") as change:
        PARTS.resume(change, job, from_step="paint", by="ann")
        with pytest.raises(Killed):
            forget(dying(store, Life(writes=1)), read)
    left = store.get(job.ref)
    assert (left.status, left.round, left.forgotten_at) == (JobStatus.DONE, read.round + 1, clock.now())
    with pytest.raises(NotFound):
        PARTS.resume(store, job, from_step="paint", by="ann")
    assert forget(store, left) == 6
    assert kept(store, job) == [0, 0, 0, 0]


def lives(store: Store) -> Iterator[None]:
    """Runs that die with their first write, their second and so on, until one lives."""
    for writes in range(1000):
        life = Life(writes=writes)
        try:
            past(dying(store, life)).run()
        except Killed:
            yield
        if not life.dead:
            return
        cast(FrozenClock, store.clock).advance(timedelta(minutes=30))


def test_killed_between_any_two_commits_the_rest_is_found(store: Store, clock: FrozenClock) -> None:
    job = run(store, parts=120)
    clock.advance(KEPT + DAY)
    assert sum(1 for _ in lives(store)) >= 3
    assert kept(store, job) == [0, 0, 0, 0]
