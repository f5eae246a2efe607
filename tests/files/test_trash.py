"""The trash by itself: a file is moved there and back, and never another that has come in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock
from penstock.files.object_reads import every
from penstock.files.trash import Purged, Trash
from penstock.objects import LocalObjects
from penstock.ports.stored_object import ListedObject, ObjectListing

DAY = timedelta(days=1)
KEY = "mv/a.mp4"


class Busy(LocalObjects):
    """A folder in which somebody else puts other bytes just after each copy."""

    late: bytes | None = None

    def copy(self, source: str, target: str, **conditions: Any) -> Any:
        copied = super().copy(source, target, **conditions)
        if self.late is not None:
            self.put(source, self.late)
        return copied


@pytest.fixture
def objects(tmp_path: Path) -> Busy:
    return Busy(tmp_path)


@pytest.fixture
def trash(objects: Busy, clock: FrozenClock) -> Trash:
    return Trash(objects, clock)


def listed(objects: LocalObjects) -> Sequence[ListedObject]:
    return list(every(objects))


def test_what_comes_while_a_file_is_moved_stays(objects: Busy, trash: Trash) -> None:
    objects.put(KEY, b"old")
    (found,) = listed(objects)
    objects.late = b"new"
    assert not trash.put(found)
    assert objects.get(KEY).read() == b"new"


def test_a_file_comes_back_to_the_end_of_its_last_day(objects: Busy, trash: Trash, clock: FrozenClock) -> None:
    objects.put(KEY, b"old")
    assert trash.put(*listed(objects))
    clock.advance(7 * DAY)
    assert trash.purge() == Purged()
    assert trash.find(KEY) is not None
    assert trash.restore(KEY)
    assert [found.key for found in listed(objects)] == [KEY]
    assert trash.put(*listed(objects))
    clock.advance(8 * DAY)
    assert trash.purge() == Purged(1, 3)
    assert not trash.restore(KEY)


def test_what_is_no_key_keeps_nothing_else_from_being_removed(
    objects: Busy, trash: Trash, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer has put it among the trash of a bucket; here nobody could."""
    objects.put("trash/2000-01-01/a", b"old")
    (found,) = listed(objects)
    strange = replace(found, key="trash/2000-01-01/a//b")
    monkeypatch.setattr(objects, "list", lambda *asked, **named: ObjectListing([strange, found], None))
    assert trash.purge() == Purged(1, 3)
    assert list(trash.files()) == [("a", found)]
