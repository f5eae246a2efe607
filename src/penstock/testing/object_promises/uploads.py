"""Signed URLs for uploads: exactly what was announced, to exactly one place."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.errors import InvalidValue
from penstock.files.object_reads import every
from penstock.ports.object_store import ObjectStore
from penstock.testing.object_promises.promise import WAV, ObjectPromise, send, soon


class SignedUploads(ObjectPromise):
    """`upload_url` and `part_url`."""

    def test_what_was_announced_is_taken(self, objects: ObjectStore) -> None:
        url = objects.upload_url("a b/é.wav", size=len(WAV), content_type="audio/wav")
        assert url.method == "PUT"
        assert send(url, body=WAV).status == 200
        assert objects.get("a b/é.wav").read() == WAV
        assert objects.head("a b/é.wav").content_type == "audio/wav"

    def test_an_empty_file_is_taken(self, objects: ObjectStore) -> None:
        url = objects.upload_url("a", size=0, content_type="application/octet-stream")
        assert send(url, headers={**url.headers, "Content-Length": "0"}).status == 200
        assert objects.head("a").size == 0

    @pytest.mark.parametrize("size", [len(WAV) - 1, len(WAV) + 1, 0])
    def test_another_size_is_refused(self, objects: ObjectStore, size: int) -> None:
        url = objects.upload_url("a", size=len(WAV), content_type="audio/wav")
        assert send(url, body=(WAV + b"!")[:size]).status in (403, 411)
        assert list(every(objects)) == []

    def test_less_than_nothing_is_not_announced(self, objects: ObjectStore) -> None:
        with pytest.raises(InvalidValue, match="nothing has -1 bytes"):
            objects.upload_url("a", size=-1, content_type="audio/wav")
        with pytest.raises(InvalidValue, match="nothing has -1 bytes"):
            objects.part_url("a", "0" * 32, 1, size=-1)

    @pytest.mark.parametrize("content_type", ["text/html", "audio/mpeg", None])
    def test_another_type_is_refused(self, objects: ObjectStore, content_type: str | None) -> None:
        url = objects.upload_url("a", size=len(WAV), content_type="audio/wav")
        headers = {"Content-Type": content_type} if content_type else {}
        assert send(url, body=WAV, headers=headers).status == 403
        assert list(every(objects)) == []

    @pytest.mark.parametrize("method", ["GET", "DELETE", "POST"])
    def test_nothing_but_putting_is_allowed(self, objects: ObjectStore, method: str) -> None:
        objects.put("a", WAV)
        url = objects.upload_url("a", size=len(WAV), content_type="audio/wav")
        assert send(url, method, body=WAV if method == "POST" else b"").status in (403, 405)
        assert objects.get("a").read() == WAV

    def test_another_key_and_a_broken_signature_are_refused(self, objects: ObjectStore) -> None:
        url = objects.upload_url("a", size=len(WAV), content_type="audio/wav")
        path, _, query = url.url.partition("?")
        for other in (f"{path[:-1]}b?{query}", url.url[:-1] + ("0" if url.url[-1] != "0" else "1"), path):
            assert send(other, "PUT", WAV, url.headers).status in (401, 403)
        assert list(every(objects)) == []

    def test_what_comes_too_late_is_refused(self, objects: ObjectStore) -> None:
        url = objects.upload_url("a", size=len(WAV), content_type="audio/wav", expires=timedelta(seconds=1))
        assert soon(lambda: send(url, body=WAV).status, 403)

    def test_a_part_is_taken_as_announced_only(self, objects: ObjectStore) -> None:
        upload = objects.begin_parts("a", content_type="audio/wav")
        url = objects.part_url("a", upload, 1, size=5)
        assert send(url, body=b"123456").status in (403, 411)
        other = url.url.replace("artNumber=1", "artNumber=2").replace("part=1", "part=2")
        assert other != url.url
        assert send(other, "PUT", b"12345").status == 403
        assert objects.parts("a", upload) == []
        assert send(url, body=b"12345").status == 200
        assert [part.size for part in objects.parts("a", upload)] == [5]
