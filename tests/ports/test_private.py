"""What lies in the embedded folder is its owner's alone."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock import open_store
from penstock.auth.api_keys import ApiKey
from penstock.objects import LocalObjects
from penstock.ports.private import close_to_others, keep, make_private, make_private_file
from penstock.runtime.composition import open_archive


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    return [str(p.relative_to(folder)) for p in (folder, *folder.rglob("*")) if mode(p) & 0o077]


def test_records_files_and_archives_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    store = open_store(f"sqlite:///{home}/penstock.db")
    store.ensure()
    store.lookup(ApiKey.at(key_id="none"))
    objects = LocalObjects(home / "objects")
    objects.put("a/b.txt", b"text")
    objects.put_part("a/c", objects.begin_parts("a/c", content_type="text/plain"), 1, b"part")
    open_archive(f"{home}/archive").put("2026/a.json", b"{}")
    found = list(home.rglob("*"))
    assert {"penstock.db", "penstock.db-wal", "b.txt", "a.json"} <= {p.name for p in found}
    assert open_to_others(tmp_path / "new") == []
    store.close()


def test_what_others_could_read_is_closed_and_links_are_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    home = tmp_path / "home"
    (home / "objects" / "deep").mkdir(parents=True)
    (home / "objects" / "deep" / "a").write_text("a")
    (home / "penstock.db").write_text("b")
    (home / "link").symlink_to(outside)
    close_to_others(home)
    assert [p for p in open_to_others(home) if p != "link"] == []
    assert mode(home) == 0o700
    assert mode(outside) & 0o044, "what a link leads to is somebody else's"


def test_an_interrupted_closing_is_taken_up_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "a").touch(0o600)
    (home / "b").touch(0o644)
    close_to_others(home)
    assert open_to_others(home) == []
    (home / "c").touch(0o644)
    close_to_others(home)
    assert open_to_others(home) == ["c"], "a closed folder is not walked at every start"
    close_to_others(tmp_path / "none")


def test_an_open_folder_of_somebody_else_is_used_as_it_is(tmp_path: Path) -> None:
    make_private(tmp_path)
    assert mode(tmp_path) == mode(tmp_path.parent / tmp_path.name)
    make_private_file(tmp_path / "x")
    (tmp_path / "x").chmod(0o640)
    make_private_file(tmp_path / "x")
    assert mode(tmp_path / "x") == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["x"], "nothing else is left behind"


def test_of_several_that_keep_a_file_one_is_first(tmp_path: Path) -> None:
    threads = [threading.Thread(target=keep, args=(f"{n}" * 1000, tmp_path / "key")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = (tmp_path / "key").read_text()
    assert len(text) == 1000
    assert len(set(text)) == 1
    assert mode(tmp_path / "key") == 0o600
