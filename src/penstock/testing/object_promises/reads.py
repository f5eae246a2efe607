"""Reading: whole, in ranges, in pieces; and removing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.errors import InvalidValue, NotFound, WrongRange
from penstock.ports.object_store import ObjectStore
from penstock.testing.object_promises.promise import MEGABYTE, PNG, WAV, ObjectPromise

DIGITS = b"0123456789"


class ReadPromises(ObjectPromise):
    """`get`, `local_file`, `delete` and `delete_unchanged`."""

    @pytest.mark.parametrize(
        ("start", "stop", "expected"),
        [(0, None, DIGITS), (0, 1, b"0"), (3, 6, b"345"), (3, None, b"3456789"), (9, 10, b"9"), (5, 99, b"56789")],
    )
    def test_a_range_has_exactly_its_bytes(
        self, objects: ObjectStore, start: int, stop: int | None, expected: bytes
    ) -> None:
        objects.put("digits", DIGITS)
        with objects.get("digits", start=start, stop=stop) as download:
            assert b"".join(download) == expected
            assert (download.start, download.stop) == (start, start + len(expected))
            assert download.stored.size == 10, "the size is that of the whole object"

    def test_an_object_that_is_a_file_of_this_machine_can_be_read_as_one(self, objects: ObjectStore) -> None:
        with pytest.raises(NotFound):
            objects.local_file("a/b.txt")
        objects.put("a/b.txt", DIGITS)
        path = objects.local_file("a/b.txt")
        assert path is None or path.read_bytes() == DIGITS

    @pytest.mark.parametrize("start", [10, 11, 1000])
    def test_a_range_behind_the_end_is_refused(self, objects: ObjectStore, start: int) -> None:
        objects.put("digits", DIGITS)
        with pytest.raises(WrongRange):
            objects.get("digits", start=start)

    def test_an_empty_object_has_its_beginning_but_nothing_behind_it(self, objects: ObjectStore) -> None:
        objects.put("empty", b"")
        assert objects.get("empty", stop=10).read() == b""
        with pytest.raises(WrongRange):
            objects.get("empty", start=1)

    @pytest.mark.parametrize(("start", "stop"), [(-1, None), (2, 2), (3, 2)])
    def test_a_range_that_is_none_is_refused(self, objects: ObjectStore, start: int, stop: int | None) -> None:
        objects.put("digits", DIGITS)
        with pytest.raises(InvalidValue, match="no range"):
            objects.get("digits", start=start, stop=stop)

    def test_what_is_not_there_is_not_found(self, objects: ObjectStore) -> None:
        objects.put("a/b", b"")
        for key in ("b", "a", "a/b/c", "a/c"):
            for use in (objects.get, objects.head):
                with pytest.raises(NotFound, match=key):
                    use(key)

    def test_a_download_may_be_given_up(self, objects: ObjectStore) -> None:
        objects.put("large", bytes(3 * MEGABYTE))
        with objects.get("large") as download:
            first = next(iter(download))
        assert 0 < len(first) < 3 * MEGABYTE, "it comes in pieces"
        assert objects.get("large").stored.size == 3 * MEGABYTE

    def test_what_was_deleted_is_gone_and_may_be_deleted_again(self, objects: ObjectStore) -> None:
        """TA-14: deleting an absent object is success."""
        objects.put("a/b", b"")
        objects.put("a/c", b"")
        objects.delete(["a/b", "never"])
        objects.delete(["a/b"])
        objects.delete([])
        with pytest.raises(NotFound):
            objects.head("a/b")
        assert objects.head("a/c").size == 0

    def test_only_the_bytes_that_were_found_are_removed(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        found = objects.head("a")
        objects.put("a", PNG)
        assert objects.delete_unchanged(found) is False
        assert objects.get("a").read() == PNG
        assert objects.delete_unchanged(objects.head("a")) is True
        with pytest.raises(NotFound):
            objects.head("a")

    def test_what_is_gone_need_not_be_removed(self, objects: ObjectStore) -> None:
        objects.put("a", WAV)
        found = objects.head("a")
        objects.delete(["a"])
        assert objects.delete_unchanged(found) is True
        assert objects.delete_unchanged(replace(found, key="b/c")) is True
