"""What all promises are tested with: an empty object store, and an HTTP client that knows nothing of us."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import SignedUrl
from penstock.testing.differences import expect

WAV = (
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0"  # 8 kHz, 16 bits, mono
    b"data\0\0\0\0"
)
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
HTML = b"<!DOCTYPE html><html><script>alert(1)</script></html>"
MEGABYTE = 1024 * 1024

_PATIENCE = 15.0


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What came back for a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def send(
    url: str | SignedUrl, method: str | None = None, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> HttpReply:
    """Send one request; to a signed URL with the method and headers it asks for, unless others are given."""
    asked = dict(url.headers if isinstance(url, SignedUrl) and headers is None else headers or {})
    method = method or (url.method if isinstance(url, SignedUrl) else "GET")
    parts = urlsplit(url.url if isinstance(url, SignedUrl) else url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=60)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", body or None, asked)
        answer = connection.getresponse()
        return HttpReply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def soon(status: Callable[[], int], expected: int) -> bool:
    """Does a request get this answer before long? For what only the passing of time brings about."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if status() == expected:
            return True
        time.sleep(0.05)
    return False


class ObjectPromise:
    """The fixtures of the suite. A subclass of the whole provides ``objects``, and ``known_as`` if it differs."""

    @pytest.fixture
    def objects(self) -> ObjectStore:
        """A fresh, empty object store."""
        raise NotImplementedError("provide a fixture named objects that opens an empty object store")

    @pytest.fixture
    def known_as(self) -> str:
        """The name by which `differs` knows the object store."""
        return type(self).__name__.removeprefix("Test").lower()

    @pytest.fixture(autouse=True)
    def differences(self, request: pytest.FixtureRequest, known_as: str) -> None:
        """A declared difference turns the test into one that is expected to fail."""
        expect(request, known_as)
