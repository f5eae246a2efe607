"""Files go from one object store to another: what is there already is left alone, what did not arrive is told."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock.errors import Unavailable
from penstock.objects.local import LocalObjects
from penstock.ports.stored_object import Body, Download, ObjectListing, StoredObject
from penstock.transfer.object_transfer import ObjectTransfer, every_object

MOMENT = datetime(2037, 1, 29, tzinfo=UTC)


class Here(LocalObjects):
    """Files that are listed one at a time; which of them are read is noted, and some go right before that."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.read: list[str] = []
        self.going: list[str] = []

    def list(self, prefix: str = "", *, limit: int = 1, cursor: str | None = None) -> ObjectListing:
        return super().list(prefix, limit=limit, cursor=cursor)

    def get(self, key: str, *, start: int = 0, stop: int | None = None) -> Download:
        self.read.append(key)
        if key in self.going:
            self.delete([key])
        return super().get(key, start=start, stop=stop)


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> LocalObjects:
    return LocalObjects(tmp_path / "there")


def lay(objects: LocalObjects, key: str, content: bytes, at: datetime = MOMENT) -> None:
    objects.put(key, content)
    path = objects.local_file(key)
    assert path is not None
    os.utime(path, (at.timestamp(), at.timestamp()))


def test_only_what_was_carried_is_counted(here: Here, there: LocalObjects) -> None:
    for key in ("a/1", "a/2", "a/3"):
        here.put(key, key.encode())
    here.going = ["a/2"]
    sizes: list[int] = []
    assert ObjectTransfer(here, there).run(sizes.append) == 2
    assert sizes == [3, 3, 3]
    assert [listed.key for listed in every_object(there)] == ["a/1", "a/3"]
    assert there.get("a/3").read() == b"a/3"
    assert ObjectTransfer(here, there).run(sizes.append) == 0


def test_what_cannot_have_changed_since_it_was_carried_is_not_read_again(here: Here, there: LocalObjects) -> None:
    lay(here, "a/1", b"same")
    lay(there, "a/1", b"same", MOMENT + timedelta(minutes=5, seconds=1))
    assert ObjectTransfer(here, there).run() == 0
    assert here.read == []


@pytest.mark.parametrize(("content", "later"), [(b"else", 5), (b"longer", 9)])
def test_what_may_be_older_than_what_is_here_is_compared(
    here: Here, there: LocalObjects, content: bytes, later: int
) -> None:
    """Clocks of two stores differ by some minutes, so that what was written last is not known by its time."""
    lay(here, "a/1", content)
    lay(there, "a/1", b"same", MOMENT + timedelta(minutes=later))
    assert ObjectTransfer(here, there).run() == 1
    assert there.get("a/1").read() == content


def test_a_file_that_goes_while_it_is_compared_is_no_error(here: Here, tmp_path: Path) -> None:
    there = Here(tmp_path / "there")
    for objects in (here, there):
        lay(objects, "a/1", b"same")
    there.going = ["a/1"]
    assert ObjectTransfer(here, there).run() == 1, "it is carried over again"
    assert [listed.key for listed in every_object(there)] == ["a/1"]
    here.going, there.going = ["a/1"], []
    lay(there, "a/1", b"same")
    assert ObjectTransfer(here, there).run() == 0
    assert ObjectTransfer(here, there).remove_others() == 1
    assert list(every_object(there)) == []


@pytest.mark.parametrize("knows_sum", [True, False])
def test_a_file_that_does_not_arrive_as_it_was_read_is_told(here: Here, tmp_path: Path, knows_sum: bool) -> None:
    class There(LocalObjects):
        def put(self, key: str, body: Body, *, absent: bool = False) -> StoredObject:
            arrived = b"".join(body)  # type: ignore[arg-type]
            put = super().put(key, arrived.replace(b"whole", b"other"), absent=absent)
            return put if knows_sum else self.head(key)

    there = There(tmp_path / "there")
    here.put("a/1", b"as it was")
    assert ObjectTransfer(here, there).run() == 1
    here.put("a/2", b"whole")
    with pytest.raises(Unavailable, match="a/2 did not arrive as it was read"):
        ObjectTransfer(here, there).run()
