"""What is made of a video once it is there: pictures to choose and scrub by, and a stream of several rungs.

All files go into the video's own folder, which its record holds, before anything names them. An attempt that is tried
again writes the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from penstock.declare.attr import the
from penstock.domains.videos.model import FILES, POSTER, SCRUB_SHEET, SCRUB_TRACK, Video, VideoStatus
from penstock.domains.videos.submissions import TASKS, OnVideo
from penstock.domains.videos.video_removal import remove_files
from penstock.kernel.change import Change
from penstock.media.adaptive import encode_adaptive
from penstock.media.errors import UnusableFile
from penstock.media.hls_playlist import INDEX, MASTER
from penstock.media.ladder import rungs
from penstock.media.probed import Probed
from penstock.media.scrubbing import poster, scrub_sheet
from penstock.work import Outcome, TaskContext
from penstock.work.errors import told_failure
from penstock.work.workspace import Workspace, workspace_of

HALF_A_DAY = timedelta(hours=12)


@TASKS.task("make_thumbnails", limit=timedelta(hours=1), classes={UnusableFile: Outcome.TERMINAL})
def make_thumbnails(work: TaskContext, input: OnVideo) -> dict[str, Any] | None:
    """A poster, and a sheet of small pictures to scrub by."""
    video = _source_of(work, input)
    if video is None:
        return None
    with _workspace(work, video) as workspace:
        source, folder = workspace.fetch(video.source_s3_key or ""), workspace.folder
        with workspace.creating():
            poster(source, _found(video), folder / POSTER)
            workspace.progress(0.3, "the poster is made")
            scrub_sheet(source, _found(video), folder / SCRUB_SHEET, folder / SCRUB_TRACK)
        keys = {name: FILES.key_of(video, name) for name in (POSTER, SCRUB_SHEET, SCRUB_TRACK)}
        for name, key in keys.items():
            workspace.store(folder / name, key)
        with work.finish() as change:
            # Without reading it: another task moves the video meanwhile.
            change.patch(
                video.ref,
                the(Video.thumbnail_s3_key).set(keys[POSTER]),
                the(Video.scrub_s3_key).set(keys[SCRUB_SHEET]),
                the(Video.scrub_track_s3_key).set(keys[SCRUB_TRACK]),
            )
    return None


@TASKS.task("transcode", limit=HALF_A_DAY, classes={UnusableFile: Outcome.TERMINAL})
def transcode(work: TaskContext, input: OnVideo) -> dict[str, Any] | None:
    """A stream that adapts, and a file for each of its rungs; it can be watched while it is made."""
    video = _source_of(work, input)
    if video is None or video.status is VideoStatus.READY:
        return None
    if video.status is not VideoStatus.PROCESSING:
        with work.change() as change:
            change.save(change.track(video).process())
    with _workspace(work, video) as workspace:
        source, into = workspace.fetch(video.source_s3_key or ""), workspace.folder / "made"
        into.mkdir()
        publish = _Publishing(work, workspace, video, into)
        with workspace.creating():
            probed = _found(video)
            made = encode_adaptive(
                source,
                probed,
                rungs(probed),
                into,
                progress=lambda share: workspace.progress(share, f"{share:.0%} of it is encoded"),
                grown=publish,
            )
        resolutions = {each.rung.name: publish.key(each.mp4) for each in made.rungs}
        workspace.note({"rungs": len(resolutions), "frames": made.frames, "ffmpeg_seconds": made.ffmpeg_seconds})
        with work.finish() as change:
            change.save(change.track(work.store.get(video.ref)).finish(resolutions=resolutions))
            change.emit("video.ready", video, rungs=sorted(resolutions))
    return None


@transcode.failed
def fail(change: Change, input: OnVideo, error: BaseException) -> None:
    """The video says why it cannot be encoded."""
    video = change.store.lookup(Video.at(video_id=input.video_id))
    if video is not None and video.status in (VideoStatus.UPLOADED, VideoStatus.PROCESSING):
        change.save(change.track(video).fail(error=told_failure(error)))


class _Publishing:
    """Puts the files of a stream where they are watched, as they are made."""

    def __init__(self, work: TaskContext, workspace: Workspace, video: Video, made: Path) -> None:
        self._work, self._workspace, self._video, self._made = work, workspace, video, made

    def __call__(self, path: Path) -> None:
        """Put a file in its place; with the master playlist the video can be watched."""
        if path.name == INDEX:
            self._work.store.get(self._video.ref)  # NotFound once its end has come: nobody will watch it
        self._workspace.store(path, self.key(path))
        if path.name == MASTER and self._video.stream_s3_key is None:
            self._video.stream_s3_key = self.key(path)
            with self._work.change() as change:
                change.patch(self._video.ref, the(Video.stream_s3_key).set(self.key(path)))

    def key(self, path: Path) -> str:
        """Where a file belongs: in the video's folder it lies as in the workspace."""
        return FILES.key_of(self._video, path.relative_to(self._made).as_posix())


@contextmanager
def _workspace(work: TaskContext, video: Video) -> Iterator[Workspace]:
    """A workspace; what an attempt has put beside a video that was removed meanwhile goes as well."""
    try:
        with workspace_of(work) as workspace:
            yield workspace
    except Exception:  # whatever it fails for then: cancelled, without its lease, or because nothing is found
        if work.store.lookup(video.ref) is None:
            remove_files(work.objects, video.video_id)
        raise


def _source_of(work: TaskContext, input: OnVideo) -> Video | None:
    """The video, if it is still wanted and its file is ours."""
    video = work.store.lookup(Video.at(video_id=input.video_id))
    return video if video is not None and video.source_s3_key is not None else None


def _found(video: Video) -> Probed:
    assert video.found is not None, "whoever has a source was looked at"
    return Probed.of(video.found)
