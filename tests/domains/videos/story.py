"""What happens in these tests, in a few words: send a film, let the feed and the workers work, and look."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.domains.videos import PLUGIN, submissions
from penstock.domains.videos.model import Submission, Video
from penstock.domains.videos.submissions import TASKS, NewVideo
from penstock.domains.videos.video_library import VideoLibrary
from penstock.events.feed import Feed
from penstock.files.object_reads import every
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers

ANN = "ann"


def context_of(library: VideoLibrary) -> DomainContext:
    return DomainContext(library.store, library.objects, lambda name: None)


def feed_of(library: VideoLibrary, owner: str = "tests") -> Feed:
    feed = PLUGIN.open_feed(context_of(library), owner=owner)
    assert feed is not None
    return feed


def workers(library: VideoLibrary) -> ManualWorkers:
    return ManualWorkers(library.store, [TASKS], context=context_of(library))


def settle(library: VideoLibrary) -> None:
    """Everything that follows from what was done, until nothing is left to do."""
    feed = feed_of(library)
    while feed.drain() + workers(library).drain():
        pass
    feed.close()


def submitted(library: VideoLibrary, film: Path, **said: Any) -> Submission:
    """A film that was sent, and is said to be there."""
    given = {"user_id": "user_789", "title": "Product Launch Demo", "content_type": "video/mp4", **said}
    given["tags"] = frozenset(given.get("tags", ()))
    body = film.read_bytes()
    reserved = submissions.submit(library, NewVideo(file_name=film.name, size=len(body), **given), by=ANN)
    assert reserved.where is not None
    library.objects.put(reserved.where.upload.staging, body)
    video_id = reserved.submission.video_id
    return submissions.complete(library, video_id, sha256=sha256(body).hexdigest(), by=ANN)


def added(library: VideoLibrary, film: Path, **said: Any) -> Video:
    """A film that was sent, and all that was made of it."""
    video_id = submitted(library, film, **said).video_id
    settle(library)
    return library.video(video_id)


def seen(library: VideoLibrary, video_id: UUID) -> Submission:
    return library.store.get(Submission.at(video_id=video_id))


def files(library: VideoLibrary) -> list[str]:
    """Every object there is."""
    return sorted(found.key for found in every(library.objects))
