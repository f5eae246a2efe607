"""What was encoded plays in a real browser: from a bucket by signed URLs, from local files by the service's route."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import pytest

from penstock import open_store
from penstock.domains.videos import DOMAIN
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.watching import watch_path
from penstock.objects import LocalObjects, RouteSigner
from penstock.objects.s3 import S3Connection, S3Objects
from penstock.objects.s3.page_origins import page_rule
from penstock.ports.object_store import ObjectStore
from penstock.work.working import WORKING
from tests.browser.films import numbered_film
from tests.browser.player import Player
from tests.browser.site import Site
from tests.domains.videos.story import added
from tests.domains.videos.web import service
from tests.servers import free_port
from tests.web.serving import serving

RATE, SECONDS = 25, 9


@contextmanager
def served(objects: ObjectStore, folder: Path, site: Site, port: int) -> Iterator[VideoLibrary]:
    """A library behind a real server, by the clock of this machine, as a bucket has no other."""
    store = open_store(f"sqlite:///{folder}/vm.db")
    store.ensure(DOMAIN, WORKING)
    library = VideoLibrary(store, objects)
    with serving(service(library, cors_origins=(site.origin,)), port=port):
        yield library
    store.close()


@pytest.fixture(params=["local", "s3"])
def watched(request: pytest.FixtureRequest, tmp_path: Path, site: Site) -> Iterator[tuple[VideoLibrary, str]]:
    """A library with its files here or in a bucket, and where its playlists are."""
    port = free_port()
    here = f"http://127.0.0.1:{port}"
    if request.param == "local":
        signer = RouteSigner(b"the secret of these tests", url=f"{here}/objects")
        local = LocalObjects(tmp_path / "files", signer=signer)
        with served(local, tmp_path, site, port) as library:
            yield library, here
        return
    connection: S3Connection = request.getfixturevalue("s3_connection")
    bucket: S3Objects = request.getfixturevalue("s3")
    rules = {"CORSRules": [page_rule([site.origin])]}
    connection.client.put_bucket_cors(Bucket=connection.bucket, CORSConfiguration=rules)
    try:
        with served(bucket, tmp_path, site, port) as library:
            yield library, here
    finally:
        connection.client.delete_bucket_cors(Bucket=connection.bucket)


def test_a_film_plays_at_every_level_and_every_picture_is_where_it_was(
    watched: tuple[VideoLibrary, str], player: Player, tmp_path: Path
) -> None:
    library, here = watched
    video = added(library, numbered_film(tmp_path / "numbered.mp4", seconds=SECONDS, size=(640, 480)))
    assert len(video.resolutions or {}) >= 2
    origins = (here, _origin(library, video.video_id))
    levels = player.open(f"{here}/api/vm/{watch_path(library, video)}/master.m3u8", origins=origins)
    assert [level.height for level in levels] == sorted(int(rung[:-1]) for rung in video.resolutions or {})
    assert len(player.play(5)) == 5
    assert player.duration == pytest.approx(SECONDS, abs=1 / RATE)
    for level in reversed(range(len(levels))):
        assert player.switch(level).height == levels[level].height
        for number in (130 + level, 0, RATE * SECONDS - 1):
            assert player.seek(number, rate=RATE).painted == number
    assert player.errors == []


def _origin(library: VideoLibrary, video_id: UUID) -> str:
    url = urlsplit(library.objects.download_url(f"videos/{video_id}/x").url)
    return f"{url.scheme}://{url.netloc}"
