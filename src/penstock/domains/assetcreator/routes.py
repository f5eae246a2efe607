"""The API under /api/ac: parse, call one action, render."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, UploadFile
from fastapi import Path as PathPart
from fastapi.responses import StreamingResponse

from penstock.auth.access import again, heavy, needs, takes
from penstock.auth.caller import Caller, caller_of
from penstock.declare.attr import the
from penstock.domains.assetcreator import creative_projects, downloads, jobs, library, removal, reviews
from penstock.domains.assetcreator.asset_bodies import (
    AskForAsset,
    BeginProject,
    Decision,
    EditProject,
    MakeAgain,
    ProjectRules,
    ResumeJob,
    ReviewDecision,
    ReviewDuty,
)
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.asset_views import (
    ArchivedVersionPage,
    ArchivedVersionView,
    AssetInList,
    AssetJobView,
    AssetPage,
    AssetView,
    CreativeProjectInList,
    CreativeProjectPage,
    CreativeProjectView,
    JobInList,
    JobPage,
    ReferenceView,
    ReviewPage,
    VersionPage,
    VersionView,
    WaitingView,
)
from penstock.domains.assetcreator.errors import ImpossibleAsset
from penstock.domains.assetcreator.model import ArchivedVersion, Asset, AssetVersion, Job, Project, Step
from penstock.domains.assetcreator.orders import Request as Wanted
from penstock.domains.assetcreator.project_quotas import used_by
from penstock.domains.assetcreator.stages import AssetKind, Status
from penstock.files.scratch import scratch_folder
from penstock.files.signed_view import shared_fields
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext

Limit = Annotated[int, Query(ge=1, le=200)]
Cursor = Annotated[str | None, Query(max_length=4096)]
VersionNumber = Annotated[int, PathPart(ge=1, le=9_999_999_999)]


def who_asks(request: Request) -> Caller:
    """Whoever the service has let in."""
    return caller_of(request)


Who = Annotated[Caller, Depends(who_asks)]


def routes(context: DomainContext) -> APIRouter:
    """The router of a running system."""
    router = APIRouter(prefix="/api/ac", tags=["assetcreator"])
    studio = AssetStudio.within(context)
    for add in (_add_projects, _add_jobs, _add_reviews, _add_library):
        add(router, studio)
    return router


def _add_projects(router: APIRouter, studio: AssetStudio) -> None:
    def view(here: AssetStudio, project: Project) -> CreativeProjectView:
        return CreativeProjectView.of(project, used_by(here.store, project))

    def project_again(request: Request, told: dict[str, Any]) -> CreativeProjectView:
        here = studio.used_by(caller_of(request))
        return view(here, here.store.get(Project.at(project_id=told["project_id"])))

    def reference_again(request: Request, told: dict[str, Any]) -> ReferenceView:
        return ReferenceView(**told)

    @router.post("/projects", status_code=201)
    @again(project_again)
    def begin_project(who: Who, body: BeginProject) -> CreativeProjectView:
        """Begin a project: its style, and after which steps people decide."""
        here = studio.used_by(who)
        project = creative_projects.begin_project(
            here, body.name, style_profile=body.style_profile, gates=body.gates, by=who.name
        )
        return view(here, project)

    @router.get("/projects")
    def list_projects(who: Who, limit: Limit = 50, cursor: Cursor = None) -> CreativeProjectPage:
        """Projects, newest first."""
        page = who.store.page(Project.all(), limit=limit, cursor=cursor)
        items = [CreativeProjectInList(**shared_fields(CreativeProjectInList, p)) for p in page.records]
        return CreativeProjectPage(items=items, next=page.cursor)

    @router.get("/projects/{project_id}")
    def project(who: Who, project_id: str) -> CreativeProjectView:
        """A project, with what it uses of its quotas."""
        return view(studio.used_by(who), who.store.get(Project.at(project_id=project_id)))

    @router.patch("/projects/{project_id}")
    def edit_project(who: Who, project_id: str, body: EditProject) -> CreativeProjectView:
        """Change a project's style, gates, or how many versions it keeps."""
        here, changes = studio.used_by(who), {name: getattr(body, name) for name in body.model_fields_set}
        if None in (changes.get("name", ""), changes.get("style_profile", "")):
            raise ImpossibleAsset("a project has a name and a style profile; say another, or leave it out")
        return view(here, creative_projects.change_project(here, project_id, changes, by=who.name))

    @router.put("/projects/{project_id}/rules")
    @needs(Role.ADMIN)
    def set_rules(who: Who, project_id: str, body: ProjectRules) -> CreativeProjectView:
        """Set a project's quotas, and the words that no prompt of it may have."""
        here = studio.used_by(who)
        words = body.forbidden_words
        project = creative_projects.set_rules(here, project_id, quotas=body.quotas, forbidden_words=words, by=who.name)
        return view(here, project)

    @router.delete("/projects/{project_id}", status_code=204)
    @needs(Role.ADMIN)
    def delete_project(who: Who, project_id: str) -> None:
        """Remove a project with its jobs, its library and all files."""
        removal.delete_project(studio.used_by(who), project_id, by=who.name)

    @router.post("/projects/{project_id}/references", status_code=201)
    @again(reference_again)
    @takes(megabytes=11)
    @heavy("decoding")
    def add_reference(who: Who, project_id: str, file: UploadFile) -> ReferenceView:
        """Bring a picture along that shows what is meant."""
        here = studio.used_by(who)
        with scratch_folder("assetcreator") as folder:
            picture = Path(folder, "picture")
            with picture.open("wb") as into:
                shutil.copyfileobj(file.file, into)
            kept = creative_projects.add_reference(here, project_id, picture, by=who.name)
        return ReferenceView(reference_id=kept.reference_id, project_id=kept.project_id)


def _add_jobs(router: APIRouter, studio: AssetStudio) -> None:
    job_again = _job_again(studio)

    @router.post("/jobs", status_code=201)
    @again(job_again)
    def ask(who: Who, body: AskForAsset) -> AssetJobView:
        """Ask for an asset in words. It is made step by step; look at the job until it is over."""
        here = studio.used_by(who)
        request = Wanted(prompt=body.prompt, constraints=body.constraints, seed=body.seed)
        wanted = jobs.NewJob(
            body.project_id, body.asset_type, request, reference_id=body.reference_id, asset_id=body.asset_id
        )
        return _job_view(here, jobs.ask(here, wanted, by=who.name).job_id)

    @router.get("/jobs")
    def list_jobs(
        who: Who, project_id: str, status: Status | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> JobPage:
        """The jobs of a project, or those in one state."""
        who.store.get(Project.at(project_id=project_id))
        query = Job.of_project(project_id=project_id)
        if status is not None:
            query = query.where(the(Job.status).equals(status))
        page = who.store.page(query, limit=limit, cursor=cursor)
        return JobPage(items=[JobInList.of(job) for job in page.records], next=page.cursor)

    @router.get("/jobs/{job_id}")
    def job(who: Who, job_id: str) -> AssetJobView:
        """A job with every run of its steps, their files, and what waits for a decision."""
        return _job_view(studio.used_by(who), job_id)

    @router.post("/jobs/{job_id}/cancel")
    @again(job_again)
    def cancel(who: Who, job_id: str) -> AssetJobView:
        """Stop a job wherever it is; it has failed then, with the code CANCELLED."""
        here = studio.used_by(who)
        return _job_view(here, jobs.cancel(here, job_id, by=who.name).job_id)

    @router.post("/jobs/{job_id}/resume", status_code=202)
    @again(job_again)
    def resume(who: Who, job_id: str, body: ResumeJob) -> AssetJobView:
        """Run a job that does not run again from one of its steps."""
        here = studio.used_by(who)
        jobs.resume(here, job_id, from_step=body.from_step, inputs=body.inputs, by=who.name)
        return _job_view(here, job_id)

    @router.post("/jobs/{job_id}/again", status_code=201)
    @again(job_again)
    def make_again(who: Who, job_id: str, body: MakeAgain | None = None) -> AssetJobView:
        """The same inputs with another seed; it becomes the next version of the same asset."""
        here = studio.used_by(who)
        begun = jobs.make_again(here, job_id, seed=None if body is None else body.seed, by=who.name)
        return _job_view(here, begun.job_id)


def _add_reviews(router: APIRouter, studio: AssetStudio) -> None:
    job_again = _job_again(studio)

    @router.get("/reviews")
    def list_reviews(who: Who, project_id: str, limit: Limit = 50, cursor: Cursor = None) -> ReviewPage:
        """What waits for a decision in a project, oldest first."""
        who.store.get(Project.at(project_id=project_id))
        query = Step.reviews_of_project(project_id=project_id)
        page, signer = who.store.page(query, limit=limit, cursor=cursor), studio.used_by(who).signer()
        return ReviewPage(items=[WaitingView.of(step, signer) for step in page.records], next=page.cursor)

    @router.post("/jobs/{job_id}/review")
    @again(job_again)
    def review(who: Who, job_id: str, body: ReviewDecision) -> AssetJobView:
        """Decide about the run that waits: be content, or have it made again with notes and other inputs."""
        here = studio.used_by(who)
        seen: dict[str, Any] = {"round": body.round, "checksums": body.checksums, "notes": body.notes, "by": who.name}
        if body.decision is Decision.APPROVED:
            if body.back_to is not None or body.inputs is not None:
                raise ImpossibleAsset("what is approved is not made again; leave back_to and inputs out")
            reviews.approve(here, job_id, **seen)
        else:
            reviews.reject(here, job_id, back_to=body.back_to, inputs=body.inputs, **seen)
        return _job_view(here, job_id)

    @router.put("/jobs/{job_id}/review")
    def assign(who: Who, job_id: str, body: ReviewDuty) -> AssetJobView:
        """Say who is to decide about what waits, and by when."""
        here = studio.used_by(who)
        reviews.assign(here, job_id, assignee=body.assignee, due_at=body.due_at, by=who.name)
        return _job_view(here, job_id)


def _add_library(router: APIRouter, studio: AssetStudio) -> None:
    def version_again(request: Request, told: dict[str, Any]) -> VersionView:
        here = studio.used_by(caller_of(request))
        return VersionView.shown(library.find_version(here.store, told["asset_id"], told["version"]), here.signer())

    @router.get("/projects/{project_id}/assets")
    def list_assets(
        who: Who, project_id: str, type: AssetKind | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> AssetPage:
        """The assets of a project, or those of one type, which come newest first."""
        who.store.get(Project.at(project_id=project_id))
        if type is None:
            page = who.store.page(Asset.of_project(project_id=project_id), limit=limit, cursor=cursor)
        else:
            query = Asset.of_project_by_type(project_id=project_id, type=type)
            page = who.store.page(query, limit=limit, cursor=cursor)
        return AssetPage(items=[AssetInList.of(asset) for asset in page.records], next=page.cursor)

    @router.get("/assets/{asset_id}")
    def asset(who: Who, asset_id: str) -> AssetView:
        """An asset with its latest versions."""
        here = studio.used_by(who)
        found = library.find_asset(here.store, asset_id)
        query = AssetVersion.of_asset(project_id=found.project_id, asset_id=asset_id)
        signer = here.signer()
        latest = [VersionView.shown(v, signer) for v in here.store.page(query, limit=10).records]
        return AssetView(**shared_fields(AssetInList, found), versions=latest)

    @router.get("/assets/{asset_id}/versions")
    def versions(who: Who, asset_id: str, limit: Limit = 50, cursor: Cursor = None) -> VersionPage:
        """The versions of an asset, latest first; and of those in the archive the latest."""
        here = studio.used_by(who)
        found = library.find_asset(here.store, asset_id)
        query = AssetVersion.of_asset(project_id=found.project_id, asset_id=asset_id)
        page, signer = here.store.page(query, limit=limit, cursor=cursor), here.signer()
        items = [VersionView.shown(v, signer) for v in page.records]
        archived = archived_versions(who, asset_id, limit=limit).items if cursor is None else []
        return VersionPage(items=items, next=page.cursor, archived=archived)

    @router.get("/assets/{asset_id}/archived")
    def archived_versions(who: Who, asset_id: str, limit: Limit = 50, cursor: Cursor = None) -> ArchivedVersionPage:
        """The versions of an asset that are in the archive, latest first."""
        found = library.find_asset(who.store, asset_id)
        query = ArchivedVersion.of_asset(project_id=found.project_id, asset_id=asset_id)
        page = who.store.page(query, limit=limit, cursor=cursor)
        return ArchivedVersionPage(items=[ArchivedVersionView.of(v) for v in page.records], next=page.cursor)

    @router.post("/assets/{asset_id}/versions/{version}/restore")
    @again(version_again)
    @heavy("packing")
    def restore_version(who: Who, asset_id: str, version: VersionNumber) -> VersionView:
        """Bring a version back from the archive; it stays for a month at least."""
        here = studio.used_by(who)
        return VersionView.shown(library.restore_version(here, asset_id, version, by=who.name), here.signer())

    @router.get("/assets/{asset_id}/versions/{version}")
    def version(who: Who, asset_id: str, version: VersionNumber) -> VersionView:
        """A version with URLs of its files; that somebody took them is audited."""
        here = studio.used_by(who)
        return VersionView.of(downloads.export_version(here, asset_id, version, how="URLs", by=who.name), here.signer())

    @router.get("/assets/{asset_id}/versions/{version}/zip", response_class=StreamingResponse)
    @heavy("packing")
    def version_as_zip(who: Who, asset_id: str, version: VersionNumber) -> StreamingResponse:
        """All files of a version in one; that somebody took them is audited."""
        here = studio.used_by(who)
        found = downloads.export_version(here, asset_id, version, how="zip", by=who.name)
        name = f"{asset_id}-v{version}.zip"
        return StreamingResponse(
            downloads.zipped(here, found),
            media_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    @router.delete("/assets/{asset_id}/versions/{version}", status_code=204)
    def delete_version(who: Who, asset_id: str, version: VersionNumber) -> None:
        """Take a version out of the library; its number is not given again."""
        removal.delete_version(studio.used_by(who), asset_id, version, by=who.name)

    @router.delete("/assets/{asset_id}", status_code=204)
    def delete_asset(who: Who, asset_id: str) -> None:
        """Remove an asset with all its versions and their files."""
        removal.delete_asset(studio.used_by(who), asset_id, by=who.name)


def _job_view(studio: AssetStudio, job_id: str) -> AssetJobView:
    return AssetJobView.with_steps(jobs.see_job(studio.store, job_id), studio.signer())


def _job_again(studio: AssetStudio) -> Callable[[Request, dict[str, Any]], AssetJobView]:
    """A job as it is now, for whoever asks for the same again."""

    def told(request: Request, told: dict[str, Any]) -> AssetJobView:
        return _job_view(studio.used_by(caller_of(request)), told["job_id"])

    return told
