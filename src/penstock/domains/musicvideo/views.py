"""What the API answers: the documents' field names, and for every key of a file a URL that was signed just now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from penstock.declare.units import Count, Seconds, UtcSeconds
from penstock.domains.musicvideo.edition import etag_of
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.lip_standing import LipsStatus, shown_seconds, stale_lips
from penstock.domains.musicvideo.model import Mode, Project, ProjectStatus, Scene, SceneStatus
from penstock.domains.musicvideo.projects import ProjectSeen
from penstock.files.signed_view import SignedView, UrlOf, UrlSigner, UrlsOf, shared_fields
from penstock.files.upload import UploadStatus
from penstock.files.upload_view import UploadView


class MusicVideoView(SignedView):
    """Anything that is answered, in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class SceneView(MusicVideoView):
    """A scene, in its place."""

    project_id: UUID
    sequence: Count
    display_sequence: Count = Field(description="Its place in the video, from 1.")
    status: SceneStatus
    progress: Annotated[int, Field(ge=0, le=100)] = Field(description="How far it is, in per cent.")
    doing: str | None = Field(description="What is done with it just now.")
    prompt: str
    negative_prompt: str | None
    duration: Seconds
    shown_duration: Seconds | None
    starts_at: Seconds = Field(description="The second of the video, and of its track, at which it begins.")
    needs_lip_sync: bool
    lips: LipsStatus = Field(description="Whether lips move to what is heard with the scene; stale ones do not.")
    lips_stale_because: str | None
    outdated: list[str] = Field(description="What has changed since the scene was written and filmed.")
    etag: str = Field(description="Which edition of its words it is; for If-Match.")
    lyrics: str | None
    trim_points: dict[str, float] | None
    retry_count: Count
    error_message: str | None
    cost: float | None
    not_drawn: list[str] | None = Field(description="What the prompt names and the clip does not show.")
    reference_image_urls: Annotated[list[str], UrlsOf("reference_image_s3_keys")]
    audio_clip_url: Annotated[str | None, UrlOf("audio_clip_s3_key", show_as="audio/mpeg")]
    video_clip_url: Annotated[str | None, UrlOf("video_clip_s3_key")]
    lip_synced_video_clip_url: Annotated[str | None, UrlOf("lip_synced_video_clip_s3_key", show_as="video/mp4")]
    working_video_clip_url: Annotated[str | None, UrlOf("working_video_clip_s3_key", show_as="video/mp4")]
    thumbnail_url: Annotated[str | None, UrlOf("thumbnail_s3_key", show_as="image/jpeg")]
    urls_expire_at: UtcSeconds | None
    created_at: UtcSeconds
    updated_at: UtcSeconds


class ProjectInList(MusicVideoView):
    """A project, without its files."""

    project_id: UUID
    status: ProjectStatus
    mode: Mode | None
    concept_prompt: str
    character_description: str
    product_description: str | None
    director_config: str | None
    scene_count: Count
    completed_scenes: Count
    failed_scenes: Count
    final_duration: Seconds | None
    error_message: str | None
    created_at: UtcSeconds
    updated_at: UtcSeconds


class ProjectView(ProjectInList):
    """A project with its scenes in order; the URLs open by themselves until `urlsExpireAt`."""

    character_image_url: Annotated[str | None, UrlOf("character_image_s3_key")]
    product_image_url: Annotated[str | None, UrlOf("product_image_s3_key")]
    audio_backing_track_url: Annotated[str | None, UrlOf("audio_backing_track_s3_key")]
    audio_duration: Seconds | None
    final_output_url: Annotated[str | None, UrlOf("final_output_s3_key", show_as="video/mp4")]
    final_thumbnail_url: Annotated[str | None, UrlOf("final_thumbnail_s3_key", show_as="image/jpeg")]
    urls_expire_at: UtcSeconds | None
    etag: str = Field(description="Which edition of its words it is; for If-Match.")
    video_duration: Seconds = Field(description="How long the video of these scenes is.")
    progress: Annotated[int, Field(ge=0, le=100)] = Field(description="How far its scenes are together, in per cent.")
    failed_sequences: list[Count] = Field(description="The scenes that failed, by number; `retry` runs just these.")
    stale_lips: list[Count] = Field(description="The scenes whose lips are out of step with the track, by number.")
    not_drawn: list[str] = Field(description="What any of its scenes could not show.")
    scenes: list[SceneView]

    @classmethod
    def with_scenes(cls, studio: FilmStudio, seen: ProjectSeen) -> ProjectView:
        """The URLs of all of it are signed once for each file."""
        signer = studio.signer()
        view = cls.of(seen.project, signer, scenes=[], **_together(seen), etag=etag_of(seen.project))
        view.scenes = [_scene(signer, seen, number) for number in range(1, len(seen.places) + 1)]
        view.urls_expire_at = signer.until
        return view


class ProjectPage(MusicVideoView):
    """Some projects; pass `next` back as `cursor` for those behind them, until it is null."""

    items: list[ProjectInList]
    next: str | None


class DirectorView(MusicVideoView):
    """A manner of filming, by which a project can be begun."""

    name: str
    summary: str
    palette: list[str]
    camera: list[str]
    light: list[str]
    hours: list[str]
    pacing: str
    negative_prompt: str


class FlavorView(MusicVideoView):
    """What is usual for a kind of video."""

    name: str
    summary: str
    mode: Mode
    scenes: Count
    most_scenes: Count
    seconds: Seconds
    lip_sync: bool


class ProjectBegun(MusicVideoView):
    project_id: UUID
    status: ProjectStatus
    message: str


class WorkBegun(MusicVideoView):
    """Work that goes on by itself; look at the project until it is over."""

    project_id: UUID
    job_id: str
    status: ProjectStatus
    message: str


class FinalVideo(MusicVideoView):
    project_id: UUID
    video_url: str
    expires_at: UtcSeconds
    expires_in_seconds: Count


class CharacterView(MusicVideoView):
    expiry = "expires_at"

    character_reference_id: UUID
    not_drawn: list[str] | None = Field(description="What the description names and the picture does not show.")
    image_url: Annotated[str, UrlOf("image_s3_key")]
    expires_at: UtcSeconds


class ProjectUpload(UploadView):
    """Where to send a file: to `url`, or, if it is large, each part to its own; and, finalized, what becomes of it."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    status: UploadStatus = Field(
        description="`open`; once finalized `arrived`, while it is looked at; `done`; `refused`."
    )
    inspected: float | None = Field(None, description="While it is looked at: how much of it is, of 1.")
    error: str | None = Field(None, description="Why it was refused.")
    advice: str | None = Field(None, description="What to know about its content type before it is sent.")


def undrawn(scenes: Iterable[Scene]) -> list[str]:
    """What scenes could not show, each once."""
    return list(dict.fromkeys(word for scene in scenes for word in scene.not_drawn or ()))


def in_list(project: Project) -> ProjectInList:
    """A project as a list shows it."""
    values: dict[str, Any] = shared_fields(ProjectInList, project)
    return ProjectInList(**values)


def one_scene(studio: FilmStudio, seen: ProjectSeen, sequence: int) -> SceneView:
    """A scene by itself, as it stands among the others."""
    number = next(n for n, place in enumerate(seen.places, 1) if place.scene.sequence == sequence)
    return _scene(UrlSigner(studio.sign), seen, number)


def _together(seen: ProjectSeen) -> dict[str, Any]:
    """What is told of all scenes."""
    done = [each.per_cent for each in seen.progress.values()]
    return {
        "video_duration": round(sum(shown_seconds(place.scene) for place in seen.places), 6),
        "progress": sum(done) // len(done) if done else 0,
        "failed_sequences": [p.scene.sequence for p in seen.places if p.scene.status is SceneStatus.FAILED],
        "stale_lips": list(stale_lips(seen.places)),
        "not_drawn": undrawn(place.scene for place in seen.places),
    }


def _scene(signer: UrlSigner, seen: ProjectSeen, number: int) -> SceneView:
    place = seen.places[number - 1]
    progress = seen.progress[place.scene.sequence]
    return SceneView.of(
        place.scene,
        signer,
        display_sequence=number,
        progress=progress.per_cent,
        doing=progress.doing,
        starts_at=round(place.start, 6),
        lips=place.lips.status,
        lips_stale_because=place.lips.why,
        outdated=list(place.outdated),
        etag=etag_of(place.scene),
    )
