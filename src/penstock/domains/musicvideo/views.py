"""What the API tells: the documents' field names, and for every key of a file a URL that was signed just now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from penstock.declare.units import Count, Seconds, UtcSeconds
from penstock.domains.musicvideo.model import Mode, Project, ProjectStatus, Scene, SceneStatus
from penstock.domains.musicvideo.studio import Studio
from penstock.domains.musicvideo.uploading import Reserved
from penstock.ports.stored_object import SignedUrl


class Told(BaseModel):
    """Anything that is told, in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Signer:
    """Signs each file once, however many fields point at it, and knows until when all of the URLs lead there.

    What is always made here is shown in place, as what it is known to be. What may come from elsewhere has the type
    that was found in its bytes, which only the store knows; a page in disguise might be among it, so that a browser
    that opens it by itself saves it. Embedded in a page it is shown all the same.
    """

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._signed: dict[str, SignedUrl] = {}

    def url(self, key: str | None, show_as: str | None = None) -> str | None:
        if key is None:
            return None
        if key not in self._signed:
            self._signed[key] = self._studio.sign(key, show_as=show_as)
        return self._signed[key].url

    @property
    def until(self) -> datetime | None:
        return min((s.expires_at for s in self._signed.values()), default=None)


class SceneTold(Told):
    """A scene, in its place."""

    project_id: UUID
    sequence: Count
    display_sequence: Count = Field(description="Its place in the video, from 1.")
    status: SceneStatus
    prompt: str
    negative_prompt: str | None
    duration: Seconds
    shown_duration: Seconds | None
    needs_lip_sync: bool
    lyrics: str | None
    trim_points: dict[str, float] | None
    retry_count: Count
    error_message: str | None
    cost: float | None
    reference_image_urls: list[str]
    audio_clip_url: str | None
    video_clip_url: str | None
    lip_synced_video_clip_url: str | None
    working_video_clip_url: str | None
    thumbnail_url: str | None
    urls_expire_at: UtcSeconds | None
    created_at: UtcSeconds
    updated_at: UtcSeconds

    @classmethod
    def of(cls, studio: Studio, scene: Scene, place: int, signer: Signer | None = None) -> SceneTold:
        sign = signer or Signer(studio)
        told = {name: value for name, value in scene.model_dump().items() if name in cls.model_fields}
        urls: dict[str, Any] = {
            "reference_image_urls": [sign.url(k) for k in scene.reference_image_s3_keys or ()],
            "audio_clip_url": sign.url(scene.audio_clip_s3_key, "audio/mpeg"),
            "video_clip_url": sign.url(scene.video_clip_s3_key),
            "lip_synced_video_clip_url": sign.url(scene.lip_synced_video_clip_s3_key, "video/mp4"),
            "working_video_clip_url": sign.url(scene.working_video_clip_s3_key, "video/mp4"),
            "thumbnail_url": sign.url(scene.thumbnail_s3_key, "image/jpeg"),
        }
        return cls(**told, **urls, display_sequence=place, urls_expire_at=sign.until)


class ProjectInList(Told):
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

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {name: value for name, value in project.model_dump().items() if name in cls.model_fields}


class ProjectTold(ProjectInList):
    """A project with its scenes in order; the URLs open by themselves until `urlsExpireAt`."""

    character_image_url: str | None
    product_image_url: str | None
    audio_backing_track_url: str | None
    audio_duration: Seconds | None
    final_output_url: str | None
    final_thumbnail_url: str | None
    urls_expire_at: UtcSeconds | None
    scenes: list[SceneTold]

    @classmethod
    def of(cls, studio: Studio, project: Project, scenes: Sequence[Scene]) -> ProjectTold:
        sign = Signer(studio)
        urls: dict[str, Any] = {
            "character_image_url": sign.url(project.character_image_s3_key),
            "product_image_url": sign.url(project.product_image_s3_key),
            "audio_backing_track_url": sign.url(project.audio_backing_track_s3_key),
            "final_output_url": sign.url(project.final_output_s3_key, "video/mp4"),
            "final_thumbnail_url": sign.url(project.final_thumbnail_s3_key, "image/jpeg"),
        }
        told = [SceneTold.of(studio, scene, place, sign) for place, scene in enumerate(scenes, 1)]
        return cls(**cls.values(project), **urls, scenes=told, urls_expire_at=sign.until)


class ProjectPage(Told):
    """Some projects; pass `next` back as `cursor` for those behind them, until it is null."""

    items: list[ProjectInList]
    next: str | None


class DirectorTold(Told):
    """A manner of filming, by which a project can be begun."""

    name: str
    summary: str
    palette: list[str]
    camera: list[str]
    light: list[str]
    hours: list[str]
    pacing: str
    negative_prompt: str


class FlavorTold(Told):
    """What is usual for a kind of video."""

    name: str
    summary: str
    mode: Mode
    scenes: Count
    most_scenes: Count
    seconds: Seconds
    lip_sync: bool


class ProjectBegun(Told):
    project_id: UUID
    status: ProjectStatus
    message: str


class WorkBegun(Told):
    """Work that goes on by itself; look at the project until it is over."""

    project_id: UUID
    job_id: str
    status: ProjectStatus
    message: str


class FinalVideo(Told):
    project_id: UUID
    video_url: str
    expires_at: UtcSeconds
    expires_in_seconds: Count


class CharacterTold(Told):
    character_reference_id: UUID
    image_url: str
    expires_at: UtcSeconds


class PartTold(Told):
    number: Count
    start: Count
    stop: Count
    url: str
    method: str
    headers: dict[str, str]


class UploadTold(Told):
    """Where to send a file: to `url`, or, if it is large, each part to its own. Then finalize."""

    upload_id: str
    url: str | None
    method: str | None
    headers: dict[str, str]
    parts: list[PartTold] = Field(description="Those that have not arrived, a hundred at a time.")
    expires_at: UtcSeconds

    @classmethod
    def of(cls, reserved: Reserved) -> UploadTold:
        url = reserved.url
        return cls(
            upload_id=reserved.upload.upload_id,
            url=url.url if url else None,
            method=url.method if url else None,
            headers=dict(url.headers) if url else {},
            parts=[
                PartTold(
                    number=p.number,
                    start=p.start,
                    stop=p.stop,
                    url=p.url.url,
                    method=p.url.method,
                    headers=dict(p.url.headers),
                )
                for p in reserved.parts
            ],
            expires_at=reserved.upload.expires_at,
        )
