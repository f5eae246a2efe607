"""Removal: a version, an asset, a job or a whole project, each with its files, which stay in the trash for a while."""

from __future__ import annotations

from contextlib import suppress

from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import NotIdle
from penstock.domains.assetcreator.jobs import UNFINISHED
from penstock.domains.assetcreator.library import find_asset, find_version
from penstock.domains.assetcreator.model import (
    ArchivedVersion,
    Asset,
    AssetPlace,
    AssetVersion,
    Job,
    JobPlace,
    Project,
    ReferencePicture,
    Step,
)
from penstock.domains.assetcreator.production import ASSET
from penstock.domains.assetcreator.project_quotas import close, forget_project, forget_version, is_closed
from penstock.errors import NotFound
from penstock.files.deletion import delete_with_files, release_files
from penstock.kernel.quota import QuotaExceeded
from penstock.kernel.store import Store
from penstock.kernel.unchanged import unchanged
from penstock.work import JobStatus


def delete_version(studio: AssetStudio, asset_id: str, number: int, *, by: str) -> None:
    """Take a version out of the library; its number is not given again."""
    version = find_version(studio.store, asset_id, number)
    _remove_version(studio.store, version, by=by)


def delete_asset(studio: AssetStudio, asset_id: str, *, by: str) -> None:
    """Remove an asset with all its versions. The jobs that made them stay for their time.

    Conflict where a version has come just then; asked again, it goes on.
    """
    store, asset = studio.store, find_asset(studio.store, asset_id)
    while versions := list(store.find(AssetVersion.of_asset(project_id=asset.project_id, asset_id=asset_id))):
        for version in versions:
            _remove_version(store, version, by=by)
        asset = find_asset(store, asset_id)
    for gone in store.find(ArchivedVersion.of_asset(project_id=asset.project_id, asset_id=asset_id)):
        store.delete(gone.ref)
    with store.change(by=by) as change:
        change.delete(asset.ref, when=unchanged(asset))
        change.delete(AssetPlace.at(asset_id=asset_id))
        change.emit("AssetDeleted", asset)


def delete_project(studio: AssetStudio, project_id: str, *, by: str) -> None:
    """Remove a project with its jobs, its library and all files; NotIdle while a job is unfinished.

    What is gone is gone should this end halfway, and no job begins in it any more; asked again, it goes on.
    """
    store = studio.store
    project = store.get(Project.at(project_id=project_id))
    _close(store, project)
    for asset in store.find(Asset.of_project(project_id=project_id)):
        delete_asset(studio, asset.asset_id, by=by)
    for job in store.find(Job.of_project(project_id=project_id)):
        delete_job(studio, job, by=by)
    for picture in store.find(ReferencePicture.of_project(project_id=project_id)):
        with store.change(by=by) as change:
            delete_with_files(store, change, picture)
    with store.change(by=by) as change:
        change.delete(project.ref, when=unchanged(project))
        forget_project(change, project)
        change.emit("ProjectDeleted", project)


def _close(store: Store, project: Project) -> None:
    """Let no job begin in a project; NotIdle while one is unfinished, whoever has just begun it."""
    for job in store.find(Job.of_project(project_id=project.project_id)):
        if job.status in UNFINISHED:
            raise NotIdle(f"job {job.job_id} of project {project.project_id} is {job.status.value}; cancel it first")
    if is_closed(store, project):
        return
    try:
        with store.change() as change:
            close(change, project)
    except QuotaExceeded:
        raise NotIdle(f"a job of project {project.project_id} has just begun; cancel it first") from None


def delete_job(studio: AssetStudio, job: Job, *, by: str) -> None:
    """Remove a job that is over with its steps and their files; what it has put into the library stays."""
    store = studio.store
    if job.status in UNFINISHED:
        raise NotIdle(f"job {job.job_id} is {job.status.value}; cancel it first")
    with suppress(NotFound):  # forgotten before
        if ASSET.state(store, job).status is JobStatus.FAILED:
            ASSET.cancel(store, job, by=by)
        ASSET.forget(store, job)
    for step in store.find(Step.of_job(job_id=job.job_id)):
        with store.change(by=by, project=job.project_id) as change:
            change.delete(step.ref)
            release_files(change, step, list(step.artifacts))
    with store.change(by=by, project=job.project_id) as change:
        change.delete(job.ref)
        change.delete(JobPlace.at(job_id=job.job_id))


def _remove_version(store: Store, version: AssetVersion, *, by: str) -> None:
    with store.change(by=by) as change:
        delete_with_files(store, change, version)
        forget_version(change, version)
        asset = change.get(Asset.at(project_id=version.project_id, asset_id=version.asset_id))
        if asset.latest_version == version.version:
            others = store.find(AssetVersion.of_asset(project_id=version.project_id, asset_id=version.asset_id))
            asset.latest_version = next((v.version for v in others if v.version != version.version), 0)
            change.save(asset)
        change.emit("AssetVersionDeleted", version)
