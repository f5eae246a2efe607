"""Adding files of this machine: each is hashed, announced, sent, looked at and encoded, and may be asked for again.

Whatever was interrupted goes on where it was: a file is recognised by its SHA-256 and its user, what has arrived of it
is not sent again, and what it has become is waited for.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from penstock.domains.videos import submissions
from penstock.domains.videos.model import SentFile, Submission, SubmissionStatus, Video, VideoStatus
from penstock.domains.videos.recognition import known_file
from penstock.domains.videos.submissions import NewVideo
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.video_views import encoded_share
from penstock.domains.videos.video_words import LONGEST_TITLE
from penstock.errors import InvalidValue, NotFound
from penstock.kernel.record_name import name_of
from penstock.media.content_type import SNIFFED_BYTES, sniff
from penstock.media.errors import UnusableFile
from penstock.work import Task, TaskStatus

BY = "penstock videos"
_LOOK = 0.2
"Seconds between looks at how far it is."
_PIECE = 1 << 20


class AddingStage(StrEnum):
    """What is being done with a file."""

    READING = "reading"
    SENDING = "sending"
    INSPECTING = "inspecting"
    ENCODING = "encoding"


Tell = Callable[[AddingStage, float, float], None]
"Told of a stage how much of it is done, of how much: bytes of what is read or sent, shares of 1 of the others."


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfFile:
    """What is said of a file that is to become a video."""

    user_id: str
    title: str | None = None
    "Else its name without the ending."
    category: str | None = None
    tags: frozenset[str] = frozenset()
    lasts: int | None = None


@dataclass(frozen=True, slots=True)
class AddedVideo:
    """A video that can be watched, whether it could before, and what of it is not as it was said now."""

    video: Video
    was_there: bool
    stays: tuple[str, ...] = ()


def add_file(library: VideoLibrary, path: Path, said: SaidOfFile, *, tell: Tell, anew: bool = True) -> AddedVideo:
    """Make a video of a file, or go on with it, until it is encoded; UnusableFile with the reason where it cannot be.

    A file that was refused before is tried ``anew``, or else refused at once, for the same reason.
    """
    wanted = _announced(path, said, tell)
    begun = library.store.retried(lambda: _begin(library, wanted, anew=anew))
    was_there = isinstance(begun, Video) and begun.status is VideoStatus.READY
    if isinstance(begun, Submission) and begun.status is SubmissionStatus.AWAITED:
        _send(library, begun, path, tell)
        submissions.complete(library, begun.video_id, sha256=wanted.sha256, by=BY)
    video = _encoded(library, begun.video_id, tell)
    return AddedVideo(video, was_there, _unheard(said, video, was_there=was_there))


def _unheard(said: SaidOfFile, video: Video, *, was_there: bool) -> tuple[str, ...]:
    """What was said of a file that is a video already, and is otherwise there."""
    wanted = {"title": said.title, "category": said.category, "tags": said.tags or None}
    stays = [name for name, value in wanted.items() if value is not None and value != getattr(video, name)]
    return (*stays, "end") if was_there and said.lasts is not None else tuple(stays)


def title_of(path: Path) -> str:
    """What a file is called, if nobody says otherwise."""
    return words_of(path.stem)[:LONGEST_TITLE] or "video"


def words_of(name: str) -> str:
    """A name as a record can keep it: what cannot be printed is a space."""
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


def _announced(path: Path, said: SaidOfFile, tell: Tell) -> NewVideo:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidValue("is a folder, not a file; import takes folders" if path.is_dir() else "is no file")
        if status.st_size == 0:
            raise UnusableFile("the file is empty")
        content_type, digest = _read(path, status.st_size, tell)
    except OSError as error:
        raise InvalidValue(f"the file cannot be read: {error.strerror or error}") from None
    return NewVideo(
        user_id=said.user_id,
        title=said.title or title_of(path),
        category=said.category,
        tags=said.tags,
        lasts=said.lasts,
        file_name=path.name,
        size=status.st_size,
        content_type=content_type,
        sha256=digest,
    )


def _read(path: Path, size: int, tell: Tell) -> tuple[str, str]:
    """What a file seems to be, and its SHA-256."""
    digest, done, head = sha256(), 0, b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            head = head or piece[:SNIFFED_BYTES]
            digest.update(piece)
            done += len(piece)
            tell(AddingStage.READING, done, size)
    return sniff(head), digest.hexdigest()


def _begin(library: VideoLibrary, wanted: NewVideo, *, anew: bool) -> Video | Submission:
    """What a file has become, as far as it is; or a new submission. Conflict where another begins just now."""
    known = known_file(library.store, wanted.user_id, wanted.sha256 or "")
    standing = _standing(library, known, anew=anew) if known is not None else None
    if standing is not None:
        return standing
    return submissions.submit(library, wanted, by=BY, alone=True, instead_of=known).submission


def _standing(library: VideoLibrary, known: SentFile, *, anew: bool) -> Video | Submission | None:
    """What a file is known as; None where nothing of it is left, or nothing can become of it any more."""
    # Before the video: what is accepted has one, unless it is gone.
    submission = library.store.lookup(Submission.at(video_id=known.video_id))
    if submission is not None and submission.status is SubmissionStatus.ARRIVED:
        return submission
    if submission is not None and submission.status is SubmissionStatus.AWAITED:
        return submission if submissions.is_open(library, submission) else None
    if submission is not None and submission.status is SubmissionStatus.REFUSED:
        return None if anew else submission
    return library.store.lookup(Video.at(video_id=known.video_id))


def _send(library: VideoLibrary, submission: Submission, path: Path, tell: Tell) -> None:
    size, done = path.stat().st_size, 0

    def sent(some: int) -> None:
        nonlocal done
        done += some
        tell(AddingStage.SENDING, done, size)

    try:
        submissions.send(library, submission, path, sent=sent)
    except OSError as error:
        raise InvalidValue(f"the file cannot be read any more: {error.strerror or error}") from None


def _encoded(library: VideoLibrary, video_id: UUID, tell: Tell) -> Video:
    """The video, once nothing more is to be made of it."""
    while True:
        video = library.store.lookup(Video.at(video_id=video_id))
        if video is None:
            tell(AddingStage.INSPECTING, _inspected(library, video_id), 1.0)
        elif video.status is VideoStatus.FAILED:
            raise UnusableFile(f"video {video_id} could not be encoded, and can be removed: {video.error}")
        else:
            tell(AddingStage.ENCODING, encoded_share(library.store, video), 1.0)
            if video.status is VideoStatus.READY and not _is_worked_on(library, video):
                return library.video(video_id)
        time.sleep(_LOOK)


def _inspected(library: VideoLibrary, video_id: UUID) -> float:
    """How much of a file is looked at; UnusableFile or NotFound where no video comes of it."""
    submission = library.store.get(Submission.at(video_id=video_id))
    if submission.status is SubmissionStatus.REFUSED:
        raise UnusableFile(submission.error or "nobody knows why")
    accepted = submission.status is SubmissionStatus.ACCEPTED
    if accepted and library.store.lookup(Video.at(video_id=video_id)) is None:
        raise NotFound(f"video {video_id} was removed while it was made")
    return submissions.inspected_part(library, submission) or 0.0


def _is_worked_on(library: VideoLibrary, video: Video) -> bool:
    tasks = library.store.find(Task.of_record(about=name_of(video.ref)))
    return any(task.status in (TaskStatus.WAITING, TaskStatus.RUNNING) for task in tasks)
