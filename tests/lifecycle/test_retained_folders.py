"""A record that leaves takes along what lies in its folder: file by file to the archive, then to the trash."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.files.released_file import Released, ReleasedStatus
from penstock.lifecycle.archived_file import bring_back
from penstock.lifecycle.bundle import find_record, manifest_of
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.lifecycle.retention import Archived, Retention
from penstock.objects import LocalObjects
from penstock.ports.clock import Clock
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import ListedObject, ObjectListing
from tests.files.streams import DOMAIN, Reel, StreamWorld, Take
from tests.objects.faults import Death, Fate, Mortal

DAY = timedelta(days=1)
FOLDER = "reels/1/"
FILES = [f"{FOLDER}{name}" for name in ("0.m4s", "a/1.m4s", "a/b/été 2.m4s")]


@pytest.fixture
def reels(films: Store, objects: ObjectStore, present: FrozenClock) -> StreamWorld:
    films.ensure(DOMAIN)
    return StreamWorld(films, objects, present)


@pytest.fixture
def near(films: Store, open_local: Callable[[Clock | None], LocalObjects], present: FrozenClock) -> StreamWorld:
    films.ensure(DOMAIN)
    return StreamWorld(films, open_local(present), present)


@pytest.fixture
def archive(tmp_path: Path) -> FolderArchive:
    return FolderArchive(tmp_path / "archive")


def reel(world: StreamWorld, name: str = "1", **fields: Any) -> Reel:
    made = Reel(reel=name, made_at=world.clock.now(), **fields)
    world.store.create(made)
    return made


def retire(world: StreamWorld, archive: FolderArchive, **options: Any) -> Archived:
    retention = Retention(world.store, archive, [DOMAIN], owner="r", objects=world.objects, **options)
    (due,), (done,) = retention.plan(), retention.run()
    assert (due.files, due.file_bytes, due.missing) == (done.files, done.file_bytes, done.missing)
    return done


def test_the_files_of_a_folder_are_archived_one_by_one_and_go(reels: StreamWorld, archive: FolderArchive) -> None:
    kept = reel(reels, folder=FOLDER, label=f"{FOLDER}label.txt")
    reels.put([*FILES, f"{FOLDER}label.txt", "reels/10/0.m4s"])
    reels.clock.advance(31 * DAY)
    done = retire(reels, archive)
    assert (done.removed, done.files, done.missing) == (1, 4, 0)
    (bundle,) = done.bundles
    assert json.loads(archive.get(manifest_of(bundle)))["files"] == 4
    found, files = find_record(archive, bundle, kept.ref, Reel)
    assert found == kept
    assert sorted(file.key for file in files) == sorted([*FILES, f"{FOLDER}label.txt"])
    (released,) = reels.store.find(Released.by_status(status=ReleasedStatus.WAITING))
    assert (released.files, released.folders) == ([f"{FOLDER}label.txt"], [FOLDER]), "however many lie in it"
    assert reels.sweep().released == 4
    assert f"{FOLDER}0.m4s" not in reels.lying()
    for file in files:
        bring_back(archive, reels.objects, file)
        assert reels.objects.get(file.key).read() == file.key.encode()


def test_of_a_bundle_each_record_has_its_own_files(near: StreamWorld, archive: FolderArchive) -> None:
    kept = [reel(near, name, folder=f"reels/{name}/") for name in ("1", "2")]
    near.put(["reels/1/0.m4s", "reels/2/0.m4s", "reels/2/1.m4s"])
    near.clock.advance(31 * DAY)
    (bundle,) = retire(near, archive).bundles
    found = [find_record(archive, bundle, each.ref, Reel)[1] for each in kept]
    assert [sorted(f.key for f in files) for files in found] == [["reels/1/0.m4s"], ["reels/2/0.m4s", "reels/2/1.m4s"]]


def test_what_another_record_holds_is_neither_archived_nor_gone(near: StreamWorld, archive: FolderArchive) -> None:
    theirs = f"{FOLDER}takes/a/"
    reel(near, folder=FOLDER)
    near.store.create(Take(reel="1", take=7, folder=theirs))
    near.put([*FILES, f"{theirs}0.m4s", f"{theirs}a/1.m4s", f"{FOLDER}takes/ab/0.m4s"])
    near.clock.advance(31 * DAY)
    assert retire(near, archive).files == len(FILES) + 1
    near.sweep()
    near.clock.advance(2 * DAY)
    near.sweep()
    assert near.lying() == [f"{theirs}0.m4s", f"{theirs}a/1.m4s"]


def test_an_empty_folder_leaves_without_a_word(near: StreamWorld, archive: FolderArchive) -> None:
    reel(near, folder=FOLDER)
    near.clock.advance(31 * DAY)
    done = retire(near, archive)
    assert (done.removed, done.files, done.missing) == (1, 0, 0)
    assert list(near.store.find(Released.by_status(status=ReleasedStatus.WAITING))) == []


def test_names_that_are_no_keys_keep_no_record_from_leaving(near: StreamWorld, archive: FolderArchive) -> None:
    real, at = near.objects, near.clock.now()

    class WithStrangers(Mortal):
        def list(self, prefix: str = "", **more: Any) -> ObjectListing:
            listed = real.list(prefix, **more)
            strange = [ListedObject(f"{FOLDER}{name}", 0, "0", at) for name in ("", "a//b", "..", "q?x=1")]
            return ObjectListing([*(s for s in strange if s.key.startswith(prefix)), *listed.objects], listed.cursor)

    reel(near, folder=FOLDER)
    near.put(FILES)
    near.clock.advance(31 * DAY)
    near.objects = WithStrangers(real, Fate())
    assert retire(near, archive).files == len(FILES)
    assert near.sweep().released == len(FILES)


def test_records_with_many_files_leave_in_several_bundles(near: StreamWorld, archive: FolderArchive) -> None:
    """So that no bundle has more lines than can be held in memory."""
    for name in ("1", "2", "3"):
        reel(near, name, folder=f"reels/{name}/")
        near.put(f"reels/{name}/{number}.m4s" for number in range(5))
    near.clock.advance(31 * DAY)
    done = retire(near, archive, batch_bytes=2000)
    assert (done.removed, done.files, len(done.bundles)) == (3, 15, 3)


def test_a_run_that_dies_among_the_files_of_a_folder_is_ended_by_the_next(
    near: StreamWorld, archive: FolderArchive
) -> None:
    real, at = near.objects, 0
    while True:
        kept = reel(near, folder=FOLDER)
        near.put(FILES)
        near.clock.advance(31 * DAY)
        near.objects, died = Mortal(real, Fate(at), "list", "get"), False
        try:
            Retention(near.store, archive, [DOMAIN], owner="r", objects=near.objects).run()
        except Death:
            died = True
        near.objects = real
        if died:
            assert near.store.lookup(kept.ref) == kept
            assert near.lying() == sorted(FILES)
            near.clock.advance(timedelta(hours=1))
            assert retire(near, archive).removed == 1
        assert near.sweep().released == len(FILES)
        real.delete(found.key for _, found in list(near.trash.files()))
        if not died:
            break
        at += 3
    assert at >= 4
