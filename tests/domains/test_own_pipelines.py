"""Pipelines on the records of game assets and novae, the same on every engine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from penstock import FrozenClock, Store
from penstock.domains.assetcreator.model import Job, Project, Step
from penstock.domains.assetcreator.stages import Status, StepName
from penstock.domains.novae.model import Attempt, RunStatus
from penstock.work import WORKING, JobStatus, Outcome, PipelineJob, Runner, pipeline_job
from penstock.workers.manual import ManualWorkers
from tests.work.own_records import AC_TASKS, ASSET, DISCOVER, NC_TASKS, ask, run_for

pytestmark = pytest.mark.every_engine

MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock() -> FrozenClock:
    """It stands still at the present: DynamoDB Local removes for good what has ended by the time of the day."""
    return FrozenClock(datetime.now(UTC).replace(microsecond=0))


@pytest.fixture
def workers(store: Store) -> ManualWorkers:
    store.ensure(WORKING)
    return ManualWorkers(store, [AC_TASKS, NC_TASKS])


def test_an_asset_from_its_request_to_its_export(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    """A worker dies, a person rejects and approves, another job is cancelled while it waits for him."""
    gates = {"gates": [StepName.REFINE.value]}
    store.put(Project(project_id="p1", name="Robots", style_profile=gates, created_at=clock.now()))
    job = ask(store, rig_type="STATIC")
    Runner(store, [AC_TASKS], owner="dying").take()
    clock.advance(10 * MINUTE)
    assert workers.rescue() == 1
    clock.advance(MINUTE)
    workers.drain()
    assert [j.job_id for j in store.find(Job.by_status(status=Status.PAUSED))] == ["job_1"]
    assert [j.job_id for j in store.find(PipelineJob.by_status(status=JobStatus.PAUSED))] == [
        "assetcreator.Job(project_id=p1, job_id=job_1)"
    ]
    ASSET.reject(store, job, round=1, by="bob", note="too dark", input={"seed": 2})
    workers.drain()
    ASSET.approve(store, job, round=2, by="bob")
    workers.drain()
    assert store.get(job.ref).status is Status.DONE
    runs = sorted(store.find(Step.of_job(job_id="job_1")), key=lambda step: step.ts)
    assert [(s.step_name.value, s.status.value, s.metrics.get("seed")) for s in runs] == [
        ("text-to-image", "done", 1),
        ("refine", "rejected", 1),
        ("refine", "approved", 2),
        ("3D", "done", 2),
        ("retopo", "done", 2),
        ("export", "done", 2),
    ]
    lost, done = ASSET.attempts(store, job, "text-to-image", round=1)
    assert (lost.outcome, lost.worker, done.outcome) == (Outcome.LOST, "dying", Outcome.DONE)
    unwanted = ask(store, 2)
    workers.drain()
    ASSET.cancel(store, unwanted, by="ann")
    assert (store.get(unwanted.ref).status, ASSET.state(store, unwanted).code) == (Status.FAILED, "CANCELLED")
    assert workers.drain() == 0


def test_a_fan_out_of_which_one_child_fails(store: Store, workers: ManualWorkers) -> None:
    run = run_for(store, DISCOVER, providers=["ESO", "MAST", "AAVSO"], down=["MAST"])
    workers.drain()
    assert store.get(run.ref).status is RunStatus.SUCCEEDED
    assert DISCOVER.made_by(store, run, "ask").metrics == {"asked": 3, "found": 8}
    kept = {(a.task, a.succeeded) for a in store.find(Attempt.of_run(nova_id=run.nova_id, job_run_id=run.job_run_id))}
    assert kept == {
        ("ask", True),
        ("ask.0", True),
        ("ask.1", False),
        ("ask.2", True),
        ("ask.join", True),
        ("publish", True),
    }
    assert store.get(pipeline_job(run)).status is JobStatus.DONE
