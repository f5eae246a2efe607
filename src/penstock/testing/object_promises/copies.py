"""Copying within the store, of bytes that are known."""

from __future__ import annotations

import pytest

from penstock.errors import Conflict, NotFound
from penstock.ports.object_store import ObjectStore
from penstock.testing.object_promises.promise import PNG, WAV, ObjectPromise


class Copies(ObjectPromise):
    """`copy`."""

    def test_a_copy_has_the_bytes_and_the_type_and_the_source_stays(self, objects: ObjectStore) -> None:
        objects.put("a/b", WAV)
        copied = objects.copy("a/b", "c/d")
        assert (copied.key, copied.size, copied.content_type) == ("c/d", len(WAV), "audio/wav")
        assert objects.get("c/d").read() == objects.get("a/b").read() == WAV
        assert objects.head("c/d").content_type == "audio/wav"
        assert objects.head("c/d").etag == copied.etag

    def test_a_copy_replaces_what_stands_there(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        objects.put("b", PNG)
        objects.copy("a", "b")
        assert objects.get("b").read() == WAV

    def test_a_copy_where_none_may_stand_is_refused_where_one_does(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        objects.put("b", PNG)
        with pytest.raises(Conflict):
            objects.copy("a", "b", absent=True)
        assert objects.get("b").read() == PNG
        objects.copy("a", "c", absent=True)
        assert objects.get("c").read() == WAV

    def test_only_the_bytes_that_were_known_are_copied(self, objects: ObjectStore) -> None:
        known = objects.put("a", WAV)
        objects.copy("a", "b", etag=known.etag)
        objects.put("a", PNG)
        with pytest.raises(Conflict):
            objects.copy("a", "c", etag=known.etag)
        with pytest.raises(NotFound):
            objects.head("c")
        assert objects.get("b").read() == WAV

    def test_an_empty_object_is_copied(self, objects: ObjectStore) -> None:
        objects.put("a", b"")
        assert objects.copy("a", "b").size == 0
        assert objects.get("b").read() == b""

    def test_what_is_not_there_is_not_copied(self, objects: ObjectStore) -> None:
        with pytest.raises(NotFound):
            objects.copy("a", "b")
        with pytest.raises(NotFound):
            objects.head("b")
