"""How people look at a video: as it is watched, in each of its sizes, and as it was sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.domains.videos.model import Video
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.watching import watch_path
from penstock.media.probed import Probed
from penstock.review.reviewable import Reviewable, ReviewFile, in_query
from penstock.review.viewer import FilmFacts, Viewer
from penstock.work.domain_context import DomainContext

_API = "/api/vm"


def _files(context: DomainContext, video: Video) -> Iterable[ReviewFile]:
    poster = video.thumbnail_s3_key
    if video.stream_s3_key is not None:
        playlist = f"{_API}/{watch_path(VideoLibrary.within(context), video)}/master.m3u8"
        stream = ReviewFile("stream", video.stream_s3_key, title="stream", viewer=Viewer.HLS, stream=playlist)
        yield replace(stream, poster=poster)
    for rung, path in sorted((video.resolutions or {}).items()):
        if not path.startswith("s3://"):  # others have made it, and it lies elsewhere
            yield ReviewFile(f"film.{rung}", path, title=rung, poster=poster)
    if video.source_s3_key is not None:
        facts = None if video.found is None else FilmFacts.probed(Probed.of(video.found))
        yield ReviewFile("source", video.source_s3_key, title="as it was sent", poster=poster, film=facts)


REVIEWS = (
    Reviewable(
        Video,
        files=_files,
        queue=in_query(
            lambda video: None if video.category is None else Video.newest_of_category(category=video.category)
        ),
        title=lambda video: video.title,
    ),
)
