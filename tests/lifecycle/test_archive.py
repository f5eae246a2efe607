"""An archive in an object store: what the one in a folder promises, and the retention of records upon it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from penstock import FrozenClock, open_store
from penstock.domains.assetcreator.model import DOMAIN, Job
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.errors import NotFound
from penstock.lifecycle.bundle import bundles, restore
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.lifecycle.object_archive import ObjectArchive
from penstock.lifecycle.retention import Retention
from penstock.objects import LocalObjects
from penstock.ports.archive import Archive
from penstock.ports.object_store import ObjectStore
from penstock.runtime.composition import open_archive
from penstock.work.working import WORKING


@pytest.fixture
def archive(objects: ObjectStore) -> Archive:
    objects.put("other/file", b"of somebody else")
    return ObjectArchive(objects)


def test_a_file_comes_back_as_it_was_put(archive: Archive, objects: ObjectStore) -> None:
    assert archive.put("a/b/c.jsonl.gz", b"\x00\xff") is True
    assert archive.get("a/b/c.jsonl.gz") == b"\x00\xff"
    assert archive.exists("a/b/c.jsonl.gz")
    assert not archive.exists("a/b")
    assert objects.get("archive/a/b/c.jsonl.gz").read() == b"\x00\xff"
    with pytest.raises(NotFound, match="the archive has no a/d"):
        archive.get("a/d")


def test_what_is_large_is_put_and_got_in_pieces(archive: Archive, tmp_path: Path) -> None:
    """And what breaks off on its way is not there at all."""
    for each in (archive, FolderArchive(tmp_path / "cold")):
        assert each.put("a/large", (bytes([n]) * 300_000 for n in range(5))) is True
        pieces = list(each.pieces("a/large"))
        assert len(pieces) > 1
        assert b"".join(pieces) == each.get("a/large") == b"".join(bytes([n]) * 300_000 for n in range(5))
        with pytest.raises(ZeroDivisionError):
            each.put("a/broken", (bytes(1 // (2 - n)) for n in range(4)))
        assert not each.exists("a/broken")
        with pytest.raises(NotFound, match="has no a/broken"):
            list(each.pieces("a/broken"))


def test_what_is_there_is_never_replaced(archive: Archive) -> None:
    archive.put("a", b"first")
    assert archive.put("a", b"second") is False
    assert archive.get("a") == b"first"


def test_names_are_listed_in_order_by_prefix(archive: Archive) -> None:
    assert list(archive.list()) == []
    for name in ("b/2", "b/10", "a/1", "b.json"):
        archive.put(name, b"")
    assert list(archive.list()) == ["a/1", "b.json", "b/10", "b/2"]
    assert list(archive.list("b/")) == ["b/10", "b/2"]
    assert list(archive.list("b/1")) == ["b/10"]


def test_records_are_archived_there_before_they_leave(archive: Archive, objects: ObjectStore, tmp_path: Path) -> None:
    """AC-42: in cold storage first, then removed."""
    clock = FrozenClock()
    store = open_store(f"sqlite:///{tmp_path}/store.db", clock=clock)
    store.ensure(DOMAIN, WORKING)
    job = Job(
        project_id="p",
        job_id="j",
        asset_type=AssetType.PROP,
        status=Status.DONE,
        current_step=StepName.RIG,
        created_at=clock.now(),
        updated_at=clock.now(),
    )
    store.create(job)
    clock.advance(timedelta(days=91))
    retention = Retention(store, archive, [DOMAIN], owner="retention", objects=objects)
    assert sum(done.removed for done in retention.run()) == 1
    assert store.lookup(job.ref) is None
    (name,) = bundles(archive)
    assert list(restore(archive, name, [DOMAIN])) == [job]


def test_a_place_is_a_folder_or_a_url(tmp_path: Path) -> None:
    assert isinstance(open_archive(str(tmp_path)), FolderArchive)
    cold = open_archive(f"files:///{tmp_path}/cold")
    cold.put("a", b"kept")
    assert LocalObjects(tmp_path / "cold").get("archive/a").read() == b"kept"
