"""Uploads in parts: sent to signed URLs in any order, resumed after a break, joined or dropped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from penstock.errors import NotFound
from penstock.files.object_reads import every
from penstock.ports.object_store import ObjectStore
from penstock.testing.object_promises.promise import MEGABYTE, WAV, ObjectPromise, send

FIRST = WAV + bytes(5 * MEGABYTE - len(WAV))
"S3 takes no smaller part, but for the last."
LAST = b"the end"


class UploadsInParts(ObjectPromise):
    """`begin_parts`, `put_part`, `part_url`, `parts`, `finish_parts`, `drop_parts` and `drop_unfinished`."""

    def test_parts_in_any_order_become_one_object(self, objects: ObjectStore) -> None:
        upload = objects.begin_parts("a/large", content_type="audio/wav")
        for number, part in ((2, LAST), (1, FIRST)):
            url = objects.part_url("a/large", upload, number, size=len(part))
            assert send(url, body=part).status == 200
        with pytest.raises(NotFound):
            objects.head("a/large")
        parts = objects.parts("a/large", upload)
        assert [(part.number, part.size) for part in parts] == [(1, len(FIRST)), (2, len(LAST))]
        stored = objects.finish_parts("a/large", upload, parts)
        assert (stored.key, stored.size, stored.content_type) == ("a/large", len(FIRST) + len(LAST), "audio/wav")
        assert objects.get("a/large", start=len(FIRST) - 3).read() == FIRST[-3:] + LAST
        with pytest.raises(NotFound):
            objects.parts("a/large", upload)

    def test_a_part_sent_again_replaces_the_former(self, objects: ObjectStore) -> None:
        upload = objects.begin_parts("a", content_type="audio/wav")
        for content in (b"wrong", b"right"):
            assert send(objects.part_url("a", upload, 1, size=5), body=content).status == 200
        objects.finish_parts("a", upload, objects.parts("a", upload))
        assert objects.get("a").read() == b"right"

    def test_parts_are_sent_without_urls_too(self, objects: ObjectStore) -> None:
        upload = objects.begin_parts("a/large", content_type="audio/wav")
        with pytest.raises(NotFound):
            objects.put_part("a/other", upload, 1, LAST)
        sent = [
            objects.put_part("a/large", upload, 2, LAST),
            objects.put_part("a/large", upload, 1, [FIRST[:9], FIRST[9:]]),
        ]
        assert list(objects.parts("a/large", upload)) == sent[::-1]
        objects.finish_parts("a/large", upload, sent)
        assert objects.get("a/large", start=len(FIRST) - 3).read() == FIRST[-3:] + LAST
        with pytest.raises(NotFound):
            objects.put_part("a/large", upload, 1, LAST)

    def test_a_dropped_upload_is_gone(self, objects: ObjectStore) -> None:
        upload = objects.begin_parts("a", content_type="audio/wav")
        url = objects.part_url("a", upload, 1, size=5)
        assert send(url, body=b"12345").status == 200
        parts = objects.parts("a", upload)
        objects.drop_parts("a", upload)
        objects.drop_parts("a", upload)
        with pytest.raises(NotFound):
            objects.parts("a", upload)
        with pytest.raises(NotFound):
            objects.finish_parts("a", upload, parts)
        assert send(url, body=b"12345").status >= 400
        assert list(every(objects)) == []

    def test_what_was_never_finished_is_dropped_by_its_age(self, objects: ObjectStore) -> None:
        now = datetime.now(UTC)
        first = objects.begin_parts("a", content_type="audio/wav")
        objects.begin_parts("b", content_type="audio/wav")
        assert objects.drop_unfinished(before=now - timedelta(hours=1)) == 0
        assert objects.parts("a", first) == []
        assert objects.drop_unfinished(before=now + timedelta(hours=1)) == 2
        with pytest.raises(NotFound):
            objects.parts("a", first)
        assert objects.drop_unfinished(before=now + timedelta(hours=1)) == 0

    def test_an_upload_is_of_its_key_alone(self, objects: ObjectStore) -> None:
        upload = objects.begin_parts("a", content_type="audio/wav")
        other = upload[:-1] + ("0" if upload[-1] != "0" else "1")
        for key, stranger in (("a", other), ("b", upload)):
            with pytest.raises(NotFound):
                objects.parts(key, stranger)
        assert objects.parts("a", upload) == []
