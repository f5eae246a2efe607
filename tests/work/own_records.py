"""Pipelines on the records of two systems as their documents have them: game assets, and classical novae."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from penstock import Store
from penstock.domains.assetcreator.model import Job, Project, Step
from penstock.domains.assetcreator.stages import AssetType, StepName
from penstock.domains.novae.model import Attempt, ErrorClass, JobRun
from penstock.kernel.change import Change
from penstock.work import (
    ChildRun,
    ChildStatus,
    EndedAttempt,
    FanOut,
    JobRecords,
    Outcome,
    Pipeline,
    PipelineStep,
    Quarantine,
    Retry,
    StepContext,
    StepResult,
    StepRun,
    TaskContext,
    Tasks,
    Terminal,
)

AC_TASKS = Tasks("assetcreator")
SOON = Retry(attempts=3, first=timedelta(seconds=1), longest=timedelta(seconds=1))


class NoGpu(Exception):
    """There is nothing to work with."""

    code = "NO_GPU"


def make(work: TaskContext, context: StepContext[Job, Step]) -> StepResult:
    """A step that makes a file of its input, unless that says that it fails."""
    given = context.input
    if given.get("fails") == context.name and work.task.attempts < given.get("until", 1000):
        raise {"gpu": NoGpu("none is free"), "never": Terminal("it cannot be drawn")}[given["how"]]
    key = f"assets/{context.job.project_id}/{context.job.job_id}/{context.name}-{context.round}-{given['seed']}.bin"
    return StepResult(artifacts=[key], metrics={"seed": given["seed"]})


def gate_of(name: StepName) -> Callable[[Change, Job], bool]:
    """Does a project want to look at what this step made?"""

    def wanted(change: Change, job: Job) -> bool:
        return name.value in change.store.get(Project.at(project_id=job.project_id)).style_profile.get("gates", [])

    return wanted


def needed(change: Change, job: Job) -> Sequence[str]:
    """What stands still is neither rigged nor animated."""
    rigged = (job.request or {}).get("rig_type", "HUMANOID") != "STATIC"
    return [name for name in StepName if rigged or name not in (StepName.RIG, StepName.ANIM)]


ASSET = Pipeline(
    AC_TASKS,
    "asset",
    [PipelineStep(name.value, make, review=gate_of(name), retry=SOON) for name in StepName],
    records=JobRecords(
        Job,
        Step,
        input="request",
        events={
            "step_started": "StepStarted",
            "step_completed": "StepCompleted",
            "step_failed": "StepFailed",
            "decided": "UserReviewUpdated",
        },
    ),
    choose=needed,
)


def new_job(store: Store, number: int = 1, project: str = "p1") -> Job:
    now = store.clock.now()
    return Job(
        project_id=project,
        job_id=f"job_{number}",
        asset_type=AssetType.CHARACTER_3D,
        current_step=StepName.TEXT_TO_IMAGE,
        created_at=now,
        updated_at=now,
    )


def ask(store: Store, number: int = 1, *, steps: Sequence[str] | None = None, **request: Any) -> Job:
    """Have an asset made."""
    with store.change(by="ann") as change:
        return ASSET.start(change, {"seed": 1, **request}, job=new_job(store, number), steps=steps)


NC_TASKS = Tasks("novae")
NOVA = UUID("5b0e3dd1-8a6b-4b6e-9f57-0d3f5c0c7a11")
CLASSES = {
    Outcome.RETRYABLE: ErrorClass.RETRYABLE,
    Outcome.LOST: ErrorClass.RETRYABLE,
    Outcome.TERMINAL: ErrorClass.TERMINAL,
    Outcome.QUARANTINE: ErrorClass.QUARANTINE,
}


def noted(run: JobRun, ended: EndedAttempt) -> Attempt:
    """NC-25: one Attempt item per task invocation."""
    task = ended.task
    return Attempt(
        nova_id=run.nova_id,
        job_run_id=run.job_run_id,
        task=ended.name,
        attempt=ended.number,
        ts=task.started_at,
        succeeded=task.outcome is Outcome.DONE,
        error_class=CLASSES.get(task.outcome),
        error_message=task.error,
        duration_ms=round((task.ended_at - task.started_at).total_seconds() * 1000),
    )


NOVAE: JobRecords[JobRun, StepRun] = JobRecords(JobRun, StepRun, Attempt, make_attempt=noted)


def resolve(work: TaskContext, context: StepContext[JobRun, StepRun]) -> StepResult:
    """Which nova a name means; that there is none is an answer too."""
    name = context.input["name"]
    if name == "ambiguous":
        raise Quarantine("two novae have that name")
    if name == "unknown":
        return StepResult(then=(), outcome="NOT_FOUND")
    return StepResult(metrics={"name": name})


def publish(work: TaskContext, context: StepContext[JobRun, StepRun]) -> StepResult:
    return StepResult(outcome="CREATED_AND_LAUNCHED")


INITIALIZE = Pipeline(
    NC_TASKS,
    "initialize_nova",
    [PipelineStep("resolve", resolve, retry=SOON), PipelineStep("publish", publish, retry=SOON)],
    records=NOVAE,
)


def providers(work: TaskContext, context: StepContext[JobRun, StepRun]) -> list[dict[str, Any]]:
    return [{"provider": name} for name in context.input["providers"]]


def discover(work: TaskContext, context: StepContext[JobRun, StepRun], input: dict[str, Any]) -> StepResult:
    """Ask one provider."""
    if input["provider"] in context.input.get("down", ()):
        raise Terminal(f"{input['provider']} is down")
    return StepResult(metrics={"found": len(input["provider"])})


def sum_up(work: TaskContext, context: StepContext[JobRun, StepRun], children: Sequence[ChildRun]) -> StepResult:
    done = [child for child in children if child.status is ChildStatus.DONE]
    return StepResult(metrics={"asked": len(children), "found": sum(child.metrics["found"] for child in done)})


def discovery(name: str, *, tolerate: bool) -> Pipeline[JobRun, StepRun]:
    fan = FanOut(providers, discover, sum_up, tolerate=tolerate, retry=SOON)
    return Pipeline(NC_TASKS, name, [PipelineStep("ask", fan), PipelineStep("publish", publish)], records=NOVAE)


DISCOVER = discovery("discover_spectra_products", tolerate=True)
STRICT = discovery("discover_everywhere", tolerate=False)


def new_run(now: datetime, number: int, workflow: str) -> JobRun:
    return JobRun(nova_id=NOVA, started_at=now, job_run_id=UUID(int=number), workflow_name=workflow)


def run_for(store: Store, pipeline: Pipeline[JobRun, StepRun], number: int = 1, **input: Any) -> JobRun:
    """Have a workflow run for the nova."""
    with store.change(by="ann") as change:
        return pipeline.start(change, input, job=new_run(store.clock.now(), number, pipeline.name))
