"""Jobs: asked for, looked at, cancelled, taken up again, and made again with another seed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import ImpossibleAsset, NoSuchPlace
from penstock.domains.assetcreator.model import Asset, Job, JobPlace, Project, ReferencePicture, Step
from penstock.domains.assetcreator.orders import (
    SEEDS,
    ChangedInputs,
    Request,
    all_words,
    changed,
    check_constraints,
    kept,
    request_of,
)
from penstock.domains.assetcreator.production import ASSET
from penstock.domains.assetcreator.project_quotas import take_place
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.errors import Conflict, IllegalMove
from penstock.kernel.change import Change
from penstock.kernel.idempotency import new_id
from penstock.kernel.store import Store

UNFINISHED = (Status.PENDING, Status.RUNNING, Status.PAUSED, Status.APPROVED)


@dataclass(frozen=True, slots=True)
class NewJob:
    """What somebody asks for."""

    project_id: str
    asset_type: AssetType
    request: Request
    reference_id: str | None = None
    asset_id: str | None = None
    "An asset of which this becomes the next version; None: a new one."


@dataclass(frozen=True, slots=True)
class AssetJob:
    """A job with the runs of its stages, in the order of the work."""

    job: Job
    steps: list[Step]

    def current(self) -> Step | None:
        """The run that a person is to look at."""
        return next((step for step in reversed(self.steps) if step.status is Status.PAUSED), None)


def ask(studio: AssetStudio, wanted: NewJob, *, by: str) -> Job:
    """Begin a job, if the project's quotas allow it and its prompt is safe; QuotaExceeded, UnsafePrompt if not."""
    store = studio.store
    project = store.get(Project.at(project_id=wanted.project_id))
    studio.safety.check(project, all_words(project, wanted.request))
    request = wanted.request.model_copy(update={"reference": _reference(store, wanted)})
    _check_possible(store, wanted)
    with store.change(by=by, once=studio.once) as change:
        job = _begin(studio, change, project, wanted.asset_type, request, asset_id=wanted.asset_id)
        change.result = {"job_id": job.job_id}
    return job


def make_again(studio: AssetStudio, job_id: str, *, seed: int | None = None, by: str) -> Job:
    """The same inputs with another seed; it becomes the next version of the same asset."""
    job = find_job(studio.store, job_id)
    project = studio.store.get(Project.at(project_id=job.project_id))
    former = request_of(job)
    studio.safety.check(project, all_words(project, former))
    again = former.model_copy(
        update={"seed": (former.seed + 1) % SEEDS if seed is None else seed, "parent": job.version, "retakes": {}}
    )
    with studio.store.change(by=by, why=f"as {job.job_id}", once=studio.once) as change:
        begun = _begin(studio, change, project, job.asset_type, again, asset_id=job.asset_id)
        change.result = {"job_id": begun.job_id}
    return begun


def _begin(
    studio: AssetStudio,
    change: Change,
    project: Project,
    asset_type: AssetType,
    request: Request,
    *,
    asset_id: str | None,
) -> Job:
    now = studio.store.clock.now()
    job = Job(
        project_id=project.project_id,
        job_id=f"job_{new_id(studio.once, 'job').hex}",
        asset_id=asset_id or f"asset_{new_id(studio.once, 'asset').hex}",
        asset_type=asset_type,
        current_step=StepName.TEXT_TO_IMAGE,
        created_at=now,
        updated_at=now,
    )
    take_place(change, project, job)
    change.create(JobPlace(job_id=job.job_id, project_id=job.project_id))
    return ASSET.start(change, kept(request), job=job)


def _reference(store: Store, wanted: NewJob) -> str | None:
    """The picture that shows what is meant, which must be the project's own."""
    if wanted.reference_id is None:
        return None
    ref = ReferencePicture.at(project_id=wanted.project_id, reference_id=wanted.reference_id)
    return store.get(ref).picture


def _check_possible(store: Store, wanted: NewJob) -> None:
    constraints = wanted.request.constraints
    check_constraints(wanted.asset_type, constraints, constraints.model_fields_set)
    if wanted.asset_id is not None:
        asset = store.get(Asset.at(project_id=wanted.project_id, asset_id=wanted.asset_id))
        if asset.asset_type not in (None, wanted.asset_type):
            raise ImpossibleAsset(f"asset {asset.asset_id} is a {asset.asset_type}, not a {wanted.asset_type.value}")


# Looking


def find_job(store: Store, job_id: str) -> Job:
    """A job by its id alone; NoSuchPlace where there is none."""
    place = store.lookup(JobPlace.at(job_id=job_id))
    job = None if place is None else store.lookup(Job.at(project_id=place.project_id, job_id=job_id))
    if job is None:
        raise NoSuchPlace(f"there is no job {job_id}")
    return job


def see_job(store: Store, job_id: str) -> AssetJob:
    """A job with all runs of its stages."""
    job = find_job(store, job_id)
    return AssetJob(job, sorted(store.find(Step.of_job(job_id=job_id)), key=_in_order))


def _in_order(step: Step) -> tuple[int, int, datetime]:
    """By the order of the work, which the clocks of those who did it may not tell."""
    return step.round, step.step_index, step.ts


# Ending, and going back


def cancel(studio: AssetStudio, job_id: str, *, by: str, why: str | None = None) -> Job:
    """Stop a job wherever it is; it has failed then, with the code CANCELLED. To one that is over nothing happens."""

    def attempt() -> Job:
        job = find_job(studio.store, job_id)
        if job.status not in UNFINISHED:
            return job
        try:
            with studio.store.change(by=by, why=why, once=studio.once) as change:
                cancelled = ASSET.cancel(change, job, by=by, why=why)
                change.result = {"job_id": job_id}
        except IllegalMove as ended:  # its last step, since it was read
            raise Conflict(f"job {job_id} has just moved on: {ended}") from None
        return cancelled

    return studio.store.retried(attempt)  # a step may just have begun or ended


def resume(
    studio: AssetStudio, job_id: str, *, from_step: StepName, inputs: ChangedInputs | None = None, by: str
) -> Job:
    """Run a job that does not run again from one of its stages; what the earlier ones made still counts."""
    job = find_job(studio.store, job_id)
    project = studio.store.get(Project.at(project_id=job.project_id))
    request = changed(job, inputs)
    studio.safety.check(project, all_words(project, request))
    with studio.store.change(by=by, why=f"resume from {from_step.value}", once=studio.once) as change:
        resumed = ASSET.resume(
            change, job, from_step=from_step.value, by=by, input=None if inputs is None else kept(request)
        )
        change.result = {"job_id": job_id}
    return resumed
