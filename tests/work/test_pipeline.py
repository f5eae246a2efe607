"""Jobs of several steps: in order, with what each made, pauses for a person, and ways back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, DeclarationError, IllegalMove, InvalidValue, NotFound
from penstock.kernel.audit import SystemAudit
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.work import (
    JobStatus,
    Outcome,
    Pipeline,
    PipelineJob,
    PipelineStep,
    Runner,
    StepRun,
    StepStatus,
    Task,
    TaskAttempt,
    Tasks,
    TaskStatus,
)
from penstock.work.dead_letters import DeadLetters, cancel, retry, retry_all
from penstock.workers.manual import ManualWorkers
from tests.work.plant import CAST, SHOWN, TASKS, Stamp, made, stamps

MINUTE = timedelta(minutes=1)


def start(store: Store, pipeline: Pipeline[PipelineJob, StepRun] = CAST, **input: Any) -> PipelineJob:
    with store.change(by="ann") as change:
        return pipeline.start(change, input, project="p1")


def now(store: Store, job: PipelineJob) -> PipelineJob:
    return store.get(PipelineJob.at(job_id=job.job_id))


def steps(store: Store, job: PipelineJob) -> list[tuple[str, int, str]]:
    return [(s.name, s.round, s.status.value) for s in store.find(StepRun.of_job(job_id=job.job_id))]


def told(store: Store) -> list[str]:
    return [m.type for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))]


def test_steps_run_in_order_and_what_each_made_is_kept(store: Store, workers: ManualWorkers) -> None:
    """AC-4: a step's status, artifacts and metrics."""
    for name in ("melt", "pour", "file"):
        store.create(Stamp(name=f"bell-{name}"))
    job = start(store, name="bell")
    seen = []
    while workers.run_one() is Outcome.DONE:
        seen.append((now(store, job).status, now(store, job).position))
    assert seen == [(JobStatus.RUNNING, 1), (JobStatus.RUNNING, 2), (JobStatus.DONE, 2)]
    found = list(store.find(StepRun.of_job(job_id=job.job_id)))
    assert [(s.name, s.status, s.artifacts, s.metrics) for s in found] == [
        (name, StepStatus.DONE, [f"{name}/1"], {"seconds": 3}) for name in ("melt", "pour", "file")
    ]
    assert CAST.made_by(store, job.job_id, "pour").artifacts == ["pour/1"]
    assert stamps(store, "bell-melt", "bell-pour", "bell-file") == {"bell-melt": 1, "bell-pour": 1, "bell-file": 1}
    assert told(store) == ["job.done"]


def test_a_pause_for_review_frees_the_worker(store: Store, workers: ManualWorkers) -> None:
    job = start(store, SHOWN)
    assert workers.drain() == 2
    paused = now(store, job)
    assert (paused.status, paused.position, paused.task_id) == (JobStatus.PAUSED, 1, None)
    for status in (TaskStatus.WAITING, TaskStatus.RUNNING):
        assert store.first(Task.by_status(status=status)) is None
    assert [j.job_id for j in store.find(PipelineJob.by_status(status=JobStatus.PAUSED))] == [job.job_id]
    assert told(store) == ["job.paused"]
    SHOWN.decide(store, job.job_id, approve=True, round=1, by="ann", note="fine")
    assert workers.drain() == 1
    assert now(store, job).status is JobStatus.DONE
    step = store.get(StepRun.at(job_id=job.job_id, position=1, round=1))
    assert (step.status, step.decided_by, step.note) == (StepStatus.APPROVED, "ann", "fine")
    trail = list(store.find(SystemAudit.of_project(project_id="p1")))
    assert [(a.actor, a.details.get("why")) for a in trail if a.actor == "ann"] == [("ann", None), ("ann", "fine")]


def test_a_decision_is_bound_to_the_run_that_was_reviewed(store: Store, workers: ManualWorkers) -> None:
    job = start(store, SHOWN)
    workers.drain()
    SHOWN.decide(store, job.job_id, approve=False, round=1, by="ann", note="too dark")
    with pytest.raises(Conflict, match="running at paint"):
        SHOWN.decide(store, job.job_id, approve=True, round=2, by="bob")
    workers.drain()
    with pytest.raises(Conflict, match="run 2; the decision is about run 1"):
        SHOWN.decide(store, job.job_id, approve=True, round=1, by="bob")
    assert now(store, job).status is JobStatus.PAUSED
    SHOWN.decide(store, job.job_id, approve=True, round=2, by="bob")
    with pytest.raises(Conflict):
        SHOWN.decide(store, job.job_id, approve=True, round=2, by="bob")
    workers.drain()
    assert now(store, job).status is JobStatus.DONE


def test_a_decision_about_one_step_is_none_about_the_next(store: Store) -> None:
    """Their first runs have the same number."""
    tasks = Tasks("gallery")
    steps = [PipelineStep(name, made(name), review=True) for name in ("draw", "paint")]
    hung = Pipeline(tasks, "hung", steps)
    job, workers = start(store, hung), ManualWorkers(store, [tasks])
    workers.drain()
    hung.approve(store, job.job_id, step="draw", round=1, by="ann")
    workers.drain()
    with pytest.raises(Conflict, match="paused at paint, run 1; the decision is about run 1 of draw"):
        hung.reject(store, job.job_id, step="draw", round=1, by="bob")
    hung.approve(store, job.job_id, step="paint", round=1, by="bob")
    assert now(store, job).status is JobStatus.DONE


def test_of_two_who_decide_at_once_one_is_refused(
    store: Store, workers: ManualWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start(store, SHOWN)
    workers.drain()
    enter = SHOWN._passages.enter

    def meanwhile(visit: Any) -> None:
        enter(visit)
        monkeypatch.setattr(SHOWN._passages, "enter", enter)
        SHOWN.decide(store, job.job_id, approve=False, round=1, by="bob")

    monkeypatch.setattr(SHOWN._passages, "enter", meanwhile)
    with pytest.raises(Conflict):
        SHOWN.decide(store, job.job_id, approve=True, round=1, by="ann")
    assert steps(store, job)[-2:] == [("paint", 1, "rejected"), ("paint", 2, "running")]


def test_rejecting_goes_back_to_that_step_or_an_earlier_one(store: Store, workers: ManualWorkers) -> None:
    job = start(store, SHOWN)
    workers.drain()
    with pytest.raises(InvalidValue, match="frame comes after paint"):
        SHOWN.decide(store, job.job_id, approve=False, round=1, by="ann", back_to="frame")
    SHOWN.decide(store, job.job_id, approve=False, round=1, by="ann")
    assert workers.drain() == 1
    SHOWN.decide(store, job.job_id, approve=False, round=2, by="ann", back_to="draw")
    assert workers.drain() == 2
    SHOWN.decide(store, job.job_id, approve=True, round=3, by="ann")
    workers.drain()
    assert steps(store, job) == [
        ("draw", 1, "done"),
        ("draw", 3, "done"),
        ("paint", 1, "rejected"),
        ("paint", 2, "rejected"),
        ("paint", 3, "approved"),
        ("frame", 3, "done"),
    ]
    assert SHOWN.made_by(store, job.job_id, "draw").artifacts == ["draw/3"]


def test_a_step_that_fails_for_good_fails_the_job_and_it_can_be_resumed_from_there(
    store: Store, workers: ManualWorkers
) -> None:
    job = start(store, fails="pour", how="terminal")
    workers.drain()
    failed = now(store, job)
    assert (failed.status, failed.position, failed.error) == (JobStatus.FAILED, 1, "never")
    assert steps(store, job) == [("melt", 1, "done"), ("pour", 1, "failed")]
    assert sorted(told(store)) == ["job.failed", "task.failed"]
    with pytest.raises(InvalidValue, match="has come to pour"):
        CAST.resume(store, job.job_id, from_step="file", by="ann")
    with pytest.raises(InvalidValue, match="no step 'mould'; it has melt, pour, file"):
        CAST.resume(store, job.job_id, from_step="mould", by="ann")
    with store.change() as change:
        repaired = change.get(job.ref)
        repaired.input = {}
        change.save(repaired)
    CAST.resume(store, job.job_id, from_step="pour", by="ann")
    with pytest.raises(IllegalMove, match="is running; cancel it first"):
        CAST.resume(store, job.job_id, from_step="pour", by="ann")
    assert workers.drain() == 2
    assert now(store, job).status is JobStatus.DONE
    assert steps(store, job)[2:] == [("pour", 2, "done"), ("file", 2, "done")]
    CAST.resume(store, job.job_id, from_step="melt", by="ann")
    assert workers.drain() == 3, "one that is done can be run again as well"


def test_a_step_that_is_handed_back_needs_no_look_at_its_job(
    store: Store, workers: ManualWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a domain's own records are told of attempts, and a job without them is not read for that."""
    start(store)
    (work,) = workers.runner.take()
    lookup, read = store.lookup, list[Any]()

    def noted(ref: Any) -> Any:
        read.append(ref)
        return lookup(ref)

    monkeypatch.setattr(store, "lookup", noted)
    workers.runner.hand_back(work)
    assert (read, store.get(work.task.ref).status) == ([], TaskStatus.WAITING)


def test_a_step_is_attempted_as_often_as_it_may(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    job = start(store, fails="file", how="error", until=3)
    for _ in range(3):
        workers.drain()
        clock.advance(MINUTE)
    assert now(store, job).status is JobStatus.DONE
    (task,) = [t for t in store.find(Task.by_status(status=TaskStatus.DONE)) if t.name == "plant.cast.file"]
    assert len(list(store.find(TaskAttempt.of_task(task_id=task.task_id)))) == task.attempts == 3


def test_a_dead_letter_of_a_step_that_is_tried_again_takes_the_job_with_it(
    store: Store, workers: ManualWorkers
) -> None:
    jobs = [start(store, fails="pour", how="terminal", until=1000) for _ in range(2)]
    workers.drain()
    for job in jobs:
        with store.change() as change:
            repaired = change.get(job.ref)
            repaired.input = {}
            change.save(repaired)
    settled = retry_all(store, [TASKS], DeadLetters(name="plant.cast.pour"), by="ann")
    assert len(settled.done) == 2
    assert {now(store, job).status for job in jobs} == {JobStatus.RUNNING}
    workers.drain()
    assert {now(store, job).status for job in jobs} == {JobStatus.DONE}
    assert steps(store, jobs[0])[1] == ("pour", 1, "done"), "it is the same run, tried again"


def test_a_job_that_is_resumed_or_cancelled_leaves_no_dead_letter(store: Store, workers: ManualWorkers) -> None:
    resumed, cancelled = (start(store, fails="pour", how="terminal") for _ in range(2))
    workers.drain()
    letters = [letter.task_id for letter in DeadLetters().find(store)]
    CAST.resume(store, resumed.job_id, from_step="melt", by="ann")
    CAST.cancel(store, cancelled.job_id, by="ann")
    assert list(DeadLetters().find(store)) == []
    for letter in letters:
        with pytest.raises(IllegalMove):
            retry(store, [TASKS], letter, by="ann")


def test_a_step_in_quarantine_waits_and_goes_on_or_is_given_up(store: Store, workers: ManualWorkers) -> None:
    going, leaving = (start(store, fails="melt", how="quarantine", until=2) for _ in range(2))
    workers.drain()
    assert now(store, going).status is JobStatus.RUNNING
    by_job = {t.input["job_id"]: t.task_id for t in DeadLetters(TaskStatus.QUARANTINED).find(store)}
    with store.change() as change:
        repaired = change.get(going.ref)
        repaired.input = {}
        change.save(repaired)
    retry(store, [TASKS], by_job[going.job_id], by="ann")
    cancel(store, [TASKS], by_job[leaving.job_id], by="ann")
    workers.drain()
    assert now(store, going).status is JobStatus.DONE
    assert (now(store, leaving).status, now(store, leaving).error) == (JobStatus.FAILED, "cancelled by ann")


@pytest.mark.parametrize("at", ["waiting", "running", "paused", "failed", "quarantined"])
def test_a_job_can_be_cancelled_wherever_it_is(store: Store, workers: ManualWorkers, at: str) -> None:
    how = {"failed": "terminal", "quarantined": "quarantine"}.get(at)
    job = start(store, SHOWN, **({"fails": "draw", "how": how} if how else {}))
    work = None
    if at == "running":
        (work,) = workers.runner.take()
    elif at != "waiting":
        workers.drain()
    SHOWN.cancel(store, job.job_id, by="ann", why="not wanted")
    assert now(store, job).status is JobStatus.CANCELLED
    if work is not None:
        assert workers.runner.run(work) is Outcome.LOST, "a step that runs changes nothing any more"
    assert workers.drain() == 0
    assert steps(store, job)[-1][2] == ("failed" if at == "failed" else "cancelled")
    assert store.first(Task.by_status(status=TaskStatus.QUARANTINED)) is None
    assert now(store, job).status is JobStatus.CANCELLED
    SHOWN.resume(store, job.job_id, from_step="draw", by="ann")
    assert now(store, job).status is JobStatus.RUNNING


def test_a_job_whose_step_ends_just_now_is_cancelled_all_the_same(
    store: Store, workers: ManualWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start(store)
    lookup = store.lookup

    def lookup_then_end(ref: Any) -> Any:
        found = lookup(ref)
        monkeypatch.setattr(store, "lookup", lookup)
        workers.drain(most=1)
        return found

    monkeypatch.setattr(store, "lookup", lookup_then_end)
    CAST.cancel(store, job.job_id, by="ann")
    assert now(store, job).status is JobStatus.CANCELLED
    assert workers.drain() == 0


def test_a_paused_job_can_be_resumed_instead_of_decided(store: Store, workers: ManualWorkers) -> None:
    job = start(store, SHOWN)
    workers.drain()
    SHOWN.resume(store, job.job_id, from_step="draw", by="ann")
    workers.drain()
    assert steps(store, job)[2:] == [("paint", 1, "cancelled"), ("paint", 2, "paused")]


def test_a_step_whose_worker_is_lost_ends_the_job_as_its_own_failure_would(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    job = start(store)
    dying = Runner(store, [TASKS], owner="dying")
    for _ in range(5):
        dying.take()
        clock.advance(10 * MINUTE)
        assert workers.rescue() == 1
        clock.advance(10 * MINUTE)
    assert now(store, job).status is JobStatus.FAILED
    assert "dying" in (now(store, job).error or "")


def test_a_job_is_named_by_its_record_its_key_or_its_id(store: Store) -> None:
    job = start(store)
    for named in (job, job.ref, job.job_id):
        assert CAST.state(store, named).job_id == job.job_id
    assert CAST.cancel(store, job.ref, by="ann").status is JobStatus.CANCELLED


def test_pipelines_are_told_apart(store: Store, workers: ManualWorkers) -> None:
    job = start(store)
    with pytest.raises(InvalidValue, match=r"of the pipeline plant\.cast, not plant\.shown"):
        SHOWN.cancel(store, job.job_id, by="ann")
    with pytest.raises(NotFound, match="no run of file that counts"):
        CAST.made_by(store, job.job_id, "file")
    with pytest.raises(DeclarationError, match="each with a name of its own"):
        Pipeline(Tasks("own"), "twice", [PipelineStep("a", made("a")), PipelineStep("a", made("a"))])
    with pytest.raises(DeclarationError, match="at least one step"):
        Pipeline(Tasks("own"), "none", [])
