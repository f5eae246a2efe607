"""The production line: text-to-image, refine, 3D, retopo, rig, anim, export, with gates at which people decide.

Each stage fetches what the stages before it made, checks that it is still what they made, has its own part made, stores
that, and ends in one commit with the next stage's beginning, or with the version in the library.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from penstock.domains.assetcreator.asset_studio import AssetMakers, AssetStudio
from penstock.domains.assetcreator.library import index_version, next_version
from penstock.domains.assetcreator.model import VERSION_FILE, WORK_FILE, Job, MadeByStep, Project, Step
from penstock.domains.assetcreator.orders import KINDS, STEPS, order_of, request_of
from penstock.domains.assetcreator.project_quotas import give_back, take_place
from penstock.domains.assetcreator.provenance import provenance_of
from penstock.domains.assetcreator.stages import GATES, StepName
from penstock.domains.assetcreator.step_claims import claim_step
from penstock.errors import PenstockError
from penstock.generation.asset_steps import AssetMaker, AssetOrder
from penstock.generation.steps import Made
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim, Replay
from penstock.work import JobRecords, Pipeline, PipelineStep, StepContext, StepResult, TaskContext, Tasks, Terminal
from penstock.work.pipeline_step import Gate
from penstock.work.workspace import Workspace, workspace_of

TASKS = Tasks("assetcreator")
LIMIT = timedelta(minutes=30)
IN_VAIN = "seconds_in_vain"
"What a run is said to have taken before an attempt at it succeeds."

Context = StepContext[Job, Step]


@dataclass(frozen=True, slots=True)
class StageDesk:
    """What lies ready for one run of a stage."""

    makers: AssetMakers
    workspace: Workspace
    context: Context
    order: AssetOrder
    into: Path
    "The folder whose files become artifacts."
    provenance: dict[str, Any]
    "Where the asset comes from; of an export only."

    def brought(self, step: StepName, name: str) -> Path:
        """A file that an earlier stage has made; Terminal if it is not what that made."""
        run = self.context.made(step.value)
        key = next((key for key in run.artifacts if key.endswith(f"/{name}")), None)
        if key is None:
            raise Terminal(f"{step.value} has made no {name}; resume from there")
        path = self.workspace.fetch(key)
        if sha256_of(path) != (run.checksums or {}).get(key):
            raise Terminal(f"{name} of {step.value} is not what it was when it was made; resume from there")
        return path


@dataclass(frozen=True, slots=True)
class Stage:
    """Who makes the files of a stage, and how they are asked."""

    maker: Callable[[AssetMakers, Job], AssetMaker]
    make: Callable[[StageDesk], Made]


def _draw(desk: StageDesk) -> Made:
    return desk.makers.artist.draw(desk.order, desk.into / "concept.png", desk.workspace)


def _refine(desk: StageDesk) -> Made:
    picture = desk.brought(StepName.TEXT_TO_IMAGE, "concept.png")
    return desk.makers.refiner.refine(picture, desk.order, desk.into / "refined.png", desk.workspace)


def _model(desk: StageDesk) -> Made:
    picture = desk.brought(StepName.REFINE, "refined.png")
    return desk.makers.modeller.model(picture, desk.order, desk.into / "mesh.glb", desk.workspace)


def _retopologise(desk: StageDesk) -> Made:
    mesh = desk.brought(StepName.MESH, "mesh.glb")
    return desk.makers.retopologist.retopologise(mesh, desk.order, desk.into, desk.workspace)


def _rig(desk: StageDesk) -> Made:
    mesh = desk.brought(StepName.RETOPO, "retopo.glb")
    return desk.makers.rigger.rig(mesh, desk.order, desk.into / "rig.glb", desk.workspace)


def _animate(desk: StageDesk) -> Made:
    rigged = desk.brought(StepName.RIG, "rig.glb")
    return desk.makers.animator.animate(rigged, desk.order, desk.into / "anim.glb", desk.workspace)


def _export(desk: StageDesk) -> Made:
    stages = STEPS[desk.context.job.asset_type]
    last, name = next((step, name) for step, name in _LAST_MADE if step in stages)
    made = desk.brought(last, name)
    exporter = desk.makers.exporters[desk.order.kind]
    return exporter.export(made, desk.order, desk.provenance, desk.into, desk.workspace)


_LAST_MADE = ((StepName.ANIM, "anim.glb"), (StepName.RETOPO, "retopo.glb"), (StepName.REFINE, "refined.png"))
"What an export is made of: the work of the last stage before it."

STAGES = {
    StepName.TEXT_TO_IMAGE: Stage(lambda makers, job: makers.artist, _draw),
    StepName.REFINE: Stage(lambda makers, job: makers.refiner, _refine),
    StepName.MESH: Stage(lambda makers, job: makers.modeller, _model),
    StepName.RETOPO: Stage(lambda makers, job: makers.retopologist, _retopologise),
    StepName.RIG: Stage(lambda makers, job: makers.rigger, _rig),
    StepName.ANIM: Stage(lambda makers, job: makers.animator, _animate),
    StepName.EXPORT: Stage(lambda makers, job: makers.exporters[KINDS[job.asset_type]], _export),
}


def _run(work: TaskContext, context: Context) -> StepResult:
    """One run of a stage; delivered twice, it is done once, and gives its first result."""
    studio, name = AssetStudio.within(work.domain), context.step.step_name
    stage = STAGES[name]
    maker = stage.maker(studio.makers, context.job)
    claim = claim_step(work, context.job, context.step, model_version=f"{maker.name} {maker.version}")
    if isinstance(claim, Replay):
        return _made_before(claim)
    with workspace_of(work, lambda job: _remember(work, context, job)) as workspace:
        version = next_version(work.store, context.job) if name is StepName.EXPORT else None
        desk = _desk(studio, work, workspace, context, version)
        began = time.perf_counter()
        try:
            with workspace.creating():
                made = stage.make(desk)
        except Exception:
            _count_in_vain(work, context, time.perf_counter() - began)
            raise
        seconds = time.perf_counter() - began + context.step.metrics.get(IN_VAIN, 0)
        told = {"maker": maker.name, "maker_version": maker.version, "seed": desk.order.seed, **made.metrics}
        workspace.note(made.metrics, cost=made.cost)
        return _delivered(work, claim, desk, told | {"seconds": round(seconds, 3)}, made.cost, version)


def _desk(
    studio: AssetStudio, work: TaskContext, workspace: Workspace, context: Context, version: int | None
) -> StageDesk:
    job, step = context.job, context.step
    project = work.store.get(Project.at(project_id=job.project_id))
    reference = request_of(job).reference if step.step_name is StepName.TEXT_TO_IMAGE else None
    order = order_of(
        job,
        project,
        step.step_name,
        reference=None if reference is None else workspace.fetch(reference),
        remote=_begun_elsewhere(work, step),
        name=f"{job.project_id}/{job.job_id}/{step.step_name.value}/{step.round}",
    )
    into = workspace.folder / "made"
    into.mkdir()
    counting = [context.made(name.value) for name in STEPS[job.asset_type][:-1]] if version is not None else []
    provenance = provenance_of(project, job, version, counting) if version is not None else {}
    return StageDesk(studio.makers, workspace, context, order, into, provenance)


def _delivered(
    work: TaskContext,
    claim: Claim,
    desk: StageDesk,
    metrics: dict[str, Any],
    cost: float | None,
    version: int | None,
) -> MadeByStep:
    """Store what was made, and say what becomes true with it."""
    job, checksums, size = desk.context.job, {}, 0
    for path in sorted(desk.into.iterdir()):
        key = _place(desk.context, work.lease.epoch, version, path.name)
        checksums[key] = sha256_of(path)
        size += path.stat().st_size
        desk.workspace.store(path, key)
    metrics = metrics | {"bytes": size}
    result = {
        "artifacts": list(checksums),
        "checksums": checksums,
        "metrics": metrics,
        "cost": cost,
        "version": version,
    }

    def finish(change: Change) -> None:
        change.end_claim(claim, result)
        if version is not None:
            index_version(change, job, version, checksums, desk.provenance, metrics, size=size)

    return MadeByStep(
        artifacts=list(checksums), metrics=metrics, checksums=checksums, cost=cost, version=version, change=finish
    )


def _place(context: Context, attempt: int, version: int | None, name: str) -> str:
    """Where a file lies: no other attempt's file does, so that one who wakes up late replaces none of another's."""
    job, run = context.job, f"{context.step.round}.{attempt}/{name}"
    if version is not None:
        here = {"project_id": job.project_id, "asset_id": job.asset_id, "version": version}
        return VERSION_FILE.key(f"{job.job_id}-{run}", **here)
    return WORK_FILE.key(f"{context.step.step_name.value}-{run}", project_id=job.project_id, job_id=job.job_id)


def _made_before(replay: Replay) -> MadeByStep:
    told = replay.result or {}
    return MadeByStep(
        artifacts=told["artifacts"],
        metrics=told["metrics"],
        checksums=told["checksums"],
        cost=told["cost"],
        version=told["version"],
    )


def _remember(work: TaskContext, context: Context, remote_job: str) -> None:
    with work.change(why="begun elsewhere") as change:
        step = change.get(context.step.ref)
        step.remote_job = remote_job
        change.save(step)
    context.step.remote_job = remote_job


def _count_in_vain(work: TaskContext, context: Context, seconds: float) -> None:
    """Keep the time that an attempt took of which nothing came: it counts, too, also where it has taken all it had."""
    with suppress(PenstockError), work.store.change(under=work.lease) as change:
        step = change.get(context.step.ref)
        step.metrics = step.metrics | {IN_VAIN: round(step.metrics.get(IN_VAIN, 0) + seconds, 3)}
        change.save(step)


def _begun_elsewhere(work: TaskContext, step: Step) -> str | None:
    """What an earlier attempt at a run has begun, also one whose record stays as a failure."""
    if step.remote_job is not None or work.lease.epoch == 1:
        return step.remote_job
    runs = work.store.find(Step.of_job(job_id=step.job_id, step_name=step.step_name))
    return next((run.remote_job for run in runs if run.round == step.round and run.remote_job is not None), None)


# Gates, and what else belongs to a job


def _gate(name: StepName) -> Gate[Job]:
    def wanted(change: Change, job: Job) -> bool:
        gates = change.store.get(Project.at(project_id=job.project_id)).gates
        return name in (GATES if gates is None else gates)

    return wanted


def _needed(change: Change, job: Job) -> Sequence[str]:
    return [name.value for name in STEPS[job.asset_type]]


def _end(change: Change, job: Job, made: StepResult | None) -> None:
    """Settle what the job had of its project's quotas, and sum up what it has cost.

    What was settled when it ended before is not settled again.
    """
    runs = list(change.store.find(Step.of_job(job_id=job.job_id)))
    costs = [run.cost for run in runs if run.cost is not None]
    seconds = sum(float(run.metrics.get("seconds", run.metrics.get(IN_VAIN, 0))) for run in runs)
    if isinstance(made, MadeByStep):
        seconds += float(made.metrics.get("seconds", 0))
        costs += [made.cost] if made.cost is not None else []
        job.version = made.version
    job.cost = round(sum(costs), 6) if costs else None
    give_back(change, job, seconds=round(seconds - (job.seconds or 0), 3))
    job.seconds = seconds


def _reopen(change: Change, job: Job) -> None:
    """What is taken up again needs a place again."""
    take_place(change, change.store.get(Project.at(project_id=job.project_id)), job)


ASSET = Pipeline(
    TASKS,
    "asset",
    [PipelineStep(name.value, _run, review=_gate(name) if name in GATES else False, limit=LIMIT) for name in StepName],
    records=JobRecords(
        Job,
        Step,
        input="request",
        events={
            "step_started": "StepStarted",
            "step_completed": "StepCompleted",
            "step_failed": "StepFailed",
            "decided": "UserReviewUpdated",
            "paused": "review.requested",
        },
        ended=_end,
        reopened=_reopen,
    ),
    choose=_needed,
)


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
