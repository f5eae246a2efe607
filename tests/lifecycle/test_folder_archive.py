"""The archive in a folder: whole files, written once, under names that stay inside."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ARCHIVE, InvalidValue, NotFound, Unavailable
from penstock.lifecycle.folder_archive import FolderArchive
from penstock.ports.archive import Archive


@pytest.fixture
def archive(tmp_path: Path) -> FolderArchive:
    return FolderArchive(tmp_path / "deep" / "archive")


def test_a_file_comes_back_as_it_was_put(archive: Archive) -> None:
    assert archive.put("a/b/c.jsonl.gz", b"\x00\xff") is True
    assert archive.get("a/b/c.jsonl.gz") == b"\x00\xff"
    assert archive.exists("a/b/c.jsonl.gz")
    assert not archive.exists("a/b")
    assert not archive.exists("a/b/d")


def test_what_is_there_is_never_replaced(archive: Archive) -> None:
    archive.put("a", b"first")
    second = iter([b"second"])
    assert archive.put("a", second) is False
    assert archive.get("a") == b"first"
    assert next(second) == b"second", "nor is it written once more"


@pytest.mark.parametrize("has_links", [True, False])
def test_two_writers_of_one_name_leave_one_of_their_files(
    archive: FolderArchive, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    """The other comes between the look and the naming."""
    link = os.link

    def late(source: Any, target: Any) -> None:
        Path(target).write_bytes(b"theirs")
        if not has_links:
            raise OSError(errno.EPERM, "Operation not permitted")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    assert archive.put("a", b"ours") is False
    assert archive.get("a") == b"theirs"
    assert [path.name for path in archive.folder.iterdir()] == ["a"]


def test_a_file_and_every_name_that_leads_to_it_are_on_the_disk(
    archive: FolderArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder's names are, once it is flushed itself; and whoever is told of a file may remove what it was made of."""
    flushed, fsync = list[int](), os.fsync

    def note(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    archive.put("a/b/c", b"content")
    assert flushed == [(archive.folder / name).stat().st_ino for name in ("a/b/c", "a/b", "a", "")]


def test_names_are_listed_in_order_by_prefix(archive: FolderArchive) -> None:
    assert list(archive.list()) == []
    for name in ("b/2", "b/10", "a/1", "b.json"):
        archive.put(name, b"")
    (archive.folder / ".a.0123456789abcdef").write_bytes(b"which somebody has not finished")
    assert list(archive.list()) == ["a/1", "b.json", "b/10", "b/2"]
    assert list(archive.list("b/")) == ["b/10", "b/2"]
    assert list(archive.list("b/1")) == ["b/10"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/a",
        "a/",
        "a//b",
        "../a",
        "a/../b",
        "..",
        ".",
        "a/.b",
        "a\\b",
        "a\0b",
        "a b",
        "a\n",
        "ü",
        "C:a",
        "~a",
        "a" * 300,
    ],
)
def test_a_name_that_could_leave_the_folder_is_refused(archive: Archive, name: str) -> None:
    for use in (
        lambda: archive.put(name, b""),
        lambda: archive.get(name),
        lambda: list(archive.pieces(name)),
        lambda: archive.exists(name),
    ):
        with pytest.raises(InvalidValue, match="cannot be the name"):
            use()


def test_a_link_that_leads_out_of_the_folder_is_refused(archive: FolderArchive, tmp_path: Path) -> None:
    archive.put("a/b", b"")
    (tmp_path / "outside").mkdir()
    (archive.folder / "c").symlink_to(tmp_path / "outside")
    for use in (
        lambda: archive.put("c/d", b""),
        lambda: archive.get("c/d"),
        lambda: list(archive.pieces("c/d")),
        lambda: archive.exists("c/d"),
    ):
        with pytest.raises(InvalidValue, match="leads out"):
            use()
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_file_that_is_not_there_is_not_found(archive: Archive) -> None:
    with pytest.raises(NotFound, match="has no a/b"):
        archive.get("a/b")
    archive.put("a/b", b"")
    for name in ("a", "a/b/c", "a/c"):
        with pytest.raises(NotFound, match=f"has no {name}"):
            archive.get(name)
        with pytest.raises(NotFound, match=f"has no {name}"):
            next(archive.pieces(name))


def test_an_interrupted_write_leaves_no_file(archive: FolderArchive, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="No space left"):
        archive.put("a", b"content")
    assert not archive.exists("a")
    assert list(archive.list()) == []
    assert list(archive.folder.iterdir()) == []


def test_a_file_system_without_links_will_do(archive: FolderArchive, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Any, target: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert archive.put("a", b"first") is True
    assert archive.put("a", b"second") is False
    assert archive.get("a") == b"first"
    assert list(archive.list()) == ["a"]


def test_a_file_that_cannot_be_named_is_not_there(archive: FolderArchive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where there are no links is a file renamed, as that replaces whatever has the name by then."""

    def refuse(source: Any, target: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(Unavailable, match="Input/output error") as refused:
        archive.put("a", b"content")
    assert refused.value.part == ARCHIVE
    assert list(archive.folder.iterdir()) == []
