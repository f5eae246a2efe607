"""Submissions: a video is announced, its file sent to signed URLs, looked at, and only then is there a video."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path, PurePath
from typing import Any
from uuid import UUID, uuid4

from pydantic import BaseModel

from penstock.domains.videos.errors import SubmissionRefused
from penstock.domains.videos.model import FILES, FOLDER, SentFile, Submission, SubmissionStatus, Video
from penstock.domains.videos.recognition import claim_file, take_file
from penstock.domains.videos.tagging import tag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.video_words import checked_words
from penstock.errors import Conflict, InvalidValue
from penstock.files.intake import Intake, ReservedUpload
from penstock.files.upload import Upload
from penstock.files.uploads import Arrived, FileTooLarge, UploadRefused
from penstock.kernel.change import Change
from penstock.media.probed import Probed
from penstock.media.soundness import sound_video
from penstock.work import TaskContext, Tasks
from penstock.work.errors import told_failure
from penstock.work.inspection import INSPECTION_LIMIT, REFUSALS, check_waiting, inspected, inspected_share

TASKS = Tasks("videos")
REMEMBERED = timedelta(days=30)
"So long one can ask what became of a file."
LONGEST_NAME = 200


class OnVideo(BaseModel):
    """Which video a task is about."""

    video_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVideo:
    """What is said of a video before its file is there."""

    user_id: str
    title: str
    category: str | None = None
    tags: frozenset[str] | None = None
    lasts: int | None = None
    "Seconds from its insertion to its end; None: it stays."
    file_name: str = "video"
    size: int
    content_type: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Reserved:
    """What was announced, and where to send it; nowhere once all of it is there."""

    submission: Submission
    where: ReservedUpload | None


def submit(
    library: VideoLibrary, wanted: NewVideo, *, by: str, alone: bool = False, instead_of: SentFile | None = None
) -> Reserved:
    """Announce a video. Whoever does sends its file, and then says that it is there.

    ``alone``: Conflict where the same file of the same user is known, unless it is known as ``instead_of`` says.
    """
    if wanted.size < 1:
        raise InvalidValue("an empty file is no video; send one that has been written to its end")
    if wanted.size > library.options.largest:
        raise FileTooLarge(f"{wanted.size} bytes are too many for a video; at most {library.options.largest} are taken")
    # What no video can be found by is refused before its file is sent, and not when it is inserted.
    Video.by_user(user_id=wanted.user_id)
    said = checked_words({"title": wanted.title, "category": wanted.category, "tags": wanted.tags})
    now = library.store.clock.now()
    submission = Submission(
        video_id=uuid4(),
        user_id=wanted.user_id,
        created_at=int(now.timestamp()),
        **said,
        lasts=wanted.lasts,
        file_name=_plain(wanted.file_name),
        upload_id="",
        sha256=wanted.sha256.lower() if wanted.sha256 else None,
        ttl=int((now + REMEMBERED).timestamp()),
    )
    target = FILES.key_of(submission, f"source/{submission.file_name}")
    announced: dict[str, Any] = {"size": wanted.size, "content_type": wanted.content_type, "sha256": wanted.sha256}
    # Before the submission: an upload that nobody has heard of is given up after its time.
    where = _intake(library).reserve(submission, target, **announced, by=by)
    submission.upload_id = where.upload.upload_id
    with library.store.change(by=by, once=library.once) as change:
        change.create(submission)
        if alone:
            claim_file(change, submission, instead_of)
        change.result = {"video_id": str(submission.video_id)}
    return Reserved(submission, where)


def submission_of(library: VideoLibrary, video_id: UUID) -> Reserved:
    """What was announced, and where to send what is missing of its file."""
    submission = library.store.get(Submission.at(video_id=video_id))
    if submission.status is not SubmissionStatus.AWAITED:
        return Reserved(submission, None)
    return Reserved(submission, _intake(library).where(_upload(library, submission)))


def send(library: VideoLibrary, submission: Submission, path: Path, *, sent: Callable[[int], None]) -> None:
    """Send what is missing of a file of this machine; ``sent`` is told how many bytes are on their way."""
    _intake(library).send(_upload(library, submission), path, sent=sent)


def complete(library: VideoLibrary, video_id: UUID, *, sha256: str | None = None, by: str) -> Submission:
    """Say that the file is there, and have it looked at; said again, it is the same. UploadRefused if it is not.

    SubmissionRefused, with the reason, where it was looked at already and is no video.
    """
    submission = library.store.get(Submission.at(video_id=video_id))
    if submission.status is SubmissionStatus.REFUSED:
        raise SubmissionRefused(f"video {video_id} was refused: {submission.error or 'nobody knows why'}")
    if submission.status is not SubmissionStatus.AWAITED:
        return submission
    upload = _upload(library, submission)
    try:
        with library.store.change(by=by, once=library.once) as change:
            _intake(library).arrive(change, upload, sha256=sha256)
            change.save(change.track(submission).arrive(sha256=sha256))
            inspect_file.enqueue(change, OnVideo(video_id=video_id), about=submission.ref)
            change.result = {"video_id": str(video_id)}
    except Conflict:
        told = library.store.get(Submission.at(video_id=video_id))
        if told.status is SubmissionStatus.AWAITED:
            raise
        return told  # another has said it just now
    return submission


@TASKS.task("inspect_file", limit=INSPECTION_LIMIT, classes=REFUSALS)
def inspect_file(work: TaskContext, input: OnVideo) -> dict[str, Any] | None:
    """Verify a file that was sent, look what it truly is, and make a video of it."""
    library = VideoLibrary.within(work.domain)
    submission = work.store.lookup(Submission.at(video_id=input.video_id))
    if submission is None or submission.status is not SubmissionStatus.ARRIVED:
        return None
    upload = _upload(library, submission)
    try:
        with inspected(work, upload, sound_video, by=inspect_file.name) as (arrived, probed):
            _insert(arrived, submission, probed)
    except UploadRefused as error:
        raise UploadRefused(f"{error}; announce the file again, and tell what is true of it") from None
    return None


@inspect_file.failed
def refuse(change: Change, input: OnVideo, error: BaseException) -> None:
    """The file is no video that can be shown; the submission says why."""
    submission = change.store.lookup(Submission.at(video_id=input.video_id))
    if submission is not None and submission.status is SubmissionStatus.ARRIVED:
        change.save(change.track(submission).refuse(error=told_failure(error)))


@inspect_file.revived
def look_again(change: Change, input: OnVideo) -> None:
    """Somebody has the file looked at again, as after workers that died over it; NotFound once it is gone."""
    submission = change.store.get(Submission.at(video_id=input.video_id))
    check_waiting(change.store.lookup(Upload.at(upload_id=submission.upload_id)))
    if submission.status is SubmissionStatus.REFUSED:
        change.save(change.track(submission).look_again())


def inspected_part(library: VideoLibrary, submission: Submission) -> float | None:
    """How much of a file that has arrived is looked at, of 1; None where nobody looks at it."""
    if submission.status is not SubmissionStatus.ARRIVED:
        return None
    return inspected_share(library.store, submission.ref, inspect_file.name)


def _insert(arrived: Arrived, submission: Submission, probed: Probed) -> None:
    """The video, found by its tags, in the commit that ends its upload."""
    change, picture = arrived.change, probed.picture
    assert picture is not None, "a sound video has a picture"
    now = int(change.store.clock.now().timestamp())
    video = Video(
        video_id=submission.video_id,
        user_id=submission.user_id,
        created_at=now,
        title=submission.title,
        category=submission.category,
        tags=submission.tags,
        duration=round(probed.duration * 1000),
        file_size=arrived.size,
        format=probed.container,
        resolution=f"{picture.width}x{picture.height}",
        version=1,
        expiry_time=None if submission.lasts is None else now + submission.lasts,
        folder=FOLDER.key_of(submission),
        source_s3_key=arrived.key,
        sha256=arrived.sha256,
        found=asdict(probed),
    )
    change.create(video)
    tag(change, video)
    take_file(change, video)
    change.save(change.track(submission).accept())
    change.emit("video.inserted", video, duration=video.duration)


def is_open(library: VideoLibrary, submission: Submission) -> bool:
    """Can its file still be sent?"""
    upload = library.store.lookup(Upload.at(upload_id=submission.upload_id))
    return upload is not None and _intake(library).is_open(upload)


def _intake(library: VideoLibrary) -> Intake:
    return Intake(library.store, library.objects)


def _upload(library: VideoLibrary, submission: Submission) -> Upload:
    return library.store.get(Upload.at(upload_id=submission.upload_id))


def _plain(name: str) -> str:
    """The last part of a file's name as a key can have it."""
    last = PurePath(name.replace("\\", "/")).name
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last).strip(".")
    return kept.replace("..", "_")[-LONGEST_NAME:] or "video"
