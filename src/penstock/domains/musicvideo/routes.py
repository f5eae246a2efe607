"""The API under /api/mv: parse, call one action, render."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, File, Form, Header, Query, Request, UploadFile
from fastapi import Path as PathPart
from fastapi.responses import Response
from pydantic.alias_generators import to_camel

from penstock.auth.access import again, heavy, needs, takes
from penstock.auth.caller import caller_of
from penstock.domains.musicvideo import projects, scenes, uploading
from penstock.domains.musicvideo.backing_track import played_track
from penstock.domains.musicvideo.character_routes import add_characters
from penstock.domains.musicvideo.errors import IncompleteOrder
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, ProjectStatus, Scene
from penstock.domains.musicvideo.options import flavors
from penstock.domains.musicvideo.request_bodies import (
    ComposeRequest,
    GenerateRequest,
    LipSyncRequest,
    NewOrder,
    NewScene,
    NewUpload,
    ProjectChange,
    SceneChange,
    Sent256,
    TrimRequest,
)
from penstock.domains.musicvideo.rerun import rerun_failed
from penstock.domains.musicvideo.route_parts import Who, received
from penstock.domains.musicvideo.views import (
    DirectorView,
    FinalVideo,
    FlavorView,
    ProjectBegun,
    ProjectPage,
    ProjectUpload,
    ProjectView,
    SceneView,
    WorkBegun,
    in_list,
    one_scene,
)
from penstock.files.intake import ReservedUpload
from penstock.files.scratch import scratch_folder
from penstock.files.upload import UploadStatus
from penstock.generation.directors import directors
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext

SceneNumber = Annotated[int, PathPart(ge=1, le=999)]
IN_A_FORM = 32
"Millions of bytes of a form with files; whatever is larger is sent to a signed URL."
_TRACK: dict[int | str, dict[str, Any]] = {200: {"description": "The track.", "content": {"audio/mpeg": {}}}}


IfMatch = Annotated[str | None, Header(description="Only if it still has this ETag.", max_length=1000)]


def routes(context: DomainContext) -> APIRouter:
    """The router of a running system."""
    router = APIRouter(prefix="/api/mv", tags=["musicvideo"])
    studio = FilmStudio.within(context)
    for add in (_add_projects, _add_scenes, _add_work_on_scenes, _add_uploads, add_characters):
        add(router, studio)
    return router


def _add_projects(router: APIRouter, studio: FilmStudio) -> None:
    @router.post("/projects", status_code=201)
    @takes(megabytes=IN_A_FORM)
    @heavy("decoding")
    @again(lambda request, told: _begun(told["project_id"], told["status"]))
    def create_project(
        who: Who,
        mode: Annotated[str, Form(description="music-video or ad-creative")],
        prompt: Annotated[str, Form()],
        character_description: Annotated[str, Form(alias="characterDescription")],
        character_reference: Annotated[UUID | None, Form(alias="characterReferenceImageId")] = None,
        product_description: Annotated[str | None, Form(alias="productDescription")] = None,
        product_reference: Annotated[UUID | None, Form(alias="productReferenceImageId")] = None,
        director_config: Annotated[str | None, Form(alias="directorConfig")] = None,
        images: Annotated[list[UploadFile] | None, File()] = None,
        audio: Annotated[UploadFile | None, File()] = None,
    ) -> ProjectBegun:
        """Begin a project: a concept, a character, and for a music video its backing track."""
        with scratch_folder("musicvideo") as folder:
            wanted = projects.NewProject(
                mode=mode,
                prompt=prompt,
                character_description=character_description,
                character_reference=character_reference,
                product_description=product_description or None,
                product_reference=product_reference,
                director_config=director_config or None,
                images=[received(image, Path(folder, f"image{n}")) for n, image in enumerate(images or [])],
                audio=received(audio, Path(folder, "audio")) if audio is not None else None,
            )
            project = projects.create_project(studio.used_by(who), wanted, by=who.name)
        return _begun(project.project_id, project.status)

    @router.get("/projects")
    def list_projects(
        who: Who,
        status: ProjectStatus,
        newest_first: Annotated[bool, Query(alias="newestFirst")] = True,
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        cursor: Annotated[str | None, Query(max_length=4096)] = None,
    ) -> ProjectPage:
        """The projects in a state, by the time they were created."""
        query = Project.recent_by_status(status=status) if newest_first else Project.by_status(status=status)
        page = who.store.page(query, limit=limit, cursor=cursor)
        items = [in_list(project) for project in page.records]
        return ProjectPage(items=items, next=page.cursor)

    @router.get("/projects/{project_id}")
    def project(who: Who, project_id: UUID, response: Response) -> ProjectView:
        """A project with its scenes in order, and URLs of its files that last for a while."""
        here = studio.seen_through(who.store)
        return _project_view(here, project_id, response)

    @router.patch("/projects/{project_id}")
    def change_project(
        who: Who, project_id: UUID, body: ProjectChange, response: Response, if_match: IfMatch = None
    ) -> ProjectView:
        """Change what a video is about; its scenes tell what of them is older. Or take it up again by its status."""
        here, changes = studio.seen_through(who.store), _said(body)
        status = changes.pop("status", None)
        if status is not None and changes:
            raise IncompleteOrder("a status is changed by itself; send the other changes in a request of their own")
        if status is not None:
            projects.set_status(here, project_id, status, by=who.name)
        else:
            projects.edit_project(here, project_id, changes, if_match=if_match, by=who.name)
        return _project_view(here, project_id, response)

    @router.delete("/projects/{project_id}", status_code=204)
    def delete_project(who: Who, project_id: UUID) -> None:
        """Remove a project, its scenes and their files."""
        projects.delete_project(studio.seen_through(who.store), project_id, by=who.name)

    @router.post("/projects/{project_id}/generate", status_code=202)
    @again(lambda request, told: _generating(request.path_params["project_id"], told["status"]))
    def generate(who: Who, project_id: UUID, body: GenerateRequest | None = None) -> WorkBegun:
        """Have the scenes written, filmed, and sung in."""
        asked = body or GenerateRequest(scenes=None, seconds=None)
        begun = projects.generate(
            studio.used_by(who), project_id, scenes=asked.scenes, seconds=asked.seconds, by=who.name
        )
        return _generating(project_id, begun.status)

    @router.post("/projects/{project_id}/compose", status_code=202)
    @again(lambda request, told: _composing(request.path_params["project_id"], told["status"]))
    def compose(who: Who, project_id: UUID, body: ComposeRequest | None = None) -> WorkBegun:
        """Have the final video cut. Asked for again meanwhile, it is the same work.

        Lips that are out of step with the track are refused unless `staleLips` is asked for.
        """
        stale = body.stale_lips if body is not None else False
        begun = projects.compose(studio.used_by(who), project_id, stale_lips=stale, by=who.name)
        return _composing(project_id, begun.status)

    @router.post("/projects/{project_id}/lipsync", status_code=202)
    @again(lambda request, told: _project_again(studio, request))
    def lip_sync_stale(who: Who, project_id: UUID) -> ProjectView:
        """Have all lips moved again that are out of step with the track; the scenes tell which they are."""
        here = studio.used_by(who)
        scenes.sync_stale(here, project_id, by=who.name)
        return _project_view(here, project_id)

    @router.post("/projects/{project_id}/retry", status_code=202)
    @again(lambda request, told: _project_again(studio, request))
    def retry_failed(who: Who, project_id: UUID) -> ProjectView:
        """Have the scenes run again that failed, and only these: each goes on with the step that failed."""
        here = studio.used_by(who)
        rerun_failed(here, project_id, by=who.name)
        return _project_view(here, project_id)

    @router.get("/projects/{project_id}/final-video")
    def final_video(who: Who, project_id: UUID) -> FinalVideo:
        """Where the final video can be seen."""
        here = studio.seen_through(who.store)
        url = projects.final_video(here, project_id)
        left = max(0, int((url.expires_at - here.store.clock.now()).total_seconds()))
        return FinalVideo(project_id=project_id, video_url=url.url, expires_at=url.expires_at, expires_in_seconds=left)

    @router.get("/backing_track", response_class=Response, responses=_TRACK)
    @needs(Role.EDITOR)
    @heavy("decoding")
    def backing_track(
        prompt: Annotated[str, Query(min_length=1, max_length=5000)],
        scenes: Annotated[int, Query(ge=1, le=8)] = 4,
    ) -> Response:
        """A track for a video of so many scenes, for whoever has none to send: the same for the same words."""
        with scratch_folder("musicvideo") as folder:
            track = played_track(studio, prompt, scenes=scenes, folder=Path(folder))
            return Response(track.read_bytes(), media_type="audio/mpeg")

    @router.get("/get_director_configs")
    def director_configs() -> list[DirectorView]:
        """The directors whose manner a project can be filmed in."""
        return [DirectorView.model_validate(asdict(each)) for each in directors()]

    @router.get("/get_config_flavors")
    def config_flavors() -> list[FlavorView]:
        """What is usual for each mode."""
        return [FlavorView.model_validate(asdict(each)) for each in flavors()]


def _add_scenes(router: APIRouter, studio: FilmStudio) -> None:
    @router.post("/projects/{project_id}/scenes", status_code=201)
    @again(_scene_again(studio))
    def add_scene(who: Who, project_id: UUID, body: NewScene) -> SceneView:
        """One scene more, from a few words; it is written and filmed."""
        here = studio.used_by(who)
        return _scene_view(
            here, scenes.add_scene(here, project_id, body.scene_concept, seconds=body.seconds, by=who.name)
        )

    @router.get("/projects/{project_id}/scenes/{sequence}")
    def scene(who: Who, project_id: UUID, sequence: SceneNumber, response: Response) -> SceneView:
        """One scene as it stands among the others, and URLs of its files that last for a while."""
        here = studio.seen_through(who.store)
        return _scene_view(here, here.store.get(Scene.at(project_id=project_id, sequence=sequence)), response)

    @router.patch("/projects/{project_id}/scenes/reorder")
    def reorder(who: Who, project_id: UUID, body: NewOrder) -> ProjectView:
        """Show the scenes in another order."""
        here = studio.seen_through(who.store)
        scenes.reorder(here, project_id, body.scene_order, by=who.name)
        return _project_view(here, project_id)

    @router.patch("/projects/{project_id}/scenes/{sequence}")
    def edit_scene(
        who: Who,
        project_id: UUID,
        sequence: SceneNumber,
        body: SceneChange,
        response: Response,
        if_match: IfMatch = None,
    ) -> SceneView:
        """Change what a scene is about; regenerate it to see that."""
        here, changes = studio.seen_through(who.store), _said(body)
        if missing := [name for name in ("prompt", "duration", "needs_lip_sync") if changes.get(name, "") is None]:
            raise IncompleteOrder(f"a scene has a {to_camel(missing[0])}; say another one, or leave it out")
        edited = scenes.edit_scene(here, project_id, sequence, changes, if_match=if_match, by=who.name)
        return _scene_view(here, edited, response)

    @router.delete("/projects/{project_id}/scenes/{sequence}", status_code=204)
    def delete_scene(who: Who, project_id: UUID, sequence: SceneNumber) -> None:
        """Remove a scene and its files; its number is not used again."""
        scenes.delete_scene(studio.seen_through(who.store), project_id, sequence, by=who.name)


def _add_work_on_scenes(router: APIRouter, studio: FilmStudio) -> None:
    @router.post("/projects/{project_id}/scenes/{sequence}/regenerate", status_code=202)
    @again(_scene_again(studio))
    def regenerate(who: Who, project_id: UUID, sequence: SceneNumber) -> SceneView:
        """Film a scene again; its clip stays until the new one is there."""
        here = studio.used_by(who)
        return _scene_view(here, scenes.regenerate(here, project_id, sequence, by=who.name))

    @router.post("/projects/{project_id}/scenes/{sequence}/lipsync", status_code=202)
    @again(_scene_again(studio))
    def lip_sync(who: Who, project_id: UUID, sequence: SceneNumber, body: LipSyncRequest | None = None) -> SceneView:
        """Let somebody in the scene sing to its part of the backing track."""
        here = studio.used_by(who)
        lyrics = body.lyrics if body is not None else None
        return _scene_view(here, scenes.request_lip_sync(here, project_id, sequence, lyrics=lyrics, by=who.name))

    @router.post("/projects/{project_id}/scenes/{sequence}/trim", status_code=202)
    @again(_scene_again(studio))
    def trim(who: Who, project_id: UUID, sequence: SceneNumber, body: TrimRequest) -> SceneView:
        """Show only a part of the clip."""
        here, points = studio.used_by(who), body.trim_points
        return _scene_view(
            here, scenes.trim(here, project_id, sequence, start=points.start, stop=points.stop, by=who.name)
        )

    @router.post("/projects/{project_id}/scenes/{sequence}/upload_video", status_code=202)
    @takes(megabytes=IN_A_FORM)
    @heavy("decoding")
    @again(_scene_again(studio))
    def upload_video(who: Who, project_id: UUID, sequence: SceneNumber, file: UploadFile) -> SceneView:
        """Take a film from elsewhere as the clip; a large one is better sent through `uploads`."""
        here = studio.used_by(who)
        with scratch_folder("musicvideo") as folder:
            film = received(file, Path(folder, "film"))
            return _scene_view(here, scenes.upload_video(here, project_id, sequence, film, by=who.name))


def _add_uploads(router: APIRouter, studio: FilmStudio) -> None:
    def reserved_again(request: Request, told: dict[str, Any]) -> ProjectUpload:
        return upload(caller_of(request), UUID(request.path_params["project_id"]), told["upload_id"])

    @router.post("/projects/{project_id}/uploads", status_code=201)
    @again(reserved_again)
    def reserve(who: Who, project_id: UUID, body: NewUpload) -> ProjectUpload:
        """Announce a file, and learn where to send it."""
        reserved = uploading.reserve(
            studio.used_by(who),
            project_id,
            body.kind,
            sequence=body.sequence,
            size=body.size,
            content_type=body.content_type,
            sha256=body.sha256,
            by=who.name,
        )
        return _upload_view(studio.used_by(who), reserved)

    @router.get("/projects/{project_id}/uploads/{upload_id}")
    @needs(Role.EDITOR)  # whoever knows where to send a file can replace it
    def upload(who: Who, project_id: UUID, upload_id: str) -> ProjectUpload:
        """Where to send a file, or what is still missing of it, or what became of it."""
        here = studio.seen_through(who.store)
        return _upload_view(here, uploading.where(here, project_id, upload_id))

    @router.post("/projects/{project_id}/uploads/{upload_id}/finalize", status_code=202)
    @again(reserved_again)
    def finalize(who: Who, project_id: UUID, upload_id: str, body: Sent256 | None = None) -> ProjectUpload:
        """Say that a file is there. It is looked at, and becomes part of the project, or the upload says why not."""
        here = studio.used_by(who)
        digest = body.sha256 if body is not None else None
        uploading.finalize(here, project_id, upload_id, sha256=digest, by=who.name)
        return upload(who, project_id, upload_id)


def _begun(project_id: UUID, status: ProjectStatus) -> ProjectBegun:
    return ProjectBegun(project_id=project_id, status=status, message="Project created successfully")


def _generating(project_id: UUID, status: ProjectStatus) -> WorkBegun:
    message = "The scenes are being written and filmed"
    return WorkBegun(project_id=project_id, job_id=f"generate_{project_id}", status=status, message=message)


def _composing(project_id: UUID, status: ProjectStatus) -> WorkBegun:
    job = projects.job_id(project_id)
    return WorkBegun(project_id=project_id, job_id=job, status=status, message="The video is being composed")


def _said(body: ProjectChange | SceneChange) -> dict[str, Any]:
    """What a body says is to change."""
    return {name: getattr(body, name) for name in body.model_fields_set}


def _project_view(studio: FilmStudio, project_id: UUID, response: Response | None = None) -> ProjectView:
    view = ProjectView.with_scenes(studio, projects.project_of(studio, project_id))
    if response is not None:
        response.headers["ETag"] = view.etag
    return view


def _project_again(studio: FilmStudio, request: Request) -> ProjectView:
    """A project as it is now, for whoever asks for the same work again."""
    return _project_view(studio.seen_through(caller_of(request).store), UUID(request.path_params["project_id"]))


def _scene_view(studio: FilmStudio, scene: Scene, response: Response | None = None) -> SceneView:
    view = one_scene(studio, projects.project_of(studio, scene.project_id), scene.sequence)
    if response is not None:
        response.headers["ETag"] = view.etag
    return view


def _upload_view(studio: FilmStudio, reserved: ReservedUpload) -> ProjectUpload:
    sent = reserved.upload
    return ProjectUpload.of_reserved(
        reserved,
        status=sent.status,
        inspected=uploading.inspected_part(studio, sent),
        error=sent.error,
        advice=uploading.advice_on(sent) if sent.status is UploadStatus.OPEN else None,
    )


def _scene_again(studio: FilmStudio) -> Callable[[Request, dict[str, Any]], SceneView]:
    """A scene as it is now, for whoever asks for the same work again."""

    def told(request: Request, told: dict[str, Any]) -> SceneView:
        here = studio.seen_through(caller_of(request).store)
        ref = Scene.at(project_id=UUID(request.path_params["project_id"]), sequence=int(told["sequence"]))
        return _scene_view(here, here.store.get(ref))

    return told
