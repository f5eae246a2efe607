"""What people change of a video: what is said of it, under a version, and when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from penstock.domains.videos.errors import StaleVersion
from penstock.domains.videos.model import Video
from penstock.domains.videos.tagging import retag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.video_words import EDITABLE, checked_words
from penstock.errors import InvalidValue
from penstock.kernel.unchanged import unchanged


def edit_video(library: VideoLibrary, video_id: UUID, changes: Mapping[str, Any], *, version: int, by: str) -> Video:
    """Change what is said of a video, if its version is still the one that was read; StaleVersion says which it is."""
    if unknown := sorted(changes.keys() - EDITABLE):
        raise InvalidValue(f"{', '.join(unknown)} of a video cannot be edited; {', '.join(sorted(EDITABLE))} can")
    if not changes:
        raise InvalidValue(f"there is nothing to change; say {', '.join(sorted(EDITABLE))}, or some of them")
    said = checked_words(changes)

    def edit() -> Video:
        with library.store.change(by=by) as change:
            video = change.get(Video.at(video_id=video_id))
            if (video.version or 0) != version:
                raise StaleVersion(video_id, version, video.version or 0)
            before = video.model_copy()
            for name, value in said.items():
                setattr(video, name, value)
            video.version = version + 1
            change.save(video, when=unchanged(before, ["tags", "expiry_time"]))
            retag(change, before, video)
        return video

    # It may just be moved or counted; the version alone decides.
    return library.store.retried(edit)


def set_end(library: VideoLibrary, video_id: UUID, expiry_time: int | None, *, by: str) -> Video:
    """Say when a video ends, or with None that it stays; nothing else of it changes."""
    if expiry_time is not None and expiry_time <= library.store.clock.now().timestamp():
        raise InvalidValue(f"expiry_time {expiry_time} is past; say a later second since 1970, or delete the video")

    def move_end() -> Video:
        with library.store.change(by=by) as change:
            video = change.get(Video.at(video_id=video_id))
            before = video.model_copy()
            video.expiry_time = expiry_time
            change.save(video, when=unchanged(before, ["tags"]))
            retag(change, before, video)
        return video

    return library.store.retried(move_end)
