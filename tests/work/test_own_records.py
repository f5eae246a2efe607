"""Pipelines on a domain's own job, step and attempt: its states, its names, and nothing of it done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from penstock import SYSTEM, Entity, FrozenClock, Move, Role, Store, Table, key, move, open_store
from penstock.declare.rights import creation_permission, move_permission
from penstock.domains.assetcreator.bookkeeping import Audit, Outbox
from penstock.domains.assetcreator.model import DOMAIN as ASSETS
from penstock.domains.assetcreator.model import Job, Project, Step
from penstock.domains.assetcreator.stages import Status, StepName
from penstock.domains.novae.model import DOMAIN as NOVAS
from penstock.domains.novae.model import Attempt, ErrorClass, JobRun, RunStatus
from penstock.errors import Conflict, DeclarationError, IllegalMove, InvalidValue, NotFound
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.work import (
    WORKING,
    ChildRun,
    ChildStatus,
    FanOut,
    JobRecords,
    JobStatus,
    Outcome,
    Pipeline,
    PipelineJob,
    PipelineStep,
    Runner,
    StepContext,
    StepResult,
    StepRun,
    Task,
    TaskContext,
    Tasks,
    TaskStatus,
    Terminal,
    pipeline_job,
)
from penstock.work.dead_letters import DeadLetters, cancel, retry, retry_all
from penstock.workers.manual import ManualWorkers
from tests.work.own_records import (
    AC_TASKS,
    ASSET,
    DISCOVER,
    INITIALIZE,
    NC_TASKS,
    SOON,
    STRICT,
    ask,
    make,
    new_job,
    run_for,
)

MINUTE = timedelta(minutes=1)


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    """The two systems on SQLite."""
    store = open_store(f"sqlite:///{tmp_path}/own.db", clock=clock)
    store.ensure(WORKING, ASSETS, NOVAS)
    yield store
    store.close()


@pytest.fixture
def workers(store: Store) -> ManualWorkers:
    return ManualWorkers(store, [AC_TASKS, NC_TASKS])


def project(store: Store, *gates: StepName) -> None:
    given = {"gates": [gate.value for gate in gates]}
    store.put(Project(project_id="p1", name="Robots", style_profile=given, created_at=store.clock.now()))


def steps(store: Store, job: Job) -> list[tuple[str, str]]:
    found = sorted(store.find(Step.of_job(job_id=job.job_id)), key=lambda step: step.ts)
    return [(step.step_name.value, step.status.value) for step in found]


def told(store: Store) -> list[str]:
    return [message.type for message in store.find(Outbox.by_status(status=MessageStatus.PENDING))]


# The asset creator


def test_a_job_goes_through_its_own_states(store: Store, workers: ManualWorkers) -> None:
    """AC-22: status, artifacts and metrics at every stage; the job tells its step."""
    project(store)
    job = ask(store)
    assert (job.status, job.current_step) == (Status.PENDING, StepName.TEXT_TO_IMAGE)
    assert steps(store, job) == [("text-to-image", "pending")]
    seen = []
    while workers.run_one() is Outcome.DONE:
        at = store.get(job.ref)
        seen.append((at.status.value, at.current_step.value))
    names = [name.value for name in StepName]
    assert seen == [("running", name) for name in names[1:]] + [("done", "export")]
    assert steps(store, job) == [(name, "done") for name in names]
    mesh = ASSET.made_by(store, job, "3D")
    assert (mesh.artifacts, mesh.metrics) == (["assets/p1/job_1/3D-1-1.bin"], {"seed": 1})
    assert told(store)[:2] == ["StepStarted", "StepCompleted"]
    assert told(store)[-1] == "job.done"
    assert store.get(pipeline_job(job)).status is JobStatus.DONE
    assert {line.actor for line in store.find(Audit.of_project(project_id="p1"))} >= {
        "ann",
        "task:assetcreator.asset.retopo",
    }


def test_events_tell_what_the_documents_say(store: Store, workers: ManualWorkers) -> None:
    project(store, StepName.REFINE)
    job = ask(store, steps=["refine"])
    workers.drain()
    ASSET.approve(store, job, round=1, by="bob", note="fine")
    by_type = {m.type: m for m in store.find(Outbox.by_status(status=MessageStatus.PENDING))}
    assert {*by_type["StepStarted"].payload} == {"job_id", "step_name", "ts"}
    assert by_type["StepCompleted"].payload["artifacts"] == ["assets/p1/job_1/refine-1-1.bin"]
    assert by_type["UserReviewUpdated"].payload["decision"] == "approved"
    assert by_type["UserReviewUpdated"].payload["notes"] == "fine"
    assert {m.aggregate for m in by_type.values()} == {"Job(project_id=p1, job_id=job_1)"}, "all in the job's order"


def test_steps_are_chosen_for_each_job_and_shown_with_it(store: Store, workers: ManualWorkers) -> None:
    project(store)
    still, short = ask(store, 1, rig_type="STATIC"), ask(store, 2, steps=["refine", "export"])
    with pytest.raises(InvalidValue, match=r"has no step 'sculpt'; it has text-to-image"):
        ask(store, 3, steps=["sculpt"])
    with pytest.raises(InvalidValue, match="at least one step, and through each once"):
        ask(store, 3, steps=["refine", "refine"])
    assert ASSET.state(store, still).steps == ["text-to-image", "refine", "3D", "retopo", "export"]
    assert short.current_step is StepName.REFINE
    workers.drain()
    assert [name for name, _ in steps(store, still)] == ["text-to-image", "refine", "3D", "retopo", "export"]
    assert [name for name, _ in steps(store, short)] == ["refine", "export"]
    assert store.get(short.ref).status is Status.DONE
    with pytest.raises(InvalidValue, match="does not go through rig; it goes through text-to-image, refine"):
        ASSET.resume(store, still, from_step="rig", by="ann")


def test_a_gate_is_the_projects_to_set(store: Store, workers: ManualWorkers) -> None:
    """AC-19, AC-50: a paused step waits; the decision is written with who and when, and the next step with it."""
    project(store, StepName.REFINE)
    job = ask(store)
    workers.drain()
    (paused,) = store.find(Step.by_status(status=Status.PAUSED))
    assert (paused.step_name, store.get(job.ref).status) == (StepName.REFINE, Status.PAUSED)
    assert store.first(Task.by_status(status=TaskStatus.RUNNING)) is None, "no worker waits for a person"
    with pytest.raises(Conflict, match="the decision is about run 2"):
        ASSET.approve(store, job, round=2, by="bob")
    ASSET.approve(store, job, round=1, by="bob")
    approved = store.get(paused.ref)
    assert (approved.status, approved.approved_by) == (Status.APPROVED, "bob")
    assert store.get(job.ref).current_step is StepName.MESH
    project(store)
    workers.drain()
    assert store.get(job.ref).status is Status.DONE
    assert ASSET.made_by(store, job, "refine").ref.key == paused.ref.key


def test_a_rejected_step_runs_again_with_another_input_and_what_was_rejected_stays(
    store: Store, workers: ManualWorkers
) -> None:
    project(store, StepName.REFINE)
    job = ask(store)
    workers.drain()
    ASSET.reject(store, job, round=1, by="bob", note="too dark", input={"seed": 2})
    assert store.get(job.ref).request == {"seed": 2}
    workers.drain()
    ASSET.reject(store, job, round=2, by="bob", back_to="text-to-image", input={"seed": 3})
    workers.drain()
    with pytest.raises(NotFound, match="no run of refine that counts"):
        ASSET.made_by(store, job, "refine")
    ASSET.approve(store, job, round=3, by="bob")
    assert steps(store, job)[:5] == [
        ("text-to-image", "done"),
        ("refine", "rejected"),
        ("refine", "rejected"),
        ("text-to-image", "done"),
        ("refine", "approved"),
    ]
    made = [s.artifacts for s in store.find(Step.of_job(job_id="job_1", step_name=StepName.REFINE))]
    assert made == [[f"assets/p1/job_1/refine-{n}-{n}.bin"] for n in (1, 2, 3)]
    assert [a.outcome for a in ASSET.attempts(store, job, "refine", round=2)] == [Outcome.DONE]


@pytest.mark.parametrize("at", ["waiting", "running", "backing off", "paused"])
def test_a_job_is_cancelled_wherever_it_is_and_late_results_are_refused(
    store: Store, workers: ManualWorkers, at: str
) -> None:
    project(store, StepName.TEXT_TO_IMAGE)
    job = ask(store, fails="text-to-image" if at == "backing off" else None, how="gpu")
    work = workers.runner.take()[0] if at == "running" else None
    if at in ("backing off", "paused"):
        workers.drain()
    ASSET.cancel(store, job, by="ann", why="not wanted")
    cancelled = store.get(job.ref)
    assert cancelled.status is Status.FAILED
    assert ASSET.state(store, job).code == "CANCELLED"
    (step,) = store.find(Step.of_job(job_id="job_1"))
    assert (step.status, step.error) == (Status.FAILED, {"code": "CANCELLED", "message": "not wanted"})
    if work is not None:
        assert workers.runner.run(work) is Outcome.LOST
    assert workers.drain() == 0
    assert (store.get(job.ref), store.get(step.ref)) == (cancelled, step)
    assert told(store)[-1] == "job.cancelled"
    ASSET.resume(store, job, from_step="text-to-image", by="ann")
    assert store.get(job.ref).status is Status.RUNNING


def test_every_attempt_is_kept_also_one_whose_worker_died(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    project(store)
    job = ask(store, fails="text-to-image", how="gpu", until=3, steps=["text-to-image"])
    Runner(store, [AC_TASKS], owner="dying").take()
    clock.advance(10 * MINUTE)
    assert workers.rescue() == 1
    clock.advance(MINUTE)
    workers.drain()
    clock.advance(MINUTE)
    workers.drain()
    assert store.get(job.ref).status is Status.DONE
    kept = list(ASSET.attempts(store, job, "text-to-image"))
    assert [(a.outcome, a.error_class) for a in kept] == [
        (Outcome.LOST, "WorkerLost"),
        (Outcome.RETRYABLE, "NoGpu"),
        (Outcome.DONE, None),
    ]
    assert kept[0].worker == "dying"
    assert kept[0].ended_at > kept[0].started_at


def test_a_failure_carries_its_code_and_the_job_can_be_resumed(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    project(store)
    job = ask(store, fails="retopo", how="gpu")
    for _ in range(3):
        workers.drain()
        clock.advance(MINUTE)
    assert store.get(job.ref).status is Status.FAILED
    assert ASSET.state(store, job).code == "NO_GPU"
    (failed,) = store.find(Step.by_status(status=Status.FAILED))
    assert failed.error is not None
    assert failed.error["code"] == "NO_GPU"
    ASSET.resume(store, job, from_step="3D", by="ann", input={"fails": None})
    workers.drain()
    assert store.get(job.ref).status is Status.DONE
    assert list(DeadLetters().find(store)) == []
    ASSET.resume(store, job, from_step="export", by="ann")
    workers.drain()
    assert (store.get(job.ref).status, ASSET.state(store, job).round) == (Status.DONE, 3), "what is done, too"


def test_a_dead_letter_tried_again_takes_the_job_with_it(
    store: Store, workers: ManualWorkers, clock: FrozenClock
) -> None:
    project(store)
    job = ask(store, fails="refine", how="never", until=2)
    workers.drain()
    assert store.get(job.ref).status is Status.FAILED
    with store.change() as change:
        repaired = change.get(job.ref)
        repaired.request = {"seed": 1}
        change.save(repaired)
    (letter,) = DeadLetters().find(store)
    retry(store, [AC_TASKS], letter.task_id, by="ann")
    workers.drain()
    assert store.get(job.ref).status is Status.DONE
    assert steps(store, job)[1:3] == [("refine", "failed"), ("refine", "done")], "what failed stays as it is"


def test_a_job_is_made_again_with_another_seed(store: Store, workers: ManualWorkers) -> None:
    project(store)
    job = ask(store, steps=["refine", "export"])
    workers.drain()
    with store.change(by="ann") as change:
        second = ASSET.again(change, job, input={"seed": 7}, record=new_job(store, 2))
    workers.drain()
    assert (store.get(second.ref).status, second.request) == (Status.DONE, {"seed": 7})
    assert [name for name, _ in steps(store, second)] == ["refine", "export"]
    assert ASSET.made_by(store, second, "refine").artifacts == ["assets/p1/job_2/refine-1-7.bin"]


def test_a_decision_may_become_true_with_the_rest_of_a_change(store: Store, workers: ManualWorkers) -> None:
    project(store, StepName.TEXT_TO_IMAGE)
    job = ask(store)
    workers.drain()
    with pytest.raises(RuntimeError), store.change(by="bob") as change:
        ASSET.approve(change, job, round=1, by="bob")
        raise RuntimeError("the caller has changed his mind")
    assert store.get(job.ref).status is Status.PAUSED
    with store.change(by="bob") as change:
        ASSET.approve(change, job, round=1, by="bob")
    assert store.get(job.ref).status is Status.RUNNING


def test_a_project_decides_about_its_own_jobs_only(store: Store, workers: ManualWorkers) -> None:
    """AC-45: through a handle that is bound to a project."""
    project(store, StepName.TEXT_TO_IMAGE)
    job = ask(store)
    workers.drain()
    for act in (ASSET.approve, ASSET.reject):
        with pytest.raises(NotFound):
            act(store.scoped("p2"), job, round=1, by="eve")
    with pytest.raises(NotFound):
        ASSET.cancel(store.scoped("p2"), job, by="eve")
    ASSET.approve(store.scoped("p1"), job, round=1, by="bob")
    workers.drain()
    assert store.get(job.ref).status is Status.DONE


def test_whoever_decides_while_the_job_is_cancelled_is_refused(
    store: Store, workers: ManualWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(store, StepName.TEXT_TO_IMAGE)
    job = ask(store)
    workers.drain()
    enter = ASSET._passages.enter

    def meanwhile(visit: Any) -> None:
        enter(visit)
        ASSET.cancel(store, job, by="bob")

    monkeypatch.setattr(ASSET._passages, "enter", meanwhile)
    with pytest.raises(Conflict):
        ASSET.approve(store, job, round=1, by="ann")
    assert store.get(job.ref).status is Status.FAILED
    assert workers.drain() == 0


# Novae


def attempts(store: Store, run: JobRun) -> list[tuple[str, int, bool, ErrorClass | None]]:
    found = store.find(Attempt.of_run(nova_id=run.nova_id, job_run_id=run.job_run_id))
    return [(a.task, a.attempt, a.succeeded, a.error_class) for a in found]


def test_a_run_without_steps_of_its_own_uses_the_generic_ones(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, INITIALIZE, name="V1324 Sco")
    workers.drain()
    ended = store.get(run.ref)
    assert (ended.status, ended.outcome) == (RunStatus.SUCCEEDED, "CREATED_AND_LAUNCHED")
    assert ended.finished_at is not None
    assert attempts(store, run) == [("publish", 1, True, None), ("resolve", 1, True, None)]
    assert [s.name for s in store.find(StepRun.of_job(job_id=pipeline_job(run).key["job_id"]))] == [
        "resolve",
        "publish",
    ]


def test_a_step_may_end_the_job_early(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, INITIALIZE, name="unknown")
    workers.drain()
    assert (store.get(run.ref).status, store.get(run.ref).outcome) == (RunStatus.SUCCEEDED, "NOT_FOUND")
    assert INITIALIZE.state(store, run).steps == ["resolve"]


def test_a_run_in_quarantine_has_its_own_state(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, INITIALIZE, name="ambiguous")
    workers.drain()
    assert (store.get(run.ref).status, store.get(run.ref).outcome) == (RunStatus.QUARANTINED, "Quarantine")
    assert attempts(store, run) == [("resolve", 1, False, ErrorClass.QUARANTINE)]
    (letter,) = DeadLetters(TaskStatus.QUARANTINED).find(store)
    with pytest.raises(IllegalMove, match="that is QUARANTINED cannot revive: it has no such move"):
        retry(store, [NC_TASKS], letter.task_id, by="ann")
    INITIALIZE.cancel(store, run, by="ann")
    assert store.get(run.ref).status is RunStatus.QUARANTINED, "which is over already"
    assert INITIALIZE.state(store, run).status is JobStatus.CANCELLED
    assert list(DeadLetters(TaskStatus.QUARANTINED).find(store)) == []


def aside(work: TaskContext, context: StepContext[JobRun, StepRun]) -> StepResult:
    return StepResult(quarantined=True, outcome="TWO_NAMES")


def test_a_step_may_end_the_job_aside_and_tell_others_of_it(store: Store) -> None:
    """No task waits for anybody: the job is over, and asked for again it is another."""
    tasks = Tasks("novae")
    told: JobRecords[JobRun, StepRun] = JobRecords(
        *(JobRun, StepRun), events={"quarantined": "run.quarantined"}, tells=lambda run: {"named": run.workflow_name}
    )
    names = Pipeline(tasks, "names", [PipelineStep("ask", aside)], records=told)
    run = run_for(store, names)
    ManualWorkers(store, [tasks]).drain()
    ended = store.get(run.ref)
    assert (ended.status, ended.outcome) == (RunStatus.QUARANTINED, "TWO_NAMES")
    assert names.state(store, run).status is JobStatus.DONE
    assert list(DeadLetters(TaskStatus.QUARANTINED).find(store)) == []
    (message,) = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    assert (message.type, message.payload["named"]) == ("run.quarantined", names.name)


def test_lost_attempts_are_in_the_domains_own_records(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    run = run_for(store, INITIALIZE, name="V1324 Sco")
    for _ in range(3):
        Runner(store, [NC_TASKS], owner="dying").take()
        clock.advance(10 * MINUTE)
        assert workers.rescue() == 1
        clock.advance(MINUTE)
    assert attempts(store, run) == [("resolve", n, False, ErrorClass.RETRYABLE) for n in (1, 2, 3)]
    assert (store.get(run.ref).status, store.get(run.ref).outcome) == (RunStatus.FAILED, "WorkerLost")
    with pytest.raises(IllegalMove, match="that is FAILED cannot rewind"):
        INITIALIZE.resume(store, run, from_step="resolve", by="ann")


def test_attempts_handed_back_and_cancelled_are_kept_too(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, INITIALIZE, name="V1324 Sco")
    (work,) = workers.runner.take()
    workers.runner.hand_back(work)
    (work,) = workers.runner.take()
    INITIALIZE.cancel(store, run, by="ann")
    assert attempts(store, run) == [("resolve", 1, False, None), ("resolve", 2, False, None)]
    assert store.get(run.ref).outcome == "CANCELLED"


# Children


def test_children_run_at_the_same_time_and_are_joined_when_all_have_ended(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, DISCOVER, providers=["ESO", "MAST", "AAVSO"])
    assert workers.drain(most=1) == 1
    works = workers.runner.take(10)
    assert len(works) == 3, "all of them wait for nobody"
    assert [workers.runner.run(work) for work in works] == [Outcome.DONE] * 3
    workers.drain()
    assert store.get(run.ref).status is RunStatus.SUCCEEDED
    assert DISCOVER.made_by(store, run, "ask").metrics == {"asked": 3, "found": 12}
    assert sorted(a[0] for a in attempts(store, run)) == ["ask", "ask.0", "ask.1", "ask.2", "ask.join", "publish"]


def test_a_child_that_fails_is_tolerated_where_that_is_said(store: Store, workers: ManualWorkers) -> None:
    tolerant = run_for(store, DISCOVER, 1, providers=["ESO", "MAST"], down=["MAST"])
    strict = run_for(store, STRICT, 2, providers=["ESO", "MAST"], down=["MAST"])
    workers.drain()
    assert store.get(tolerant.ref).status is RunStatus.SUCCEEDED
    assert DISCOVER.made_by(store, tolerant, "ask").metrics == {"asked": 2, "found": 3}
    failed = store.get(strict.ref)
    assert (failed.status, failed.outcome) == (RunStatus.FAILED, "Terminal")
    children = list(store.find(ChildRun.of_step(job_id=pipeline_job(strict).key["job_id"], position=0, round=1)))
    assert {c.number: c.status for c in children}[1] is ChildStatus.FAILED
    assert children[1].error == "MAST is down"


def test_a_step_without_children_goes_on(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, STRICT, providers=[])
    workers.drain()
    assert store.get(run.ref).status is RunStatus.SUCCEEDED


def test_many_children_are_enqueued_in_several_commits(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, DISCOVER, providers=[f"P{n:03d}" for n in range(90)])
    workers.drain()
    assert DISCOVER.made_by(store, run, "ask").metrics == {"asked": 90, "found": 360}


def test_a_plan_whose_worker_died_half_way_is_continued(
    store: Store, workers: ManualWorkers, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However far it came, each child is there once, and the join comes once."""
    from penstock.work import fan_out

    run = run_for(store, DISCOVER, providers=[f"P{n:03d}" for n in range(50)])
    add = fan_out._add

    def dies(change: Any, place: Any, number: int, *rest: Any) -> None:
        if number == 30:
            raise SystemError("killed")
        add(change, place, number, *rest)

    monkeypatch.setattr(fan_out, "_add", dies)
    (work,) = workers.runner.take()
    with pytest.raises(SystemError), monkeypatch.context() as patch:
        patch.setattr("penstock.work.runner.LEFT", ())
        workers.runner.run(work)
    monkeypatch.setattr(fan_out, "_add", add)
    assert workers.drain() == 20, "those that were enqueued are done meanwhile"
    clock.advance(10 * MINUTE)
    assert workers.rescue() == 1
    clock.advance(MINUTE)
    workers.drain()
    assert store.get(run.ref).status is RunStatus.SUCCEEDED
    assert DISCOVER.made_by(store, run, "ask").metrics == {"asked": 50, "found": 200}


def test_children_that_end_at_the_same_moment_are_all_counted(
    store: Store, workers: ManualWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.work import fan_out

    run = run_for(store, DISCOVER, providers=["ESO", "MAST"])
    workers.drain(most=1)
    first, second = workers.runner.take(2)
    count_end = fan_out.count_end

    def meanwhile(change: Any, place: Any, by: int = 1) -> bool:
        last = count_end(change, place, by)
        monkeypatch.setattr(fan_out, "count_end", count_end)
        assert workers.runner.run(second) is Outcome.DONE
        return last

    monkeypatch.setattr(fan_out, "count_end", meanwhile)
    assert workers.runner.run(first) is Outcome.DONE
    assert workers.drain() == 2, "one join, and the step after it"
    assert store.get(run.ref).status is RunStatus.SUCCEEDED


def test_a_cancelled_job_takes_its_children_with_it(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, DISCOVER, providers=["ESO", "MAST", "AAVSO"])
    workers.drain(most=2)
    (late,) = workers.runner.take(1)
    DISCOVER.cancel(store, run, by="ann")
    assert store.get(run.ref).outcome == "CANCELLED"
    assert workers.runner.run(late) is Outcome.LOST
    assert workers.drain() == 0
    children = list(store.find(ChildRun.of_step(job_id=pipeline_job(run).key["job_id"], position=0, round=1)))
    assert sorted(c.status.value for c in children) == ["done", "running", "running"], "what came late was refused"


def test_a_child_changes_nothing_though_its_task_was_left_over(store: Store, workers: ManualWorkers) -> None:
    """Whoever cancels may die before the children's tasks are cancelled too."""
    run = run_for(store, DISCOVER, providers=["ESO", "MAST"])
    workers.drain(most=1)
    (late,) = workers.runner.take(1)
    with store.change(by="ann") as change:
        DISCOVER.cancel(change, run, by="ann")
    assert workers.runner.run(late) is Outcome.DONE, "it ends, and nothing comes of it"
    assert workers.drain() == 1
    children = list(store.find(ChildRun.of_step(job_id=pipeline_job(run).key["job_id"], position=0, round=1)))
    assert {c.status for c in children} == {ChildStatus.RUNNING}
    assert store.get(run.ref).status is RunStatus.FAILED


@pytest.mark.parametrize("providers", [["ESO", "MAST"], ["ESO"]], ids=["one of several", "the last"])
def test_a_child_that_is_done_just_as_the_job_is_cancelled_is_refused(
    store: Store, workers: ManualWorkers, monkeypatch: pytest.MonkeyPatch, providers: list[str]
) -> None:
    from penstock.work import fan_out

    run = run_for(store, DISCOVER, providers=providers)
    workers.drain(most=1)
    (late,) = workers.runner.take(1)
    count_end = fan_out.count_end

    def meanwhile(change: Any, place: Any, by: int = 1) -> bool:
        monkeypatch.setattr(fan_out, "count_end", count_end)
        with store.change(by="ann") as other:
            DISCOVER.cancel(other, run, by="ann")
        return count_end(change, place, by)

    monkeypatch.setattr(fan_out, "count_end", meanwhile)
    assert workers.runner.run(late) is Outcome.DONE
    children = list(store.find(ChildRun.of_step(job_id=pipeline_job(run).key["job_id"], position=0, round=1)))
    assert {c.status for c in children} == {ChildStatus.RUNNING}, "its task has ended, and nothing came of it"


def test_a_child_that_failed_can_be_tried_again_until_the_step_has_gone_on(
    store: Store, workers: ManualWorkers
) -> None:
    run = run_for(store, DISCOVER, providers=["MAST", "ESO"], down=["MAST"])
    workers.drain(most=1)
    works = {work.task.input["number"]: work for work in workers.runner.take(2)}
    assert workers.runner.run(works[0]) is Outcome.TERMINAL
    workers.runner.hand_back(works[1])
    (letter,) = DeadLetters().find(store)
    with store.change() as change:
        at = change.get(pipeline_job(run))
        at.input = {"providers": ["MAST", "ESO"]}
        change.save(at)
    retry(store, [NC_TASKS], letter.task_id, by="ann")
    workers.drain()
    assert DISCOVER.made_by(store, run, "ask").metrics == {"asked": 2, "found": 7}
    gone = run_for(store, DISCOVER, 2, providers=["MAST", "ESO"], down=["MAST"])
    workers.drain()
    assert store.get(gone.ref).status is RunStatus.SUCCEEDED
    (letter,) = DeadLetters().find(store)
    with pytest.raises(Conflict, match="the step has gone on without this child"):
        retry(store, [NC_TASKS], letter.task_id, by="ann")


# Children of a job that has failed, and is tried again

DOWN: set[str] = set()
"The providers that are down just now."
FC_TASKS = Tasks("failing_children")


def reach(work: TaskContext, context: Any, input: dict[str, Any]) -> StepResult:
    if input["provider"] in DOWN:
        raise Terminal(f"{input['provider']} is down")
    return StepResult(metrics={"found": 1})


def list_providers(work: TaskContext, context: StepContext[PipelineJob, StepRun]) -> list[dict[str, Any]]:
    return [{"provider": name} for name in context.input["providers"]]


def add_up(work: TaskContext, context: Any, children: Sequence[ChildRun]) -> StepResult:
    return StepResult(metrics={"asked": len(children), "found": sum(c.metrics.get("found", 0) for c in children)})


def tell(work: TaskContext, context: StepContext[PipelineJob, StepRun]) -> StepResult:
    return StepResult()


def reaching(name: str, *, tolerate: bool = False) -> Pipeline[PipelineJob, StepRun]:
    fan = FanOut[PipelineJob, StepRun](list_providers, reach, add_up, tolerate=tolerate, retry=SOON)
    return Pipeline(FC_TASKS, name, [PipelineStep("ask", fan), PipelineStep("tell", tell)])


REACH, REACH_SOME = reaching("reach"), reaching("reach_some", tolerate=True)


@pytest.fixture
def crew(store: Store) -> Iterator[ManualWorkers]:
    """Workers of the pipelines on generic records, at first with every provider up."""
    DOWN.clear()
    yield ManualWorkers(store, [FC_TASKS])
    DOWN.clear()


def begin(store: Store, pipeline: Pipeline[PipelineJob, StepRun] = REACH, names: str = "abcd") -> PipelineJob:
    with store.change(by="ann") as change:
        return pipeline.start(change, {"providers": list(names)})


def run_in_order(crew: ManualWorkers, *numbers: int) -> None:
    """Run the plan, and then these children one after the other."""
    crew.drain(most=1)
    works = {work.task.input["number"]: work for work in crew.runner.take(10)}
    for number in numbers:
        crew.runner.run(works.pop(number))
    for work in works.values():
        crew.runner.hand_back(work)


def try_again(store: Store, number: int) -> None:
    (letter,) = [task for task in DeadLetters().find(store) if task.input.get("number") == number]
    retry(store, [FC_TASKS], letter.task_id, by="ann")


def status_of(store: Store, job: PipelineJob) -> JobStatus:
    return store.get(PipelineJob.at(job_id=job.job_id)).status


def test_a_strict_job_goes_on_when_its_dead_letter_is_tried_again_whichever_child_had_failed_first(
    store: Store, crew: ManualWorkers
) -> None:
    """What its siblings did while it had failed counts, and nothing of it is done twice."""
    DOWN.add("b")
    job = begin(store)
    run_in_order(crew, 1, 0)
    assert status_of(store, job) is JobStatus.FAILED
    crew.drain()
    DOWN.clear()
    try_again(store, 1)
    assert crew.drain() == 3, "the child, the join, and the step after it"
    assert status_of(store, job) is JobStatus.DONE
    assert REACH.made_by(store, job, "ask").metrics == {"asked": 4, "found": 4}


def test_a_strict_job_tried_again_before_its_siblings_ran_goes_on(store: Store, crew: ManualWorkers) -> None:
    DOWN.add("b")
    job = begin(store)
    run_in_order(crew, 1)
    DOWN.clear()
    try_again(store, 1)
    assert status_of(store, job) is JobStatus.RUNNING
    child = store.get(ChildRun.at(job_id=job.job_id, position=0, round=1, number=1))
    assert (child.status, child.code, child.error, child.ended_at) == (ChildStatus.RUNNING, None, None, None)
    crew.drain()
    assert status_of(store, job) is JobStatus.DONE


def test_a_child_that_is_done_just_as_its_job_fails_is_counted(
    store: Store, crew: ManualWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.work import fan_out

    DOWN.add("a")
    job = begin(store, names="ab")
    crew.drain(most=1)
    works = {work.task.input["number"]: work for work in crew.runner.take(10)}
    count_end = fan_out.count_end

    def meanwhile(change: Any, place: Any, by: int = 1) -> bool:
        monkeypatch.setattr(fan_out, "count_end", count_end)
        assert crew.runner.run(works[0]) is Outcome.TERMINAL
        return count_end(change, place, by)

    monkeypatch.setattr(fan_out, "count_end", meanwhile)
    assert crew.runner.run(works[1]) is Outcome.DONE
    assert status_of(store, job) is JobStatus.FAILED
    DOWN.clear()
    try_again(store, 0)
    crew.drain()
    assert status_of(store, job) is JobStatus.DONE


def test_a_strict_job_stays_failed_until_all_its_dead_letters_are_tried_again(
    store: Store, crew: ManualWorkers
) -> None:
    """Else it would be running, and nobody at work for it."""
    DOWN.update("bc")
    job = begin(store)
    crew.drain()
    DOWN.clear()
    try_again(store, 2)
    crew.drain()
    assert status_of(store, job) is JobStatus.FAILED
    try_again(store, 1)
    assert status_of(store, job) is JobStatus.RUNNING
    crew.drain()
    assert status_of(store, job) is JobStatus.DONE
    assert REACH.made_by(store, job, "ask").metrics == {"asked": 4, "found": 4}


def test_all_dead_letters_of_a_strict_job_are_tried_again_at_once_and_may_fail_again(
    store: Store, crew: ManualWorkers
) -> None:
    DOWN.update("abcd")
    job = begin(store)
    for left in ("bc", "c", ""):
        crew.drain()
        assert status_of(store, job) is JobStatus.FAILED
        DOWN.clear()
        DOWN.update(left)
        assert retry_all(store, [FC_TASKS], DeadLetters(), by="ann").refused == {}
    crew.drain()
    assert status_of(store, job) is JobStatus.DONE


def test_a_strict_job_one_of_whose_children_is_given_up_stays_failed_and_can_be_resumed(
    store: Store, crew: ManualWorkers
) -> None:
    DOWN.update("bc")
    job = begin(store)
    crew.drain()
    DOWN.clear()
    letters = {task.input["number"]: task.task_id for task in DeadLetters().find(store)}
    retry(store, [FC_TASKS], letters[1], by="ann")
    cancel(store, [FC_TASKS], letters[2], by="ann")
    crew.drain()
    assert status_of(store, job) is JobStatus.FAILED
    REACH.resume(store, job, from_step="ask", by="ann")
    crew.drain()
    assert status_of(store, job) is JobStatus.DONE


def test_a_failed_strict_job_that_is_cancelled_stays_so(store: Store, crew: ManualWorkers) -> None:
    DOWN.add("b")
    job = begin(store)
    run_in_order(crew, 1)
    (letter,) = DeadLetters().find(store)
    with store.change(by="ann") as change:
        REACH.cancel(change, job, by="ann")  # whoever cancels may die before the children's tasks are cancelled too
    DOWN.clear()
    retry(store, [FC_TASKS], letter.task_id, by="ann")
    crew.drain()
    assert status_of(store, job) is JobStatus.CANCELLED
    children = list(store.find(ChildRun.of_step(job_id=job.job_id, position=0, round=1)))
    assert {c.status for c in children} == {ChildStatus.RUNNING}


def test_a_dead_letter_of_an_earlier_round_changes_nothing(store: Store, crew: ManualWorkers) -> None:
    DOWN.add("b")
    job = begin(store)
    run_in_order(crew, 1)
    (old,) = DeadLetters().find(store)
    REACH.resume(store, job, from_step="ask", by="ann")
    crew.drain()
    assert status_of(store, job) is JobStatus.FAILED
    retry(store, [FC_TASKS], old.task_id, by="ann")
    DOWN.clear()
    crew.drain()
    assert status_of(store, job) is JobStatus.FAILED, "it is another child that failed it"
    try_again(store, 1)
    crew.drain()
    assert status_of(store, job) is JobStatus.DONE


@pytest.mark.parametrize(
    ("pipeline", "first"),
    [(REACH, "plan"), (REACH, "child"), (REACH_SOME, "child")],
    ids=["plan-first", "children-first", "tolerant"],
)
def test_a_plan_that_failed_half_way_is_tried_again_with_the_children_it_had_spread(
    store: Store,
    crew: ManualWorkers,
    monkeypatch: pytest.MonkeyPatch,
    pipeline: Pipeline[PipelineJob, StepRun],
    first: str,
) -> None:
    from penstock.work import fan_out

    add = fan_out._add

    def refuses(change: Any, place: Any, number: int, *rest: Any) -> None:
        if number == 30:
            raise Terminal("no more")
        add(change, place, number, *rest)

    DOWN.add("7")
    job = begin(store, pipeline, "0123456789" * 5)
    with monkeypatch.context() as patch:
        patch.setattr(fan_out, "_add", refuses)
        crew.drain(most=1)
    crew.drain()
    assert status_of(store, job) is JobStatus.FAILED
    DOWN.clear()
    letters = sorted(DeadLetters().find(store), key=lambda task: ("number" in task.input) is (first == "plan"))
    assert len(letters) == 3
    for letter in letters:
        retry(store, [FC_TASKS], letter.task_id, by="ann")
        crew.drain()
        assert status_of(store, job) is (JobStatus.FAILED if letter is not letters[-1] else JobStatus.DONE)
    assert pipeline.made_by(store, job, "ask").metrics == {"asked": 50, "found": 50}


def test_a_job_that_declares_no_way_back_refuses_each_of_its_dead_letters(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, STRICT, providers=["ESO", "MAST", "AAVSO"], down=["ESO", "MAST"])
    workers.drain(most=1)
    works = {work.task.input["number"]: work for work in workers.runner.take(10)}
    for number in (0, 1, 2):
        workers.runner.run(works[number])
    assert works[2].task.lease_epoch == 1
    for letter in list(DeadLetters().find(store)):
        with pytest.raises(IllegalMove, match=r"that is FAILED cannot revive: .* Begin another instead"):
            retry(store, [NC_TASKS], letter.task_id, by="ann")
        assert store.get(letter.ref).status is TaskStatus.FAILED
    assert store.get(run.ref).status is RunStatus.FAILED
    assert workers.drain() == 0


# Declaring

LOOM = Table("penstock_test_looms", partition="PK", sort="SK")


class Weave(StrEnum):
    NEW = "new"
    WEAVING = "weaving"
    SHOWN = "shown"
    WOVEN = "woven"
    TORN = "torn"


class Cloth(Entity, table=LOOM):
    """A job whose moves have names of their own, and one of which is missing."""

    cloth_id: str
    state: Weave = Weave.NEW

    @key("CLOTH#{cloth_id}", "CLOTH")
    def at(self, *, cloth_id: str) -> None: ...

    start = Move(Weave.NEW, to=Weave.WEAVING)
    show = Move(Weave.WEAVING, to=Weave.SHOWN)
    accept = Move(Weave.SHOWN, to=Weave.WOVEN)
    weave_on = Move(Weave.SHOWN, to=Weave.WEAVING)
    finish = Move(Weave.WEAVING, to=Weave.WOVEN)
    fail = Move(Weave.NEW, Weave.WEAVING, to=Weave.TORN)

    @move(Weave.SHOWN, to=Weave.TORN)
    def tear(self, *, scissors: str) -> None:
        """Somebody has torn it."""


class Thread(Entity, table=LOOM):
    """A step that needs what a pipeline does not know."""

    cloth_id: str
    colour: str
    status: Status = Status.PENDING

    @key("CLOTH#{cloth_id}", "THREAD#{colour}")
    def at(self, *, cloth_id: str, colour: str) -> None: ...

    finish = Move(Status.PENDING, to=Status.DONE)
    fail = Move(Status.PENDING, to=Status.FAILED)


def declare(records: JobRecords[Any, Any], **step: Any) -> Pipeline[Any, Any]:
    return Pipeline(Tasks("looms"), "weave", [PipelineStep("weave", make, **step)], records=records)


NAMED: dict[str, Any] = {"pause": "show", "finish": ["finish", "accept"], "rewind": "weave_on", "advance": "weave_on"}
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no pause": (
        lambda: declare(JobRecords(Cloth, StepRun), review=True),
        "a Cloth that is weaving cannot pause: it has no such move. Declare a move from weaving, and name it in moves=",
    ),
    "no cancel while paused": (
        lambda: declare(JobRecords(Cloth, StepRun, moves=NAMED), review=True),
        "a Cloth that is shown cannot cancel: fail cannot be made from there",
    ),
    "an unknown move": (
        lambda: JobRecords(Cloth, StepRun, moves={"pause": "hang_up"}),
        "Cloth has no move 'hang_up'; it has start, show, accept",
    ),
    "an unknown signal": (
        lambda: JobRecords(Cloth, StepRun, moves={"tear": "tear"}),
        "nothing is called tear; there is start, advance, pause",
    ),
    "a move that needs more": (
        lambda: JobRecords(Cloth, StepRun, moves={"cancel": "tear"}),
        "Cloth.tear needs 'scissors', which a pipeline does not tell; it tells artifacts, at, by, code",
    ),
    "an unknown event": (
        lambda: JobRecords(Cloth, StepRun, events={"torn": "ClothTorn"}),
        "nobody is told torn; there is paused, done, failed, cancelled, decided",
    ),
    "an unknown field": (
        lambda: JobRecords(Cloth, StepRun, input="request"),
        "Cloth has no field 'request'; it has cloth_id, state",
    ),
    "a step that needs more": (
        lambda: JobRecords(Cloth, Thread),
        "a new Thread needs colour, which a pipeline does not know; it knows cloth_id, created_at",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_binding_that_lacks_something_is_refused_where_it_is_declared(wrong: str) -> None:
    declared, said = WRONG[wrong]
    with pytest.raises(DeclarationError) as refused:
        declared()
    assert said in str(refused.value)


def test_moves_of_other_names_are_named() -> None:
    moves = {**NAMED, "cancel": ["fail", ("weave_on", "fail")]}
    declare(JobRecords(Cloth, StepRun, moves=moves), review=True)
    declare(JobRecords(Cloth, StepRun))


def test_what_a_pipeline_moves_is_no_longer_a_persons_to_move_unless_it_is_said() -> None:
    class Rug(Entity, table=LOOM):
        rug_id: str
        state: Weave = Weave.NEW

        @key("RUG#{rug_id}", "RUG")
        def at(self, *, rug_id: str) -> None: ...

        start = Move(Weave.NEW, to=Weave.WEAVING)
        finish = Move(Weave.WEAVING, to=Weave.WOVEN)
        fail = Move(Weave.NEW, Weave.WEAVING, to=Weave.TORN)
        advance = Move(Weave.WEAVING, to=Weave.WEAVING)
        mend = Move(Weave.TORN, to=Weave.NEW, by=Role.EDITOR)

    assert move_permission(Rug.__shape__, Rug.finish) is Role.EDITOR
    declare(JobRecords(Rug, StepRun))
    assert creation_permission(Rug.__shape__) is SYSTEM
    assert move_permission(Rug.__shape__, Rug.finish) is SYSTEM
    assert move_permission(Rug.__shape__, Rug.mend) is Role.EDITOR, "it is said"


def test_a_pipeline_on_own_records_needs_one_to_begin_with(store: Store) -> None:
    with pytest.raises(InvalidValue, match="is a Job; give it as job="), store.change() as change:
        ASSET.start(change, {})


def test_the_generic_records_are_stored_under_the_names_they_had() -> None:
    shapes = {shape.name: shape.relation for shape in WORKING.shapes}
    assert shapes["Job"] == "jobs"
    assert shapes["Attempt"] == "attempts"
    assert repr(PipelineJob.at(job_id="1")) == "Job(job_id=1)"


# Killed anywhere


class Killed(BaseException):
    """A worker's process is gone."""


class Executioner:
    """Kills whoever makes a certain commit, before it or before its answer comes back."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch, *, at: int, answered: bool) -> None:
        self._commit, self._left, self._answered = store.commit, at, answered
        monkeypatch.setattr(store, "commit", self.commit)

    def commit(self, writes: Any, *more: Any, **options: Any) -> None:
        self._left -= 1
        if self._left == 0 and not self._answered:
            raise Killed
        self._commit(writes, *more, **options)
        if self._left == 0:
            raise Killed

    @property
    def was_needed(self) -> bool:
        return self._left <= 0


def work_until_nothing_is_left(workers: ManualWorkers, clock: FrozenClock) -> None:
    for _ in range(4):
        with suppress(Killed):
            workers.drain()
        clock.advance(10 * MINUTE)
        with suppress(Killed):
            workers.rescue()
        clock.advance(MINUTE)


@pytest.mark.parametrize("answered", [False, True])
def test_a_job_comes_to_the_same_end_wherever_a_worker_is_killed(
    store: Store, workers: ManualWorkers, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    """AC-36, NC-36: at each commit of all steps, children and their join, before it or after."""
    project(store)
    for at in range(1, 1000):
        job = ask(store, at, steps=["text-to-image", "refine"])
        run = run_for(store, DISCOVER, at, providers=["ESO", "MAST"], down=["MAST"])
        with monkeypatch.context() as patch:
            executioner = Executioner(store, patch, at=at, answered=answered)
            work_until_nothing_is_left(workers, clock)
        assert store.get(job.ref).status is Status.DONE
        assert steps(store, job) == [("text-to-image", "done"), ("refine", "done")]
        assert store.get(run.ref).status is RunStatus.SUCCEEDED
        assert DISCOVER.made_by(store, run, "ask").metrics == {"asked": 2, "found": 3}
        assert len([a for a in attempts(store, run) if a[0] == "ask.join" and a[2]]) == 1, "joined once"
        if not executioner.was_needed:
            break
    assert at > 15, "there is more than one commit to be killed at"


@pytest.mark.parametrize("answered", [False, True])
def test_a_strict_job_tried_again_comes_to_its_end_wherever_a_worker_is_killed(
    store: Store, crew: ManualWorkers, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    """At each commit of the failure, of the siblings after it, of the retry, and of all that follows."""
    for at in range(1, 1000):
        DOWN.update("b")
        job = begin(store, names="abc")
        with monkeypatch.context() as patch:
            executioner = Executioner(store, patch, at=at, answered=answered)
            work_until_nothing_is_left(crew, clock)
            assert status_of(store, job) is JobStatus.FAILED
            DOWN.clear()
            for _ in range(2):
                with suppress(Killed):
                    retry_all(store, [FC_TASKS], DeadLetters(), by="ann")
            work_until_nothing_is_left(crew, clock)
        assert status_of(store, job) is JobStatus.DONE
        assert REACH.made_by(store, job, "ask").metrics == {"asked": 3, "found": 3}
        if not executioner.was_needed:
            break
    assert at > 15, "there is more than one commit to be killed at"
