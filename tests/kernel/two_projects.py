"""Two projects with data that looks the same, in the asset creator's tables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from penstock import Store
from penstock.declare.entity import Entity
from penstock.domains.assetcreator.bookkeeping import Audit, Idempotency, Outbox
from penstock.domains.assetcreator.model import Asset, AssetVersion, Job, JobPlace, Project, Step
from penstock.domains.assetcreator.stages import AssetKind, AssetType, Status, StepName
from penstock.kernel.outbox import MessageStatus
from penstock.operations.reads import Query, Ref
from penstock.schema.object_key import ObjectKey

ONE, TWO = "p1", "p2"
JOBS = 3
SECRET = "kept to ourselves"


def step(project: str, job: str, number: int, *, store: Store, status: Status = Status.PAUSED) -> Step:
    moment = store.clock.now() + timedelta(microseconds=number)
    return Step(
        project_id=project,
        job_id=job,
        step_name=StepName.REFINE,
        ts=moment,
        status=status,
        metrics={"said": f"{SECRET} by {project}"},
    )


def fill(stores: Mapping[str, Store]) -> None:
    """Fill each project through its own handle, in turns, so that they are interleaved in every shared index."""
    for project, store in stores.items():
        _found(store, project)
    for n in range(JOBS):
        for turn, (project, store) in enumerate(stores.items()):
            _work(store, project, n, turn)


def _found(store: Store, project: str) -> None:
    now = store.clock.now()
    store.create(Project(project_id=project, name=f"{SECRET} by {project}", created_at=now))
    store.create(Asset(project_id=project, asset_id="hero", type=AssetKind.SOLID, latest_version=JOBS, created_at=now))
    store.create(
        Idempotency(
            idempotency_key=f"{project}-once",
            project_id=project,
            job_id=f"{project}-j0",
            step_name=StepName.REFINE,
            result={"said": f"{SECRET} by {project}"},
            created_at=now,
            ttl=int(now.timestamp()) + 3600,
        )
    )


def _work(store: Store, project: str, n: int, turn: int) -> None:
    later = store.clock.now() + timedelta(seconds=2 * n + turn)
    job = f"{project}-j{n}"
    with store.change(by="worker") as change:
        made = Job(
            project_id=project,
            job_id=f"same-{n}",
            asset_type=AssetType.PROP,
            current_step=StepName.REFINE,
            request={"said": f"{SECRET} by {project}"},
            created_at=later,
            updated_at=later,
        )
        change.create(made)
        change.create(JobPlace(job_id=job, project_id=project))
        change.create(step(project, job, 2 * n + turn, store=store))
        change.create(step(project, job, 2 * n + turn + 100, store=store))
        change.emit("job.created", made, said=f"{SECRET} by {project}")
    store.create(
        AssetVersion(
            project_id=project,
            asset_id="hero",
            version=n + 1,
            type=AssetKind.SOLID,
            files=[ObjectKey(f"assets/{project}/hero/{n}.glb")],
            created_at=later,
        )
    )


def questions() -> list[Query[Any]]:
    """Every pattern of the domain, asked about both projects where it names one."""
    both: list[Query[Any]] = []
    for project in (ONE, TWO):
        both += [
            Job.of_project(project_id=project),
            Asset.of_project(project_id=project),
            AssetVersion.of_asset(project_id=project, asset_id="hero"),
            Audit.of_project(project_id=project),
            *(Step.of_job(job_id=f"{project}-j{n}") for n in range(JOBS)),
        ]
    return [
        *both,
        Job.by_status(status=Status.PENDING),
        Step.by_status(status=Status.PAUSED),
        AssetVersion.by_type(type=AssetKind.SOLID),
        Outbox.by_status(status=MessageStatus.PENDING),
    ]


def everything(store: Store) -> list[Entity]:
    """Every record of both projects, as the operator sees them."""
    found = [record for query in questions() for record in store.find(query)]
    by_key: list[Ref[Any]] = []
    for project in (ONE, TWO):
        by_key += [Project.at(project_id=project), Idempotency.at(idempotency_key=f"{project}-once")]
        by_key += [JobPlace.at(job_id=f"{project}-j{n}") for n in range(JOBS)]
    found += [r for r in store.get_many(by_key) if r is not None]
    return list({repr(r.ref): r for r in found}.values())


def project_of(record: Entity) -> str:
    return str(record.__dict__["project_id"])
