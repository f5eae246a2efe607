"""Files that clients send past the service, to a signed URL, and what becomes of them in a project."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel

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
from penstock.domains.musicvideo.scenes import arrive, begin_revision, check_startable, incoming_key
from penstock.domains.musicvideo.tasks import TASKS
from penstock.errors import Conflict
from penstock.files.intake import Intake, ReservedUpload
from penstock.files.upload import Upload, UploadStatus
from penstock.files.uploads import REMEMBERED, Arrived, UploadRefused
from penstock.kernel.change import Change
from penstock.kernel.idempotency import ClaimLost
from penstock.media.errors import UnusableFile
from penstock.media.probed import MediaKind, Probed
from penstock.media.soundness import advice, sound_audio, sound_image, sound_video
from penstock.work import TaskContext
from penstock.work.errors import told_failure
from penstock.work.inspection import INSPECTION_LIMIT, REFUSALS, FileLook, check_waiting, inspected, inspected_share

_MEGABYTE = 1_000_000


class Sent(StrEnum):
    """What a file is to be."""

    CHARACTER = "character"
    PRODUCT = "product"
    AUDIO = "audio"
    SCENE = "scene"


class SentUpload(BaseModel):
    """A file that has arrived, and who has sent it."""

    project_id: UUID
    upload_id: str
    by: str


_LARGEST = {Sent.CHARACTER: 10, Sent.PRODUCT: 10, Sent.AUDIO: 200, Sent.SCENE: 500}
"In millions of bytes."
_KINDS = {
    Sent.CHARACTER: MediaKind.IMAGE,
    Sent.PRODUCT: MediaKind.IMAGE,
    Sent.AUDIO: MediaKind.AUDIO,
    Sent.SCENE: MediaKind.VIDEO,
}
_LOOKS: dict[MediaKind, FileLook[Probed]] = {
    MediaKind.IMAGE: sound_image,
    MediaKind.AUDIO: sound_audio,
    MediaKind.VIDEO: sound_video,
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
    """Where to send the file, or what is missing of it; nowhere once all of it is there."""
    intake = _intake(studio)
    upload = intake.upload_of(upload_id, project=project_id)
    return intake.where(upload) if upload.status is UploadStatus.OPEN else ReservedUpload(upload, None, [])


def advice_on(upload: Upload) -> str | None:
    """What whoever announces a file should know of its type; None where that promises well."""
    assert upload.project_id is not None, "each is of a project"
    return advice(_KINDS[_kind(upload, UUID(upload.project_id))], upload.content_type)


def inspected_part(studio: FilmStudio, upload: Upload) -> float | None:
    """How much of a file that has arrived is looked at, of 1; None where nobody looks at it."""
    if upload.status is not UploadStatus.ARRIVED:
        return None
    return inspected_share(studio.store, upload.ref, inspect_upload.name)


def finalize(studio: FilmStudio, project_id: UUID, upload_id: str, *, sha256: str | None = None, by: str) -> Upload:
    """The file is there: have it looked at, and made part of the project. Said again, it is the same."""
    intake = _intake(studio)
    upload = intake.upload_of(upload_id, project=project_id)
    if upload.status in (UploadStatus.ARRIVED, UploadStatus.DONE):
        return upload
    try:
        with studio.store.change(by=by, once=studio.once) as change:
            _check_ready(studio, upload, project_id)
            intake.arrive(change, upload, sha256=sha256)
            sent = SentUpload(project_id=project_id, upload_id=upload_id, by=by)
            inspect_upload.enqueue(change, sent, project=str(project_id), about=upload.ref)
            change.result = {"upload_id": upload_id}
    except ClaimLost:
        raise
    except Conflict:
        told = intake.upload_of(upload_id, project=project_id)
        if told.status is UploadStatus.OPEN:
            raise
        return told  # another has said it just now
    return upload


def _check_ready(studio: FilmStudio, upload: Upload, project_id: UUID) -> None:
    """NotNow where the file could not become a part of the project, before it is looked at for long."""
    if _kind(upload, project_id) is Sent.SCENE:
        check_startable(studio.store.get(Scene.at(project_id=project_id, sequence=_sequence(upload))))
    else:
        check_idle(studio.store.get(Project.at(project_id=project_id)))


@TASKS.task("inspect_upload", limit=INSPECTION_LIMIT, classes=REFUSALS)
def inspect_upload(work: TaskContext, input: SentUpload) -> dict[str, Any] | None:
    """Verify a file that was sent, look what it truly is, and make it part of its project."""
    studio, upload = FilmStudio.within(work.domain), work.store.lookup(Upload.at(upload_id=input.upload_id))
    if upload is None or upload.status is not UploadStatus.ARRIVED:
        return None
    kind = _kind(upload, input.project_id)

    def check() -> None:
        _check_ready(studio, upload, input.project_id)

    with (
        suppress(UnusableFile, UploadRefused),  # which the upload tells, and nobody else needs to hear
        inspected(work, upload, _LOOKS[_KINDS[kind]], by=input.by, before=check) as (arrived, seen),
    ):
        if kind is Sent.SCENE:
            scene = arrived.change.get(Scene.at(project_id=input.project_id, sequence=_sequence(upload)))
            begin_revision(arrived.change, scene, lambda change, scene: arrive(change, scene, arrived.key))
        else:
            _point(arrived, input.project_id, kind, seen)
    return None


@inspect_upload.failed
def refuse(change: Change, input: SentUpload, error: BaseException) -> None:
    """Nobody could look at the file, or make it part of the project; the upload says why."""
    upload = change.store.lookup(Upload.at(upload_id=input.upload_id))
    if upload is not None and upload.status is UploadStatus.ARRIVED:
        forget_at = change.store.clock.now() + REMEMBERED
        change.save(change.track(upload).refuse(error=told_failure(error), forget_at=forget_at))


@inspect_upload.revived
def look_again(change: Change, input: SentUpload) -> None:
    """Somebody has the file looked at again; NotFound once it is gone, as a task alone can look at nothing."""
    check_waiting(change.store.lookup(Upload.at(upload_id=input.upload_id)))


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
