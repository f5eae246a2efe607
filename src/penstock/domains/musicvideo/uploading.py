"""Files that clients send past the service, to a signed URL: reserved, sent, looked at, and only then pointed at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from penstock.domains.musicvideo import object_keys as places
from penstock.domains.musicvideo.counting import count_edited
from penstock.domains.musicvideo.errors import BadRequest
from penstock.domains.musicvideo.model import Project, ProjectStatus, Scene
from penstock.domains.musicvideo.projects import check_idle
from penstock.domains.musicvideo.scenes import arrive, begin_take
from penstock.domains.musicvideo.studio import Studio
from penstock.domains.musicvideo.workspace import fetch
from penstock.errors import NotFound
from penstock.files.upload import Upload
from penstock.files.uploads import PartUrl, Uploads
from penstock.kernel.change import Change
from penstock.media.probed import Probed
from penstock.media.soundness import sound_audio, sound_image, sound_video
from penstock.ports.stored_object import SignedUrl

_MEGABYTE = 1_000_000


class Sent(StrEnum):
    """What a file is to be."""

    CHARACTER = "character"
    PRODUCT = "product"
    AUDIO = "audio"
    SCENE = "scene"


_LARGEST = {Sent.CHARACTER: 10, Sent.PRODUCT: 10, Sent.AUDIO: 200, Sent.SCENE: 500}
"In millions of bytes."
_LOOKED_AT = {
    Sent.CHARACTER: sound_image,
    Sent.PRODUCT: sound_image,
    Sent.AUDIO: sound_audio,
    Sent.SCENE: sound_video,
}
_FIELDS = {
    Sent.CHARACTER: "character_image_s3_key",
    Sent.PRODUCT: "product_image_s3_key",
    Sent.AUDIO: "audio_backing_track_s3_key",
}


@dataclass(frozen=True, slots=True)
class Reserved:
    """A place for a file, and where to send it: at once, or in parts."""

    upload: Upload
    url: SignedUrl | None
    parts: list[PartUrl]


def reserve(
    studio: Studio,
    project_id: UUID,
    kind: Sent,
    *,
    sequence: int | None = None,
    size: int,
    content_type: str,
    sha256: str | None = None,
) -> Reserved:
    """Announce a file. Whoever asks sends it to the URL, and then says that it is there."""
    if size > _LARGEST[kind] * _MEGABYTE:
        raise BadRequest(f"{size} bytes are too many for a {kind.value}; at most {_LARGEST[kind]} MB are taken")
    if (kind is Sent.SCENE) is not (sequence is not None):
        raise BadRequest("name the scene by its sequence if the file is for one, and only then")
    if sequence is not None:
        scene = studio.store.get(Scene.at(project_id=project_id, sequence=sequence))
        target = places.incoming(scene, f"{studio.store.ticks.next():%Y%m%dT%H%M%S%f}")
        record: Scene | Project = scene
    else:
        record = studio.store.get(Project.at(project_id=project_id))
        target = _place(kind, project_id)
    uploads = Uploads(studio.store, studio.objects)
    upload = uploads.reserve(record, target, size=size, content_type=content_type, sha256=sha256, once=studio.once)
    return where(studio, upload)


def where(studio: Studio, upload: Upload) -> Reserved:
    """Where to send the file, or what is missing of it."""
    uploads = Uploads(studio.store, studio.objects)
    if upload.parts_id is None:
        return Reserved(upload, uploads.url(upload), [])
    return Reserved(upload, None, uploads.part_urls(upload))


def upload_of(studio: Studio, project_id: UUID, upload_id: str) -> Upload:
    """An upload of a project."""
    upload = studio.store.lookup(Upload.at(upload_id=upload_id))
    if upload is None or upload.project_id != str(project_id):
        raise NotFound(f"no upload {upload_id} of project {project_id}")
    return upload


def finalize(studio: Studio, project_id: UUID, upload_id: str, *, sha256: str | None = None, by: str) -> Project:
    """The file is there: look at it, and make it part of the project. UnusableFile says why not."""
    upload = upload_of(studio, project_id, upload_id)
    kind = _kind(upload, project_id)
    seen: list[Probed] = []

    def inspect(key: str) -> None:
        if kind is not Sent.SCENE:
            check_idle(studio.store.get(Project.at(project_id=project_id)))  # before a large file is looked at
        with TemporaryDirectory(prefix="penstock-mv-") as folder:
            seen.append(_LOOKED_AT[kind](fetch(studio.objects, key, Path(folder))))

    uploads = Uploads(studio.store, studio.objects)
    with uploads.finalize(upload_id, sha256=sha256, replace=True, inspect=inspect, by=by, once=studio.once) as arrived:
        if kind is Sent.SCENE:
            sequence = int(upload.target.split("/")[-2])
            scene = arrived.change.get(Scene.at(project_id=project_id, sequence=sequence))
            begin_take(arrived.change, scene, lambda change, scene: arrive(change, scene, arrived.key))
        else:
            _point(arrived.change, project_id, kind, arrived.key, seen[-1])
    return studio.store.get(Project.at(project_id=project_id))


def _point(change: Change, project_id: UUID, kind: Sent, key: str, seen: Probed) -> None:
    """Let a project point at its new file. One that is finished goes on, since the file is not part of the video."""
    project = change.get(Project.at(project_id=project_id))
    check_idle(project)
    fields: dict[str, Any] = {_FIELDS[kind]: key, **({"audio_duration": seen.duration} if kind is Sent.AUDIO else {})}
    if project.status is ProjectStatus.PENDING or not project.scene_count:
        for name, value in fields.items():
            setattr(project, name, value)
        change.save(project)
    else:
        count_edited(change, project, None, None, **fields)


def _place(kind: Sent, project_id: UUID) -> str:
    if kind is Sent.AUDIO:
        return places.audio(project_id)
    return places.character(project_id) if kind is Sent.CHARACTER else places.product(project_id)


def _kind(upload: Upload, project_id: UUID) -> Sent:
    """What a file is to be, by where it is to lie."""
    return next((k for k in _FIELDS if _place(k, project_id) == upload.target), Sent.SCENE)
