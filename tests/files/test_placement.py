"""Placement: a file takes a free place, and never that of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.errors import Conflict
from penstock.files.placement import put_in_free_place
from penstock.objects import LocalObjects
from penstock.ports.object_store import ObjectStore
from tests.objects.faults import Fate, Mortal


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.txt"
    path.write_bytes(b"ours")
    return path


def test_a_file_takes_a_free_place_once_and_never_that_of_another(objects: ObjectStore, file: Path) -> None:
    assert put_in_free_place(objects, "a.txt", file)
    first = objects.head("a.txt")
    assert put_in_free_place(objects, "a.txt", file), "a try that died has left the same bytes"
    assert (objects.get("a.txt").read(), objects.head("a.txt").etag) == (b"ours", first.etag)
    objects.put("a.txt", b"another's")
    assert not put_in_free_place(objects, "a.txt", file)
    assert objects.get("a.txt").read() == b"another's"


def test_a_place_that_was_taken_and_is_empty_again_is_not_ours(local: LocalObjects, file: Path) -> None:
    """Whoever stood there has just gone: nothing lies there, so nothing may point there."""

    class Gone(Mortal):
        def put(self, *args: Any, **conditions: Any) -> Any:
            raise Conflict("somebody stands there")

    assert put_in_free_place(Gone(local, Fate()), "a.txt", file) is False
