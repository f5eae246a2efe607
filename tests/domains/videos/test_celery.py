"""The story as a grown-up deployment runs it: DynamoDB's protocol with its stream, S3, and workers of Celery."""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path

import httpx2
import pytest

from penstock import open_store
from penstock.domains import DOMAINS
from penstock.domains.videos import submissions, video_removal, watching
from penstock.domains.videos.model import Submission, SubmissionStatus, Video, VideoStatus
from penstock.domains.videos.submissions import NewVideo
from penstock.domains.videos.video_library import VideoLibrary
from penstock.runtime.composition import open_objects
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from tests.domains.celery_worker import surroundings, worker
from tests.domains.videos.story import feed_of, files
from tests.servers import Valkey
from tests.servers.seaweedfs import SeaweedFS
from tests.work.soon import soon

__all__ = ["worker"]


@pytest.fixture
def settings(dynamo_url: str, seaweedfs_server: SeaweedFS, valkey_server: Valkey) -> dict[str, str]:
    return surroundings(dynamo_url, seaweedfs_server, valkey_server, bucket="videos-celery")


def test_a_film_is_streamed_and_forgotten_through_celery(
    settings: dict[str, str],
    dynamo: object,
    worker: subprocess.Popen[bytes],
    film: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """VM-19, VM-20: sent to S3 and got from S3 by signed URLs; the stream of the table starts and ends everything."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, settings[name])
    store = open_store(settings["PENSTOCK_STORE"])
    store.ensure(*DOMAINS, WORKING)
    objects = open_objects(settings["PENSTOCK_OBJECTS"])
    library = VideoLibrary.within(DomainContext(store, objects, lambda name: None))
    body = film.read_bytes()
    wanted = NewVideo(user_id="u", title="t", tags=frozenset({"a"}), size=len(body), content_type="video/mp4")
    reserved = submissions.submit(library, wanted, by="ann")
    video_id, where = reserved.submission.video_id, reserved.where
    assert where is not None
    assert where.url is not None
    sent = httpx2.request(where.url.method, where.url.url, content=body, headers=dict(where.url.headers))
    assert sent.status_code == 200, sent.text
    submissions.complete(library, video_id, sha256=sha256(body).hexdigest(), by="ann")
    feed = feed_of(library)

    def arrived() -> bool:
        assert worker.poll() is None, (tmp_path / "log").read_text()
        return store.get(Submission.at(video_id=video_id)).status is not SubmissionStatus.ARRIVED

    def ready() -> bool:
        feed.drain()
        assert worker.poll() is None, (tmp_path / "log").read_text()
        video = store.get(Video.at(video_id=video_id))
        return video.status is VideoStatus.READY and video.thumbnail_s3_key is not None

    def gone() -> bool:
        feed.drain()
        return files(library) == []

    soon(arrived, seconds=60)
    soon(ready, seconds=120)
    video = library.video(video_id)
    (rung,) = video.resolutions or {}
    lines = watching.media_playlist(library, video, rung).splitlines()
    segments = [line for line in lines if not line.startswith("#")]
    assert all(httpx2.get(url).status_code == 200 for url in segments)
    part = httpx2.get(segments[0], headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, b"styp")
    video_removal.delete_video(library, video_id, by="ann")
    soon(gone, seconds=60)
    feed.close()
    store.close()
