"""Pages play and send files by signed URLs on another origin, once that origin lets them, and not before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from penstock.objects import LocalObjects, RouteSigner
from penstock.objects.s3 import S3Connection, S3Objects
from penstock.objects.s3.page_origins import page_rule
from penstock.ports.object_store import ObjectStore
from tests.web.service import SECRET, Service
from tests.web.serving import serving

from .complaints import Complaints
from .films import numbered_film
from .player import Player
from .signed_streams import keep, signed_playlists
from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

RATE = 25


@dataclass(frozen=True)
class Place:
    """Files on an origin of their own."""

    objects: ObjectStore

    @property
    def origin(self) -> str:
        url = urlsplit(self.objects.download_url("a").url)
        return f"{url.scheme}://{url.netloc}"


Opened = Callable[..., Place]


@contextmanager
def bucket(s3: S3Objects, connection: S3Connection, *origins: str) -> Iterator[Place]:
    """A bucket that lets pages of these origins in, by the rule that is advised."""
    client, name = connection.client, connection.bucket
    if origins:
        client.put_bucket_cors(Bucket=name, CORSConfiguration={"CORSRules": [page_rule(origins)]})
    try:
        yield Place(s3)
    finally:
        client.delete_bucket_cors(Bucket=name)


@contextmanager
def service(folder: Path, *origins: str) -> Iterator[Place]:
    """Local files behind the service, which lets pages of these origins in."""
    served = Service(folder, cors_origins=origins)
    with serving(served.app) as port:
        signer = RouteSigner(SECRET, url=f"http://127.0.0.1:{port}/objects", clock=served.clock)
        yield Place(LocalObjects(folder / "objects", signer=signer))


@pytest.fixture(params=["seaweedfs", "service"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Opens files in a bucket, or local files behind the service; they stay until the page has been judged."""
    if request.param == "service":
        open_one: Callable[..., AbstractContextManager[Place]] = partial(service, tmp_path)
    else:
        open_one = partial(bucket, request.getfixturevalue("s3"), request.getfixturevalue("s3_connection"))
    with ExitStack() as stack:
        yield lambda *origins: stack.enter_context(open_one(*origins))


def stream_in(place: Place, site: Site, master: Path, folder: Path) -> str:
    """Keep a stream in a place; the URL of its playlists, which lie beside the page."""
    keep(place.objects, master.parent)
    signed_playlists(place.objects, master.parent, folder)
    return f"{site.show(folder)}/{master.name}"


def test_a_stream_is_played_by_signed_urls(
    player: Player, site: Site, opened: Opened, numbered_stream: Path, tmp_path: Path
) -> None:
    place = opened(site.origin)
    levels = player.open(stream_in(place, site, numbered_stream, tmp_path / "signed"), origins=(place.origin,))
    assert len(player.play(2)) == 2
    for level in reversed(range(len(levels))):
        assert player.switch(level).height == levels[level].height
        assert player.seek(70 + level, rate=RATE).painted == 70 + level
    assert player.errors == []


def test_a_single_film_is_played_by_a_signed_url(player: Player, site: Site, opened: Opened, tmp_path: Path) -> None:
    film, place = numbered_film(tmp_path / "film.mp4", seconds=2), opened(site.origin)
    place.objects.put("film.mp4", film.read_bytes())
    signed = place.objects.download_url("film.mp4", show_as="video/mp4")
    player.open_file(signed.url, origins=(place.origin,))
    assert player.seek(40, rate=RATE).painted == 40


def test_a_page_sends_a_file_by_a_signed_url(page: Page, site: Site, opened: Opened) -> None:
    place = opened(site.origin)
    signed = place.objects.upload_url("sent.mp4", size=9, content_type="video/mp4")
    page.goto(site.page("player.html", origins=(place.origin,)))
    sent = "([url, headers]) => fetch(url, { method: 'PUT', headers, body: 'swordfish' }).then((answer) => answer.ok)"
    assert page.evaluate(sent, [signed.url, dict(signed.headers)])
    assert place.objects.get("sent.mp4").read() == b"swordfish"


@pytest.mark.parametrize("origins", [(), ("http://elsewhere.example",)])
def test_a_page_that_may_not_use_the_files_does_not_get_them(
    origins: tuple[str, ...],
    player: Player,
    site: Site,
    opened: Opened,
    complaints: Complaints,
    numbered_stream: Path,
    tmp_path: Path,
) -> None:
    complaints.expect("blocked by CORS policy", "failed: GET .*net::ERR_FAILED")
    place = opened(*origins)
    player.open(stream_in(place, site, numbered_stream, tmp_path / "signed"), origins=(place.origin,))
    assert "fragLoadError" in player.until_error()
