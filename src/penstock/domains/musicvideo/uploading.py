"""Files that clients send past the service, to a signed URL, and what becomes of them in a project."""

from __future__ import annotations

from enum import StrEnum
from typing import Any
from uuid import UUID

from penstock.domains.musicvideo.counting import count_edited
from penstock.domains.musicvideo.errors import IncompleteOrder
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import (
    BACKING_TRACK,
    CHARACTER_IMAGE,
    OTHER_CLIP,
    PRODUCT_IMAGE,
    Project,
    ProjectStatus,
    Scene,
)
from penstock.domains.musicvideo.projects import check_idle
from penstock.domains.musicvideo.scenes import arrive, begin_revision, incoming_key
from penstock.files.intake import Intake, ReservedUpload
from penstock.files.upload import Upload
from penstock.files.uploads import Arrived
from penstock.media.probed import Probed
from penstock.media.soundness import sound_audio, sound_image, sound_video

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
_OF_PROJECT = {
    Sent.CHARACTER: (CHARACTER_IMAGE, "character_image_s3_key"),
    Sent.PRODUCT: (PRODUCT_IMAGE, "product_image_s3_key"),
    Sent.AUDIO: (BACKING_TRACK, "audio_backing_track_s3_key"),
}
"Where those lie that are not for a scene, and the fields that point at them."


def reserve(
    studio: FilmStudio,
    project_id: UUID,
    kind: Sent,
    *,
    sequence: int | None = None,
    size: int,
    content_type: str,
    sha256: str | None = None,
    by: str | None = None,
) -> ReservedUpload:
    """Announce a file. Whoever asks sends it to the URL, and then says that it is there."""
    if size > _LARGEST[kind] * _MEGABYTE:
        raise IncompleteOrder(f"{size} bytes are too many for a {kind.value}; at most {_LARGEST[kind]} MB are taken")
    if (kind is Sent.SCENE) is not (sequence is not None):
        raise IncompleteOrder("name the scene by its sequence if the file is for one, and only then")
    record: Scene | Project
    if sequence is not None:
        record = studio.store.get(Scene.at(project_id=project_id, sequence=sequence))
        target = incoming_key(studio, record)
    else:
        record = studio.store.get(Project.at(project_id=project_id))
        target = _OF_PROJECT[kind][0].key_of(record)
    return _intake(studio).reserve(
        record, target, size=size, content_type=content_type, sha256=sha256, by=by, once=studio.once
    )


def where(studio: FilmStudio, project_id: UUID, upload_id: str) -> ReservedUpload:
    """Where to send the file, or what is missing of it."""
    intake = _intake(studio)
    return intake.where(intake.upload_of(upload_id, project=project_id))


def finalize(studio: FilmStudio, project_id: UUID, upload_id: str, *, sha256: str | None = None, by: str) -> Project:
    """The file is there: look at it, and make it part of the project. UnusableFile says why not."""
    intake, ref = _intake(studio), Project.at(project_id=project_id)
    upload = intake.upload_of(upload_id, project=project_id)
    kind = _kind(upload, project_id)

    def check() -> None:
        if kind is not Sent.SCENE:
            check_idle(studio.store.get(ref))

    with intake.finalize(upload, inspect=_LOOKED_AT[kind], before=check, sha256=sha256, by=by, once=studio.once) as (
        arrived,
        seen,
    ):
        if kind is Sent.SCENE:
            scene = arrived.change.get(Scene.at(project_id=project_id, sequence=_sequence(upload)))
            begin_revision(arrived.change, scene, lambda change, scene: arrive(change, scene, arrived.key))
        else:
            _point(arrived, project_id, kind, seen)
    return studio.store.get(ref)


def _intake(studio: FilmStudio) -> Intake:
    return Intake(studio.store, studio.objects)


def _point(arrived: Arrived, project_id: UUID, kind: Sent, seen: Probed) -> None:
    """Let a project point at its new file. One that is finished goes on, since the file is not part of the video."""
    change = arrived.change
    project = change.get(Project.at(project_id=project_id))
    check_idle(project)
    fields: dict[str, Any] = {_OF_PROJECT[kind][1]: arrived.key}
    if kind is Sent.AUDIO:
        fields |= {"audio_duration": seen.duration, "audio_sha256": arrived.sha256}
    if project.status is ProjectStatus.PENDING or not project.scene_count:
        for name, value in fields.items():
            setattr(project, name, value)
        change.save(project)
    else:
        count_edited(change, project, None, None, **fields)


def _kind(upload: Upload, project_id: UUID) -> Sent:
    """What a file is to be, by where it is to lie."""
    here = {pattern.key(project_id=project_id): kind for kind, (pattern, _) in _OF_PROJECT.items()}
    return here.get(upload.target, Sent.SCENE)


def _sequence(upload: Upload) -> int:
    """Of the scene that a film is for."""
    told = OTHER_CLIP.read(upload.target, Scene.__shape__.fields)
    assert told is not None, "the place was made by the same pattern"
    return int(told["sequence"])
