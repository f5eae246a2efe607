"""Large bodies pass in pieces: what is in memory does not grow with the file."""

from __future__ import annotations

import http.client
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from urllib.parse import urlsplit

import pytest

from penstock.objects import LocalObjects
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import SignedUrl
from penstock.testing.object_promises.promise import MEGABYTE

ROOM = 36 * MEGABYTE
"Parts of 8 MB: one on its way, its copy in the driver, the next one while it is made of its pieces."


class Source:
    """A file that exists only as it is read; it knows what has been read of it."""

    def __init__(self, megabytes: int) -> None:
        self.size, self._left = megabytes * MEGABYTE, megabytes * MEGABYTE
        self.digest = sha256()
        self._block = bytes(range(256)) * 4096

    def read(self, size: int = -1) -> bytes:
        piece = self._block[: min(self._left, len(self._block), size if size >= 0 else self._left)]
        self._left -= len(piece)
        self.digest.update(piece)
        return piece


@contextmanager
def flat() -> Iterator[None]:
    """Fails when more than the room is taken at any moment."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < ROOM, f"{peak / MEGABYTE:.1f} MB were in memory at once"


def up_and_down(objects: ObjectStore, megabytes: int) -> None:
    objects.list()  # connects: what the driver loads once is no matter of the file
    source = Source(megabytes)
    with flat():
        put = objects.put("large", source)  # type: ignore[arg-type]
    assert (put.size, put.sha256) == (source.size, source.digest.hexdigest())
    seen = sha256()
    with flat(), objects.get("large") as download:
        for piece in download:
            seen.update(piece)
    assert seen.hexdigest() == put.sha256
    with flat():
        copied = objects.copy("large", "copy", etag=put.etag)
    assert copied.size == source.size


def test_forty_megabytes_go_up_and_down_in_flat_memory(objects: ObjectStore) -> None:
    up_and_down(objects, 40)


@pytest.mark.long
def test_two_hundred_megabytes_go_up_and_down_in_flat_memory(objects: ObjectStore) -> None:
    up_and_down(objects, 200)


def through_signed_urls(objects: ObjectStore, megabytes: int) -> None:
    source = Source(megabytes)
    upload = objects.upload_url("large", size=source.size, content_type="application/octet-stream")
    with flat(), closing(connect(upload)) as connection:
        headers = {**upload.headers, "Content-Length": str(source.size)}
        connection.request("PUT", target(upload), source, headers)
        assert connection.getresponse().status == 200
    download, seen = objects.download_url("large"), sha256()
    with flat(), closing(connect(download)) as connection:
        connection.request("GET", target(download))
        answer = connection.getresponse()
        while piece := answer.read(65536):
            seen.update(piece)
    assert seen.hexdigest() == source.digest.hexdigest()


def connect(url: SignedUrl) -> http.client.HTTPConnection:
    parts = urlsplit(url.url)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)


def target(url: SignedUrl) -> str:
    parts = urlsplit(url.url)
    return f"{parts.path}?{parts.query}"


def test_forty_megabytes_pass_the_route_in_flat_memory(local: LocalObjects) -> None:
    """The server is a thread of this process, so what it holds is measured as well."""
    through_signed_urls(local, 40)


@pytest.mark.long
def test_two_hundred_megabytes_pass_signed_urls_in_flat_memory(objects: ObjectStore) -> None:
    through_signed_urls(objects, 200)


def test_the_measure_would_notice_a_whole_file() -> None:
    with pytest.raises(AssertionError, match="in memory at once"), flat():
        assert len(bytes(40 * MEGABYTE)) == 40 * MEGABYTE
