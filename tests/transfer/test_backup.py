"""A backup of the embedded store is made while it is in use, and a restore of it is rehearsed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Conflict, InvalidValue, Misconfigured
from penstock.objects.local import LocalObjects
from penstock.runtime.composition import open_store
from penstock.runtime.embedded_backup import back_up_system, restore_system
from penstock.transfer.export_manifest import DamagedExport
from penstock.transfer.transfer_selection import Selection
from tests.transfer.films import DOMAIN, Reel, reel
from tests.transfer.test_live_copy import check_equal


@pytest.fixture
def made(full: Store, files: LocalObjects, tmp_path: Path) -> Path:
    back_up_system(f"sqlite:///{tmp_path}/full.db", f"files:///{tmp_path}/full-files", tmp_path / "backup", [DOMAIN])
    return tmp_path / "backup"


def test_a_restored_store_has_every_record_and_every_file(
    full: Store, files: LocalObjects, made: Path, selection: Selection, clock: FrozenClock, tmp_path: Path
) -> None:
    restore_system(made, f"sqlite:///{tmp_path}/new/store.db", f"files:///{tmp_path}/new/files")
    restored = open_store(f"sqlite:///{tmp_path}/new/store.db", clock=clock)
    check_equal(full, restored, selection, files, LocalObjects(tmp_path / "new" / "files"), tmp_path)
    restored.put(reel(1, at=clock.now(), title="goes on"))
    restored.close()
    assert (tmp_path / "new" / "store.db").stat().st_mode & 0o077 == 0, "it is for its owner alone"


def test_every_record_of_a_backup_has_its_file_however_busy_the_store_is(
    full: Store, files: LocalObjects, clock: FrozenClock, tmp_path: Path
) -> None:
    """Each writer writes the file first and removes it last, as every part of the system does."""
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        number = 200
        while not stop.is_set():
            new = reel(number, at=clock.now())
            files.put(str(new.clip), b"film %d" % number)
            full.put(new)
            old = reel(max(number - 3, 200), at=clock.now())
            full.delete(old.ref)
            number += 1
            written.set()

    writer = threading.Thread(target=write)
    writer.start()
    written.wait(10)
    try:
        back_up_system(
            f"sqlite:///{tmp_path}/full.db", f"files:///{tmp_path}/full-files", tmp_path / "backup", [DOMAIN]
        )
    finally:
        stop.set()
        writer.join()
    restore_system(tmp_path / "backup", f"sqlite:///{tmp_path}/new.db", f"files:///{tmp_path}/new-files")
    restored, kept = open_store(f"sqlite:///{tmp_path}/new.db", clock=clock), LocalObjects(tmp_path / "new-files")
    clips = [str(f.record.clip) for f in restored.engine.scan(Reel.__shape__).found if f.record.clip]
    assert len(clips) >= 24
    for clip in clips:
        kept.head(clip)
    restored.close()


def test_a_file_that_is_nowhere_is_told(full: Store, files: LocalObjects, tmp_path: Path) -> None:
    files.delete(["films/p3/002.bin"])
    places = f"sqlite:///{tmp_path}/full.db", f"files:///{tmp_path}/full-files"
    assert back_up_system(*places, tmp_path / "backup", [DOMAIN]).missing == ["films/p3/002.bin"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "store.db").write_bytes(b"x" * 4096), "store.db: is missing, or does not hash"),
        (lambda folder: (folder / "objects.jsonl").write_text(""), "objects.jsonl: is missing, or does not hash"),
        (
            lambda folder: LocalObjects(folder / "files").put("films/p3/002.bin", b"other"),
            "films/p3/002.bin: its bytes",
        ),
        (lambda folder: LocalObjects(folder / "files").delete(["films/p3/002.bin"]), "films/p3/002.bin: is missing"),
        (lambda folder: (folder / "backup.json").unlink(), "no backup, or one that was not completed"),
        (lambda folder: (folder / "backup.json").write_text("{}"), "no manifest of a backup"),
    ],
)
def test_a_damaged_backup_restores_nothing_and_says_what_is_damaged(
    made: Path, tmp_path: Path, damage: Callable[[Path], object], said: str
) -> None:
    damage(made)
    with pytest.raises(DamagedExport, match=said):
        restore_system(made, f"sqlite:///{tmp_path}/new.db", f"files:///{tmp_path}/new-files")
    assert not (tmp_path / "new.db").exists()
    assert not (tmp_path / "new-files").exists()


def test_nothing_is_overwritten(made: Path, tmp_path: Path) -> None:
    there = f"sqlite:///{tmp_path}/full.db", f"files:///{tmp_path}/full-files"
    with pytest.raises(Conflict, match="is there already; move it away"):
        restore_system(made, *there)
    with pytest.raises(InvalidValue, match="not empty"):
        back_up_system(*there, made, [DOMAIN])
    with pytest.raises(Misconfigured, match="no embedded store; its server has backups of its own"):
        back_up_system("postgresql://localhost/x", there[1], tmp_path / "other", [DOMAIN])
    with pytest.raises(Misconfigured, match="no SQLite file"):
        back_up_system(f"sqlite:///{tmp_path}/none.db", there[1], tmp_path / "other", [DOMAIN])
