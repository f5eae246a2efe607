"""What can go wrong with a video.

PenstockError
├── InvalidValue
│   ├── IncompleteQuestion   nothing is found by what was asked
│   └── EmptySpan            no moment lies between those that were asked for
├── NotFound
│   └── NotWatchable         there is nothing of it to be seen yet, or any more
├── StaleVersion             another has edited the video meanwhile
└── SubmissionRefused        the file became no video, and will not
"""

from __future__ import annotations

from penstock.errors import InvalidValue, NotFound, PenstockError


class IncompleteQuestion(InvalidValue):
    """Videos are found by user, by category, by both, or by tags."""

    slug, http_status = "incomplete-question", 400
    hint = "Ask by user_id, by category, by both, or by one or several tags."


class EmptySpan(InvalidValue):
    """No moment lies between the two that were asked for."""

    slug, http_status = "empty-span", 400
    hint = "Say the earlier moment as since and the later one as until, both in seconds since 1970."


class StaleVersion(PenstockError):
    """The video has been edited since the version that the edit is for."""

    slug, http_status = "stale-version", 409
    hint = "Read the video again, and send the edit with its version as it is now."

    def __init__(self, video_id: object, told: int, current: int | None) -> None:
        self.current = current
        super().__init__(f"video {video_id} has the version {current} by now; the edit is of version {told}")


class NotWatchable(NotFound):
    """There is nothing of the video to be seen yet, or the link to it is over."""

    slug = "not-watchable"
    hint = "Ask for the video: it says how far it is, and has a new link once it can be watched."


class SubmissionRefused(PenstockError):
    """The file of this submission was refused, and cannot be sent again under it."""

    slug, http_status = "submission-refused", 409
    hint = "Announce the file again, with what the detail says put right; nothing of the refused one is kept."
