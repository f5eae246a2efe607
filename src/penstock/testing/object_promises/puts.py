"""What is put comes back, byte for byte, and is known for what it is."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from penstock.errors import Conflict, InvalidValue, NotFound
from penstock.files.object_reads import every
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import Body
from penstock.testing.object_promises.promise import MEGABYTE, PNG, WAV, ObjectPromise


def _bodies(content: bytes) -> list[Body]:
    pieces = [content[at : at + 7] for at in range(0, len(content), 7)]
    return [content, io.BytesIO(content), pieces, iter(pieces)]


class Puts(ObjectPromise):
    """`put` and `head`."""

    @pytest.mark.parametrize("how", range(4))
    def test_a_body_comes_back_however_it_was_given(self, objects: ObjectStore, how: int) -> None:
        put = objects.put("a/b.wav", _bodies(WAV)[how])
        assert objects.get("a/b.wav").read() == WAV
        assert (put.key, put.size, put.sha256) == ("a/b.wav", len(WAV), sha256(WAV).hexdigest())

    def test_the_pieces_of_a_body_may_share_one_buffer(self, objects: ObjectStore) -> None:
        """Whoever reads without copying fills the same memory again and again."""

        def pieces() -> Iterator[memoryview]:
            source, buffer = io.BytesIO(WAV), bytearray(7)
            while count := source.readinto(buffer):
                yield memoryview(buffer)[:count]

        put = objects.put("a.wav", pieces())
        assert objects.get("a.wav").read() == WAV
        assert (put.sha256, put.content_type) == (sha256(WAV).hexdigest(), "audio/wav")

    def test_what_is_known_of_an_object_is_true(self, objects: ObjectStore) -> None:
        put = objects.put("a.wav", WAV)
        head = objects.head("a.wav")
        assert (head.key, head.size, head.etag, head.content_type) == (put.key, put.size, put.etag, "audio/wav")
        assert abs(head.modified_at - datetime.now(UTC)) < timedelta(minutes=1)
        assert abs(put.modified_at - head.modified_at) < timedelta(seconds=2)

    def test_the_content_type_is_found_in_the_bytes_not_in_the_name(self, objects: ObjectStore) -> None:
        assert objects.put("sound.png", WAV).content_type == "audio/wav"
        assert objects.head("sound.png").content_type == "audio/wav"
        assert objects.put("noise.wav", b"\x00\x01\x02").content_type == "application/octet-stream"

    def test_an_object_may_be_empty(self, objects: ObjectStore) -> None:
        put = objects.put("empty", b"")
        assert (put.size, put.sha256) == (0, sha256(b"").hexdigest())
        assert objects.head("empty").size == 0
        assert objects.get("empty").read() == b""

    def test_a_put_replaces_the_whole_object(self, objects: ObjectStore) -> None:
        before = objects.put("a", WAV * 3)
        after = objects.put("a", PNG)
        assert objects.get("a").read() == PNG
        assert objects.head("a").content_type == "image/png"
        assert before.etag != after.etag == objects.head("a").etag

    def test_a_put_where_none_may_stand_is_refused_where_one_does(self, objects: ObjectStore) -> None:
        objects.put("a", b"first", absent=True)
        with pytest.raises(Conflict, match="a already"):
            objects.put("a", b"second", absent=True)
        assert objects.get("a").read() == b"first"

    def test_a_large_body_of_unknown_length_comes_back(self, objects: ObjectStore) -> None:
        block = bytes(range(256)) * 4096
        digest = sha256()

        def pieces() -> Iterator[bytes]:
            for at in range(20):
                piece = block[at:] + block[:at]
                digest.update(piece)
                yield piece

        put = objects.put("large", pieces())
        assert (put.size, put.sha256) == (20 * MEGABYTE, digest.hexdigest())
        seen = sha256()
        with objects.get("large") as download:
            for piece in download:
                seen.update(piece)
        assert seen.digest() == digest.digest()

    def test_a_large_body_is_refused_where_an_object_stands(self, objects: ObjectStore) -> None:
        objects.put("large", b"first")
        with pytest.raises(Conflict, match="large already"):
            objects.put("large", (bytes(MEGABYTE) for _ in range(9)), absent=True)
        assert objects.get("large").read() == b"first"

    @pytest.mark.parametrize("megabytes", [0, 9])
    def test_a_body_that_breaks_off_leaves_nothing(self, objects: ObjectStore, megabytes: int) -> None:
        def pieces() -> Iterator[bytes]:
            yield b"beginning"
            for _ in range(megabytes):
                yield bytes(MEGABYTE)
            raise RuntimeError("the sender is gone")

        with pytest.raises(RuntimeError, match="the sender is gone"):
            objects.put("broken", pieces())
        with pytest.raises(NotFound):
            objects.head("broken")
        assert list(every(objects)) == []
        assert objects.drop_unfinished(before=datetime.now(UTC) + timedelta(days=1)) == 0

    def test_text_is_no_body(self, objects: ObjectStore) -> None:
        with pytest.raises(InvalidValue, match="made of bytes"):
            objects.put("a", ["text"])  # type: ignore[list-item]
