"""Files of this machine become videos once, however often they are asked for and wherever it was interrupted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from penstock import FrozenClock
from penstock.domains.videos import submissions, video_removal
from penstock.domains.videos.adding import AddingStage, SaidOfFile, Tell, add_file
from penstock.domains.videos.model import SentFile, Submission, Video
from penstock.domains.videos.recognition import known_file
from penstock.domains.videos.submissions import NewVideo
from penstock.domains.videos.video_commands import file_of
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import Conflict, InvalidKey, InvalidValue
from penstock.files.upload import Upload, UploadStatus
from penstock.media.errors import UnusableFile
from tests.domains.videos.story import ANN, added, files, settle

SAID = SaidOfFile(user_id=ANN, tags=frozenset({"launch"}), category="demo")
MEGABYTE = 1 << 20


def working(library: VideoLibrary) -> Tell:
    """Lets workers work whenever somebody waits for them."""

    def tell(stage: AddingStage, done: float, total: float) -> None:
        assert 0 <= done <= total
        if stage in (AddingStage.INSPECTING, AddingStage.ENCODING):
            settle(library)

    return tell


def stopped(stage: AddingStage, at: float = 0) -> Tell:
    """Somebody who loses patience."""

    def tell(now: AddingStage, done: float, total: float) -> None:
        if now is stage and done >= at:
            raise KeyboardInterrupt

    return tell


def videos(library: VideoLibrary, user: str = ANN) -> list[Video]:
    return list(library.store.find(Video.by_user(user_id=user)))


def test_a_file_that_is_sent_again_is_the_same_video(anywhere: VideoLibrary, film: Path) -> None:
    library, tell = anywhere, working(anywhere)
    first = add_file(library, film, SAID, tell=tell)
    assert (first.was_there, first.video.title, first.video.category) == (False, "film", "demo")
    assert first.video.sha256 == sha256(film.read_bytes()).hexdigest()
    where = file_of(library, first.video, None) or ""
    with Path(where).open("rb") if where.startswith("/") else urlopen(where, timeout=30) as played:
        assert played.read(8)[4:] == b"ftyp", "a player needs nothing else"
    again = add_file(library, film, SAID, tell=tell)
    assert (again.was_there, again.video.video_id) == (True, first.video.video_id)
    assert len(videos(library)) == 1
    assert known_file(library.store, "ben", first.video.sha256) is None, "a file of another user is another"
    video_removal.delete_video(library, first.video.video_id, by=ANN)
    settle(library)
    assert files(library) == []
    assert list(library.store.find(SentFile.of_user(user_id=ANN))) == [], "so it may come again"


def test_of_two_who_announce_the_same_file_at_once_one_is_told_so(anywhere: VideoLibrary) -> None:
    wanted = NewVideo(user_id=ANN, title="Twice", size=5, content_type="video/mp4", sha256="AB" * 32)
    first = submissions.submit(anywhere, wanted, by=ANN, alone=True).submission
    with pytest.raises(Conflict):
        submissions.submit(anywhere, wanted, by=ANN, alone=True)
    known = known_file(anywhere.store, ANN, "ab" * 32)
    assert known is not None
    assert known.video_id == first.video_id
    submissions.submit(anywhere, wanted, by=ANN, alone=True, instead_of=known)
    with pytest.raises(Conflict):
        submissions.submit(anywhere, wanted, by=ANN, alone=True, instead_of=known)


def test_a_file_that_came_by_the_api_is_recognised_too(library: VideoLibrary, film: Path) -> None:
    sent = added(library, film, user_id=ANN)
    assert add_file(library, film, SAID, tell=working(library)).video.video_id == sent.video_id


@pytest.mark.parametrize("stage", list(AddingStage))
def test_what_was_interrupted_goes_on_where_it_was(library: VideoLibrary, film: Path, stage: AddingStage) -> None:
    seen: list[AddingStage] = []

    def tell(now: AddingStage, done: float, total: float) -> None:
        if stage is AddingStage.ENCODING:
            working(library)(now, done, total)
        stopped(stage)(now, done, total)

    with pytest.raises(KeyboardInterrupt):
        add_file(library, film, SAID, tell=tell)

    def told(now: AddingStage, done: float, total: float) -> None:
        seen.append(now)
        working(library)(now, done, total)

    made = add_file(library, film, SAID, tell=told).video
    assert [each.video_id for each in videos(library)] == [made.video_id]
    begun = list(library.store.find(Submission.of_user(user_id=ANN)))
    assert [each.video_id for each in begun] == [made.video_id]
    assert (AddingStage.SENDING in seen) == (stage in (AddingStage.READING, AddingStage.SENDING)), (
        "what has arrived is not sent again"
    )


def test_a_large_file_goes_on_with_the_parts_that_are_missing(
    library: VideoLibrary, film: Path, tmp_path: Path
) -> None:
    large = tmp_path / "large.mp4"
    padding = 70 * MEGABYTE
    # A box of nothing, as editors leave them behind.
    large.write_bytes(film.read_bytes() + padding.to_bytes(4, "big") + b"free" + bytes(padding - 8))
    with pytest.raises(KeyboardInterrupt):
        add_file(library, large, SAID, tell=stopped(AddingStage.SENDING, at=40 * MEGABYTE))
    sent: list[float] = []

    def told(stage: AddingStage, done: float, total: float) -> None:
        if stage is AddingStage.SENDING:
            sent.append(done)
        working(library)(stage, done, total)

    made = add_file(library, large, SAID, tell=told).video
    assert sent[0] == 32 * MEGABYTE, "two parts of sixteen were there"
    assert sent[-1] == large.stat().st_size == made.file_size
    assert len(videos(library)) == 1


def test_an_upload_whose_time_is_over_is_begun_anew(library: VideoLibrary, film: Path, clock: FrozenClock) -> None:
    with pytest.raises(KeyboardInterrupt):
        add_file(library, film, SAID, tell=stopped(AddingStage.SENDING))
    clock.advance(timedelta(days=2))
    made = add_file(library, film, SAID, tell=working(library)).video
    assert [each.video_id for each in videos(library)] == [made.video_id]


def test_a_refused_file_says_why_and_is_tried_again_only_if_wanted(library: VideoLibrary, tmp_path: Path) -> None:
    text = tmp_path / "notes.mp4"
    text.write_text("This is no film.\n" * 100)

    def reason(tell: Tell, *, anew: bool) -> str:
        with pytest.raises(UnusableFile) as refused:
            add_file(library, text, SAID, tell=tell, anew=anew)
        return str(refused.value)

    def nothing_but_reading(stage: AddingStage, done: float, total: float) -> None:
        assert stage is AddingStage.READING

    first = reason(working(library), anew=False)
    assert "text" in first
    assert reason(nothing_but_reading, anew=False) == first
    assert len(list(library.store.find(Submission.of_user(user_id=ANN)))) == 1
    assert reason(working(library), anew=True) == first
    assert len(list(library.store.find(Submission.of_user(user_id=ANN)))) == 2


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "cannot be read: No such file"),
        (Path.mkdir, "is a folder"),
        (Path.touch, "empty"),
        (lambda path: path.symlink_to(path.name), "cannot be read"),
    ],
)
def test_what_is_no_readable_file_is_refused_before_anything_is_announced(
    library: VideoLibrary, tmp_path: Path, make: Callable[[Path], None], why: str
) -> None:
    make(tmp_path / "film.mp4")
    with pytest.raises(InvalidValue, match=why):
        add_file(library, tmp_path / "film.mp4", SAID, tell=working(library))
    assert list(library.store.find(Submission.of_user(user_id=ANN))) == []


def test_a_file_that_changes_while_it_is_sent_does_not_become_a_video(
    library: VideoLibrary, film: Path, tmp_path: Path
) -> None:
    growing = tmp_path / "growing.mp4"
    growing.write_bytes(film.read_bytes())

    def tell(stage: AddingStage, done: float, total: float) -> None:
        if stage is AddingStage.READING:
            growing.write_bytes(film.read_bytes()[:1000])

    with pytest.raises(InvalidValue, match="bytes"):
        add_file(library, growing, SAID, tell=tell)
    assert videos(library) == []


@pytest.mark.parametrize("said", [{"user_id": "a\nb"}, {"category": "a\nb"}, {"tags": frozenset({"a\nb"})}])
def test_what_no_video_can_be_found_by_is_refused_before_its_file_is_sent(
    library: VideoLibrary, film: Path, said: dict[str, Any]
) -> None:
    with pytest.raises(InvalidKey, match="remove it"):
        add_file(library, film, replace(SAID, **said), tell=stopped(AddingStage.SENDING))
    assert files(library) == []
    assert list(library.store.find(Upload.by_status(status=UploadStatus.OPEN))) == []
