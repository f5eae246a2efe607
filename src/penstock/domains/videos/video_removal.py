"""Removal: a video goes with its tags and everything that was made of it, whoever removed it."""

from __future__ import annotations

from itertools import islice
from uuid import UUID

from penstock.domains.videos.model import FOLDER, Video
from penstock.domains.videos.recognition import release_file
from penstock.domains.videos.submissions import TASKS
from penstock.domains.videos.tagging import untag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import Conflict
from penstock.files.object_reads import every
from penstock.kernel.record_name import name_of
from penstock.kernel.store import Store
from penstock.kernel.unchanged import unchanged
from penstock.ports.object_store import Objects
from penstock.work import Task, TaskStatus
from penstock.work.dead_letters import cancel

_AT_ONCE = 1000


def delete_video(library: VideoLibrary, video_id: UUID, *, by: str) -> None:
    """Remove a video. It is found no more; its files go as soon as its removal is seen."""

    def delete() -> None:
        video = library.video(video_id)
        with library.store.change(by=by) as change:
            # Views that are counted meanwhile change nothing of this.
            change.delete(video.ref, when=unchanged(video, ["tags", "created_at"]))
            untag(change, video)
            release_file(change, video)
            change.emit("video.deleted", video)

    library.store.retried(delete)
    cancel_work(library.store, video_id)


def cancel_work(store: Store, video_id: UUID) -> None:
    """Let nothing more be made of a video."""
    for task in store.find(Task.of_record(about=name_of(Video.at(video_id=video_id)))):
        if task.status in (TaskStatus.WAITING, TaskStatus.RUNNING):
            try:
                cancel(store, [TASKS], task.task_id, by="videos", why="the video was removed")
            except Conflict:
                continue  # it has just ended


def remove_files(objects: Objects, video_id: UUID) -> int:
    """Remove every file of a video; how many."""
    files, count = every(objects, FOLDER.key(video_id=video_id)), 0
    while some := [found.key for found in islice(files, _AT_ONCE)]:
        objects.delete(some)
        count += len(some)
    return count
