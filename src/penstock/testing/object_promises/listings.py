"""Listing: every object once, however many there are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.errors import InvalidValue
from penstock.files.object_reads import every
from penstock.ports.object_store import ObjectStore
from penstock.testing.object_promises.promise import WAV, ObjectPromise

MANY = 1005
"More than S3 lists or deletes at a time."


class Listings(ObjectPromise):
    """`list`, and `delete` of many."""

    def test_an_empty_store_lists_nothing(self, objects: ObjectStore) -> None:
        page = objects.list()
        assert (page.objects, page.cursor) == ([], None)
        assert objects.list("any/thing").objects == []

    def test_an_object_is_listed_as_it_is_known(self, objects: ObjectStore) -> None:
        put = objects.put("a/b.wav", WAV)
        (found,) = objects.list().objects
        head = objects.head("a/b.wav")
        assert (found.key, found.size, found.etag) == (put.key, put.size, put.etag)
        assert abs((found.modified_at - head.modified_at).total_seconds()) < 1

    @pytest.mark.parametrize(
        ("prefix", "expected"),
        [
            ("", {"a", "a/b", "a/c/d", "a/cd", "a-b", "b"}),
            ("a", {"a", "a/b", "a/c/d", "a/cd", "a-b"}),
            ("a/", {"a/b", "a/c/d", "a/cd"}),
            ("a/c", {"a/c/d", "a/cd"}),
            ("a/c/", {"a/c/d"}),
            ("a/c/d", {"a/c/d"}),
            ("c", set()),
        ],
    )
    def test_a_prefix_chooses_the_keys_that_begin_so(
        self, objects: ObjectStore, prefix: str, expected: set[str]
    ) -> None:
        for key in ("a", "a/b", "a/c/d", "a/cd", "a-b", "b"):
            objects.put(key, b"")
        assert {found.key for found in every(objects, prefix)} == expected

    def test_pages_hold_each_object_once(self, objects: ObjectStore) -> None:
        keys = {f"p/{'ab'[n % 2]}/{n}" for n in range(7)}
        for key in keys:
            objects.put(key, b"")
        seen: list[str] = []
        cursor = None
        for _ in range(10):
            page = objects.list("p/", limit=2, cursor=cursor)
            assert 0 < len(page.objects) <= 2
            seen += [found.key for found in page.objects]
            cursor = page.cursor
            if cursor is None:
                break
        assert cursor is None
        assert sorted(seen) == sorted(keys)

    def test_a_page_shows_something(self, objects: ObjectStore) -> None:
        with pytest.raises(InvalidValue, match="at least one"):
            objects.list(limit=0)

    def test_a_thousand_and_more_are_listed_and_deleted(self, objects: ObjectStore) -> None:
        """F-X-8: more than one page of each."""
        keys = [f"many/{n:04d}" for n in range(MANY)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda key: objects.put(key, b""), ["other", *keys]))
        assert sorted(found.key for found in every(objects, "many/")) == keys
        first = objects.list("many/")
        assert len(first.objects) <= 1000
        assert first.cursor is not None
        objects.delete(keys)
        assert [found.key for found in every(objects)] == ["other"]
