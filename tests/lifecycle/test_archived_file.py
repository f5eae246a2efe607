"""Files in an archive: kept once under the hash of their bytes, read back, and brought back as they were."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import Conflict
from penstock.lifecycle.archived_file import ArchivedFile, DamagedArchive, bring_back, keep_file
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.lifecycle.object_archive import ObjectArchive
from penstock.objects import LocalObjects
from penstock.ports.object_store import ObjectStore

MEGABYTE = 1024 * 1024


@pytest.fixture
def archive(tmp_path: Path) -> FolderArchive:
    return FolderArchive(tmp_path / "archive")


def kept(archive: Any, objects: Any, key: str) -> ArchivedFile:
    file = keep_file(archive, objects, key, alive=lambda: None)
    assert file is not None
    return file


def test_a_file_goes_to_the_archive_and_comes_back(objects: ObjectStore) -> None:
    cold, content = ObjectArchive(objects), b"\x00\xff" * 300_000
    objects.put("a/one", content)
    objects.put("a/same", content)
    one, same = kept(cold, objects, "a/one"), kept(cold, objects, "a/same")
    assert (one.name, one.size) == (same.name, 600_000), "the same bytes are kept once"
    assert one.sha256 == sha256(content).hexdigest()
    assert ArchivedFile.of_line(one.line()) == one
    objects.delete(["a/one"])
    assert keep_file(cold, objects, "a/one", alive=lambda: None) is None
    for _ in range(2):
        bring_back(cold, objects, one)
        assert objects.get("a/one").read() == content
    objects.put("a/one", b"another")
    with pytest.raises(Conflict, match="another file lies at a/one"):
        bring_back(cold, objects, one)
    assert objects.get("a/one").read() == b"another"


def test_a_large_file_passes_piece_by_piece(local: LocalObjects, archive: FolderArchive) -> None:
    local.put("a/large", (bytes([n]) * MEGABYTE for n in range(24)))
    tracemalloc.start()
    try:
        file = kept(archive, local, "a/large")
        local.delete(["a/large"])
        bring_back(archive, local, file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert local.head("a/large").size == file.size == 24 * MEGABYTE
    assert peak < 8 * MEGABYTE


def test_whoever_copies_is_alive_with_every_piece(local: LocalObjects, archive: FolderArchive) -> None:
    """So that a lease outlasts the largest file."""
    local.put("a/large", bytes(3 * MEGABYTE))
    beats: list[None] = []
    assert keep_file(archive, local, "a/large", alive=lambda: beats.append(None)) is not None
    assert len(beats) > 3 * 3


def test_a_file_that_changes_while_it_is_copied_is_not_kept(local: LocalObjects, archive: FolderArchive) -> None:
    local.put("a/one", b"as it was read first")

    class Replaced:
        """Objects of which one is replaced once it was read."""

        def __getattr__(self, name: str) -> Any:
            return getattr(local, name)

        def get(self, key: str) -> Any:
            download = local.get(key)
            local.put(key, b"and then replaced")
            return download

    with pytest.raises(DamagedArchive, match="not those which were first read"):
        keep_file(archive, Replaced(), "a/one", alive=lambda: None)  # type: ignore[arg-type]
    assert list(archive.list()) == []


def test_what_the_archive_has_lost_is_told(local: LocalObjects, archive: FolderArchive) -> None:
    local.put("a/one", b"bytes")
    file = kept(archive, local, "a/one")
    (archive.folder / file.name).unlink()
    local.delete(["a/one"])
    with pytest.raises(DamagedArchive, match="has lost"):
        bring_back(archive, local, file)


def test_after_many_damaged_copies_somebody_has_to_look(local: LocalObjects, archive: FolderArchive) -> None:
    local.put("a/one", b"bytes")
    for path in _copies(archive, kept(archive, local, "a/one")):
        path.write_bytes(b"damaged")
    with pytest.raises(DamagedArchive, match="all 9 copies"):
        keep_file(archive, local, "a/one", alive=lambda: None)


def _copies(archive: FolderArchive, file: ArchivedFile) -> Iterator[Path]:
    yield archive.folder / file.name
    for number in range(2, 10):
        yield archive.folder / f"{file.name}.{number}"
