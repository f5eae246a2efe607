"""Local files: on the disk or not there, whatever happens in between; URLs by a clock that stands still."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock
from penstock.errors import Conflict, InvalidKey, InvalidValue, Misconfigured, NotFound, Unavailable, WrongRange
from penstock.files.object_reads import every
from penstock.objects import LocalObjects, RouteSigner, local, local_parts
from penstock.objects.file import identity, remove
from penstock.ports.clock import Clock
from penstock.testing.object_promises.promise import WAV, send

NOW = datetime(2037, 1, 1, tzinfo=UTC)


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = LocalObjects(tmp_path)
    objects.put("a", b"before")

    def full(descriptor: int, content: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    for key in ("a", "b"):
        with pytest.raises(Unavailable, match="No space left"):
            objects.put(key, b"content")
    monkeypatch.undo()
    assert objects.get("a").read() == b"before"
    assert [found.key for found in every(objects)] == ["a"]
    assert list((tmp_path / "unfinished").iterdir()) == []


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_process_that_dies_leaves_a_whole_object_or_none(tmp_path: Path, step: str) -> None:
    """Killed before a step, it leaves what was there; what it had begun is dropped by its age."""
    objects = LocalObjects(tmp_path)
    objects.put("a/b.txt", b"before")
    script = f"""
import os, sys
from penstock.objects import LocalObjects
def die(*args, **kwargs):
    os.kill(os.getpid(), 9)
os.{step} = die
LocalObjects(sys.argv[1]).put("a/b.txt", b"after")
"""
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path)]).returncode == -9
    assert objects.get("a/b.txt").read() == b"before"
    assert [found.key for found in every(objects)] == ["a/b.txt"]
    objects.put("a/b.txt", b"again")  # no lock outlives its holder
    left = datetime.now(UTC) + timedelta(minutes=1)
    assert objects.drop_unfinished(before=left - timedelta(hours=1)) == 0
    assert objects.drop_unfinished(before=left) == 1
    assert objects.get("a/b.txt").read() == b"again"


def test_what_is_put_or_removed_is_on_the_disk_before_anybody_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut a name without its bytes, or a folder that is gone, would be an object lost."""
    objects, steps, fsync, rename = LocalObjects(tmp_path), list[int | str](), os.fsync, os.replace

    def synced(descriptor: int) -> None:
        steps.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def named(*args: Any, **folders: Any) -> None:
        steps.append("named")
        rename(*args, **folders)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", named)
    objects.put("a/b.txt", b"content")
    root, above, folder = (tmp_path.joinpath(*names).stat().st_ino for names in ((), ("objects",), ("objects", "a")))
    before, after = steps[: steps.index("named")], steps[steps.index("named") + 1 :]
    assert (tmp_path / "objects" / "a" / "b.txt").stat().st_ino in before, "the bytes, while nobody finds them"
    assert {root, above} <= set(steps), "the folders that were made for it"
    assert folder in after, "and the name"
    objects.put("a/c.txt", b"")
    steps.clear()
    objects.delete(["a/b.txt"])
    assert steps == [folder]


def test_no_call_leaves_a_file_open(tmp_path: Path) -> None:
    """Not even one that is refused: a service would have none left after a while."""
    objects = LocalObjects(tmp_path)
    objects.put("a/b.txt", WAV)
    objects.begin_parts("a/b.txt", content_type="audio/wav")
    (tmp_path / "objects" / "link").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "objects" / "pipe.txt")
    found = objects.head("a/b.txt")
    for _ in range(2):
        upload = objects.begin_parts("c", content_type="audio/wav")
        objects.finish_parts("c", upload, [objects.put_part("c", upload, 1, b"part")])
        objects.copy("a/b.txt", "x/y/z")
        objects.delete(["x/y/z", "absent/x"])
        assert objects.get("a/b.txt").read() == WAV
        assert (len(objects.list().objects), objects.delete_unchanged(replace(found, etag="x"))) == (3, False)
        for key in ("absent", "a/b.txt/c", "link/x", "pipe.txt"):
            with pytest.raises((NotFound, InvalidKey)):
                objects.get(key)
        for refused in (partial(objects.get, "a/b.txt", start=9**9), partial(objects.put, "c", b"", absent=True)):
            with pytest.raises((WrongRange, Conflict)):
                refused()
        objects.drop_unfinished(before=datetime(2000, 1, 1, tzinfo=UTC))
    leading = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    assert [path for path in leading if path.startswith(str(tmp_path.resolve()))] == []


def test_a_folder_that_somebody_else_makes_at_the_same_moment_is_as_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mkdir = os.mkdir

    def quicker(name: str, mode: int, *, dir_fd: int) -> None:
        mkdir(name, mode, dir_fd=dir_fd)
        mkdir(name, mode, dir_fd=dir_fd)

    objects = LocalObjects(tmp_path)
    objects.put("before", b"")
    monkeypatch.setattr(os, "mkdir", quicker)
    objects.put("a/b/c.txt", b"content")
    assert objects.get("a/b/c.txt").read() == b"content"


_LOOKED = """
import sys
from penstock.errors import Conflict
from penstock.objects import LocalObjects, local

exists = local.exists
def looked(folder, name):
    there = exists(folder, name)
    print("looked", flush=True)
    sys.stdin.readline()
    return there
local.exists = looked
try:
    LocalObjects(sys.argv[1]).put("race", b"first", absent=True)
except Conflict:
    sys.exit("another was quicker")
"""


def test_several_processes_share_a_folder(tmp_path: Path) -> None:
    """One has looked and found nothing there: until its file has its name, no other process may name one."""
    command = [sys.executable, "-c", _LOOKED, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "looked\n"
        with (tmp_path / "lock").open("a") as lock:
            free = _is_free(lock.fileno())
            first.communicate("go on\n")
            assert not free, "somebody else could look as well, find nothing, and take the name"
            assert first.returncode == 0
            assert _is_free(lock.fileno())
    objects = LocalObjects(tmp_path)
    with pytest.raises(Conflict):
        objects.put("race", b"second", absent=True)
    assert objects.get("race").read() == b"first"


def test_nobody_else_writes_between_the_look_at_an_object_and_its_removal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = LocalObjects(tmp_path)
    objects.put("folder/a", b"content")
    (found,) = every(objects)
    free: list[bool] = []

    def looked(status: os.stat_result) -> str:
        with (tmp_path / "lock").open("a") as lock:
            free.append(_is_free(lock.fileno()))
        return identity(status)

    monkeypatch.setattr(local, "identity", looked)
    assert objects.delete_unchanged(found)
    assert free == [False]


def _is_free(lock: int) -> bool:
    """Whether anybody could have it who is content to share it: nobody may."""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True


def test_a_copy_is_of_the_bytes_that_were_opened(tmp_path: Path) -> None:
    """Also when they are replaced half way."""
    objects = LocalObjects(tmp_path)
    objects.put("a", b"x" * 600_000)
    with objects.get("a") as download:
        pieces = iter(download)
        begun = next(pieces)
        objects.put("a", b"y" * 600_000)
        assert begun + b"".join(pieces) == b"x" * 600_000


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    objects = LocalObjects(tmp_path / "file")
    with pytest.raises(Unavailable, match="cannot be used"):
        objects.put("a", b"")
    assert LocalObjects(tmp_path / "absent").list().objects == []
    with pytest.raises(NotFound):
        LocalObjects(tmp_path / "absent").get("a")
    assert not (tmp_path / "absent").exists(), "reading makes no folder"
    used = LocalObjects(tmp_path / "used")
    used.put("a", b"")
    with pytest.raises(NotFound):
        used.get("b/c")
    used.delete(["b/c"])
    assert [path.name for path in (tmp_path / "used" / "objects").iterdir()] == ["a+"], "nor one within"


def test_what_cannot_be_opened_is_not_taken_for_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is told that a file is gone may have it removed from records, or bring another."""
    objects, opened = LocalObjects(tmp_path), os.open
    objects.put("a.txt", b"content")

    def too_many(path: Any, *args: Any, **more: Any) -> int:
        if path == "a.txt":
            raise OSError(errno.EMFILE, "Too many open files")
        return opened(path, *args, **more)

    monkeypatch.setattr(os, "open", too_many)
    with pytest.raises(Unavailable, match="Too many open files"):
        objects.head("a.txt")
    monkeypatch.undo()
    (tmp_path / "objects" / "folder").write_bytes(b"of somebody else")
    with pytest.raises(NotFound):
        objects.head("folder/a.txt")


def test_a_file_that_somebody_cuts_off_while_it_is_read_is_not_taken_for_whole(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path)
    objects.put("a.txt", bytes(600_000))
    with objects.get("a.txt") as download:
        os.truncate(tmp_path / "objects" / "a.txt", 300_000)
        with pytest.raises(Unavailable, match="became shorter"):
            list(download)


def test_listing_is_in_order_and_goes_on_behind_a_key(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path)
    keys = ["a", "a b", "a-b", "a/b", "a/b/c", "a0", "b", "x" * 250, "x" * 250 + "/y", "x" * 250 + "-", "é"]
    for key in keys:
        objects.put(key, b"")
    ordered = sorted(keys, key=lambda key: key.encode())
    assert [found.key for found in objects.list().objects] == ordered
    for at, key in enumerate(ordered):
        assert [found.key for found in objects.list(cursor=key).objects] == ordered[at + 1 :]


@pytest.mark.parametrize(
    ("asked", "listed", "read"),
    [({}, "abcd", 5), ({"cursor": "b/file"}, "cd", 4), ({"cursor": "c"}, "cd", 3), ({"prefix": "c/"}, "c", 2)],
    ids=["all", "behind a key", "behind folders", "of a folder"],
)
def test_a_page_reads_no_folder_that_lies_before_it_or_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, str], listed: str, read: int
) -> None:
    """Else each page of a large store would cost as much as all of it."""
    objects, scandir, folders = LocalObjects(tmp_path), os.scandir, list[int]()
    for folder in "abcd":
        objects.put(f"{folder}/file", b"")

    def scanned(folder: int) -> Any:
        folders.append(folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", scanned)
    page = objects.list(asked.get("prefix", ""), cursor=asked.get("cursor"))
    assert [found.key for found in page.objects] == [f"{folder}/file" for folder in listed]
    assert len(folders) == read, "the outermost, and those that may hold something"


def test_parts_are_joined_as_they_were_seen(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path)
    upload = objects.begin_parts("a", content_type="audio/wav")
    seen = objects.put_part("a", upload, 1, b"first")
    objects.put_part("a", upload, 1, b"other")
    with pytest.raises(Conflict, match="part 1 of a has been replaced"):
        objects.finish_parts("a", upload, [seen])
    with pytest.raises(Conflict, match="part 2 of a has not arrived"):
        objects.finish_parts("a", upload, [*objects.parts("a", upload), type(seen)(2, 1, "x")])
    assert list(every(objects)) == []
    for number in (0, -1, 10_001):
        with pytest.raises(InvalidValue, match="from 1 to 10000"):
            objects.put_part("a", upload, number, b"")
    for stranger in ("..", "nonsense", "../objects", "", f"./{upload}", f"{upload}/../{upload}"):
        with pytest.raises(NotFound):
            objects.parts("a", stranger)


def test_an_upload_whose_process_died_while_it_was_dropped_is_dropped_by_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = LocalObjects(tmp_path)
    upload = objects.begin_parts("a", content_type="audio/wav")
    for number in (1, 2):
        objects.put_part("a", upload, number, b"part")

    def dying(folder: int, name: str) -> None:
        remove(folder, name)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(local_parts, "remove", dying)
        with pytest.raises(KeyboardInterrupt):
            objects.drop_parts("a", upload)
    assert [part.number for part in objects.parts("a", upload)] == [2]
    objects.drop_parts("a", upload)
    assert list((tmp_path / "parts").iterdir()) == []


def test_an_upload_without_its_key_is_dropped_when_it_is_old(tmp_path: Path) -> None:
    """It died while it was begun, or at the very end of being dropped."""
    objects = LocalObjects(tmp_path)
    upload = objects.begin_parts("a", content_type="audio/wav")
    (tmp_path / "parts" / upload / "key").unlink()
    assert objects.drop_unfinished(before=datetime(2000, 1, 1, tzinfo=UTC)) == 0
    assert objects.drop_unfinished(before=datetime(2999, 1, 1, tzinfo=UTC)) == 1
    assert list((tmp_path / "parts").iterdir()) == []


# Signed URLs, by a clock that stands still


@pytest.fixture
def served(open_local: Callable[[Clock | None], LocalObjects], clock: FrozenClock) -> LocalObjects:
    return open_local(clock)


def test_a_url_is_refused_from_its_end_on(served: LocalObjects, clock: FrozenClock) -> None:
    served.put("a", WAV)
    url = served.download_url("a", expires=timedelta(seconds=60))
    assert url.expires_at == NOW + timedelta(seconds=60)
    clock.advance(timedelta(seconds=59, milliseconds=999))
    assert send(url).status == 200
    clock.advance(timedelta(milliseconds=1))
    assert send(url).status == 403


def test_another_secret_signs_other_urls(served: LocalObjects, clock: FrozenClock) -> None:
    served.put("a", WAV)
    base = served.download_url("a").url.partition("/a?")[0]
    stranger = RouteSigner(b"another secret of 16 bytes", url=base, clock=clock)
    assert send(stranger.download_url("a")).status == 403


def test_a_short_secret_and_no_signer_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="fewer than 16 bytes"):
        RouteSigner(b"short", url="http://x")
    with pytest.raises(Misconfigured, match="signer"):
        LocalObjects(tmp_path).download_url("a")
