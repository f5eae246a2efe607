"""Recognition: a file that a user sends again is known by its SHA-256, and does not become a second video.

Of each file of a user one record says which video it is, or which submission it comes with. Whoever wants a file to
become one video only claims that record in the commit that announces it.
"""

from __future__ import annotations

from penstock.domains.videos.model import SentFile, Submission, Video
from penstock.errors import InvalidValue
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.kernel.unchanged import unchanged


def known_file(store: Store, user_id: str, sha256: str) -> SentFile | None:
    """What is known of a file of a user; its video or submission may be gone."""
    return store.lookup(SentFile.at(user_id=user_id, sha256=sha256))


def claim_file(change: Change, submission: Submission, instead_of: SentFile | None) -> None:
    """Let a submission be the one that its file comes with; Conflict where it is known otherwise than was read."""
    if submission.sha256 is None:
        raise InvalidValue("a file is recognised by its SHA-256; tell it when the video is announced")
    claimed = SentFile(
        user_id=submission.user_id, sha256=submission.sha256, video_id=submission.video_id, ttl=submission.ttl
    )
    if instead_of is None:
        change.create(claimed)
    else:
        change.put(claimed, when=unchanged(instead_of))


def take_file(change: Change, video: Video) -> None:
    """Let a file be known as a video that was just made of it."""
    assert video.sha256 is not None, "it was verified"
    change.put(SentFile(user_id=video.user_id, sha256=video.sha256, video_id=video.video_id))


def release_file(change: Change, video: Video) -> None:
    """Let a file be unknown again, if it is known as this video."""
    known = None if video.sha256 is None else known_file(change.store, video.user_id, video.sha256)
    if known is not None and known.video_id == video.video_id:
        change.delete(known.ref, when=unchanged(known))
