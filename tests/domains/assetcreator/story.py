"""What happens in these tests, in a few words: ask for an asset, let workers work, decide, and look at it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock import FrozenClock
from penstock.domains.assetcreator import creative_projects, jobs, reviews
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.jobs import AssetJob, NewJob
from penstock.domains.assetcreator.model import Job, Project, Step
from penstock.domains.assetcreator.orders import Constraints, Prompt, Request
from penstock.domains.assetcreator.production import TASKS
from penstock.domains.assetcreator.stages import AssetType
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers

ANN = "ann"


def project(studio: AssetStudio, **wanted: Any) -> Project:
    """A new project; people decide at every gate unless it is said otherwise."""
    given: dict[str, Any] = {"style_profile": {}, "gates": None, **wanted}
    return creative_projects.begin_project(studio, "Robots", by=ANN, **given)


def asked(
    studio: AssetStudio,
    project: Project,
    concept: str = "Space ranger robot with a red scarf",
    *,
    type: AssetType = AssetType.CHARACTER_3D,
    **request: Any,
) -> Job:
    """A job for an asset."""
    constraints = request.pop("constraints", Constraints())
    wanted = Request(prompt=Prompt(core_concept=concept), constraints=constraints, **request)
    return jobs.ask(studio, NewJob(project.project_id, type, wanted), by=ANN)


def workers(studio: AssetStudio) -> ManualWorkers:
    context = DomainContext(studio.store, studio.objects, lambda name: None)
    return ManualWorkers(studio.store, [TASKS], context=context)


def work(studio: AssetStudio) -> None:
    """All there is to do until somebody has to decide."""
    workers(studio).drain()


def seen(studio: AssetStudio, job: Job) -> AssetJob:
    return jobs.see_job(studio.store, job.job_id)


def waiting(studio: AssetStudio, job: Job) -> Step:
    """The run that waits for a decision."""
    found = seen(studio, job).current()
    assert found is not None
    return found


def looked_at(step: Step) -> dict[str, str]:
    """The checksums of the files of a run, as somebody who has seen them sends them."""
    return {key.rpartition("/")[2]: digest for key, digest in (step.checksums or {}).items()}


def approve(studio: AssetStudio, job: Job, *, by: str = ANN, notes: str | None = None) -> Job:
    step = waiting(studio, job)
    return reviews.approve(studio, job.job_id, round=step.round, checksums=looked_at(step), notes=notes, by=by)


def reject(studio: AssetStudio, job: Job, *, by: str = ANN, notes: str | None = None, **more: Any) -> Job:
    step = waiting(studio, job)
    return reviews.reject(studio, job.job_id, round=step.round, checksums=looked_at(step), notes=notes, by=by, **more)


def finished(studio: AssetStudio, job: Job) -> AssetJob:
    """A job whose every gate somebody was content at."""
    work(studio)
    while seen(studio, job).current() is not None:
        approve(studio, job)
        work(studio)
    return seen(studio, job)


def runs(studio: AssetStudio, job: Job) -> list[tuple[str, str]]:
    """Every run of a stage, and what became of it."""
    return [(step.step_name.value, step.status.value) for step in seen(studio, job).steps]


def later(studio: AssetStudio, **time: float) -> None:
    clock = studio.store.clock
    assert isinstance(clock, FrozenClock)
    clock.advance(timedelta(**time))
