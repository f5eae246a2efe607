"""Videos in the terminal, as somebody uses it: added, imported, listed, played and removed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from penstock import open_store
from penstock.domains.videos.model import Submission, SubmissionStatus
from penstock.domains.videos.video_lines import as_data, length, table_of
from penstock.media.probe import probe
from tests.cli.conftest import Penstock
from tests.domains.videos.films import made
from tests.domains.videos.records import a_video
from tests.work.soon import soon

ID = re.compile(r"^([0-9a-f-]{36})  (\S+) · ", re.MULTILINE)
USER = ("--user", "ann")


def test_a_file_is_added_listed_played_and_removed(
    penstock: Penstock, folder: Path, film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "text [red].mp4").write_text("no film")
    said = penstock("videos", "add", "nothing.mp4", "text [red].mp4", str(film), *USER, "--tag", "launch", "-c", "demo")
    assert said.code == 1, "two were refused"
    assert "refused: nothing.mp4: the file cannot be read: No such file or directory" in said.out
    assert "refused: text [red].mp4: the file is text" in said.out
    [(video_id, name)] = ID.findall(said.out)
    assert name == str(film)
    assert f"{film} · 2.0 s · 320x180 · " in said.out
    assert said.err == ""
    again = penstock("videos", "add", str(film), *USER)
    assert (again.code, video_id in again.out, "was there already" in again.out) == (0, True, True)
    assert "as it was" not in again.out
    other = penstock("videos", "add", str(film), *USER, "--tag", "other", "--title", "Another", "--lasts", "60").out
    assert "its title and tags and end stay as they were" in other
    assert f"PATCH /api/vm/videos/{video_id} and PUT /api/vm/videos/{video_id}/end" in other

    for asked in (USER, ("--category", "demo"), ("--tag", "launch")):
        [listed] = penstock("videos", "list", *asked, "--json").json
        assert (listed["video_id"], listed["status"], listed["duration"]) == (video_id, "ready", 2000)
    assert video_id in penstock("videos", "list", *USER).out
    assert penstock("videos", "list", "--user", "ben").out == "No videos.\n"

    played = penstock("videos", "play", video_id)
    title, path, link = played.out.splitlines()
    assert title.startswith("film · 2.0 s · 320x180")
    assert probe(Path(path)).picture is not None, "it is a file that any player plays"
    assert re.fullmatch(r"While `penstock up` runs: http://127\.0\.0\.1:8000/api/vm/watch/\S+/master\.m3u8", link)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(folder))
        nobody = penstock("videos", "play", video_id, "--open")
        assert (nobody.code, "nothing on this machine opens videos" in nobody.err) == (2, True)
        told = folder / "told"
        (folder / "xdg-open").write_text(f'#!/bin/sh\necho "$1" > "{told}"\n')
        (folder / "xdg-open").chmod(0o700)
        [rung] = listed["rungs"]
        assert penstock("videos", "play", video_id, "--rung", rung, "--open").code == 0
        soon(lambda: told.exists() and told.read_text() == f"{path}\n")
    wrong = penstock("videos", "play", video_id, "--rung", "999p")
    assert (wrong.code, f"there is no rung 999p of this video; there are {rung}" in wrong.err) == (2, True)

    removed = penstock("videos", "remove", video_id, str(uuid4()), "--yes")
    assert (removed.code, f"film ({video_id}) is removed." in removed.out, "there is no video" in removed.out) == (
        1,
        True,
        True,
    )
    assert not [path for path in Path(".penstock/objects").rglob("*.mp4") if path.is_file()]
    assert penstock("videos", "play", video_id).code == 2


def test_a_folder_is_imported_and_again_nothing_is_doubled(penstock: Penstock, folder: Path, film: Path) -> None:
    films = folder / "films"
    (films / "trips" / "sea").mkdir(parents=True)
    for name in ("first.mp4", "trips/sea/copy\nof first.mp4"):
        (films / name).write_bytes(film.read_bytes())
    made(films / "trips" / "short.mp4", seconds=1)
    (films / "trips" / "notes.txt").write_text("where we were")
    (films / "trips" / "cut.mp4").write_bytes(film.read_bytes()[:5000])
    (films / ".DS_Store").touch()
    (films / "trips" / "up").symlink_to(films, target_is_directory=True)
    asked = ("videos", "import", "films", *USER, "--folders-are-categories", "--tag", "trip")
    said = penstock(*asked)
    assert said.code == 1, "one was refused"
    assert said.out.endswith("2 added, 1 there already, 1 refused, 2 passed over, 1 hidden.\n")
    assert "passed over: trips/notes.txt: it is no video but text/plain" in said.out
    assert "passed over: trips/up: it is a link to a folder" in said.out
    assert "refused: trips/cut.mp4: the" in said.out
    assert r"trips/sea/copy\nof first.mp4 · " in said.out
    again = penstock(*asked)
    assert again.out.endswith("3 there already, 1 refused, 2 passed over, 1 hidden.\n")
    listed = {video["title"]: video["category"] for video in penstock("videos", "list", *USER, "--json").json}
    assert listed == {"first": None, "short": "trips"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("add", "a.mp4", "b.mp4", "--user", "ann", "--title", "both"), "--title is for one video"),
        (("add", "a.mp4", "--user", ""), "--user: "),
        (("add", "a.mp4", "--user", "ann", "--category", "c" * 101), "--category: "),
        (("add", "a.mp4", "--user", "ann", "--tag", " "), "a tag is empty"),
        (("add", "a.mp4", "--user", "ann", "--title", ""), "--title: "),
        (("import", "nowhere", "--user", "ann"), "nowhere is no folder"),
        (("list",), "--user, --category, --tag"),
        (("list", "--user", "ann", "--tag", "launch"), "tags are not asked for together with"),
        (("play", "00000000-0000-4000-8000-000000000000"), "there is no Video"),
        (("play", "00000000-0000-1000-8000-000000000000"), "00000000-0000-1000-8000-000000000000"),
        (("play", "film"), "UUID"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(penstock: Penstock, words: tuple[str, ...], why: str) -> None:
    said = penstock("videos", *words)
    assert said.code == 2
    assert why in said.err


def test_ctrl_c_leaves_nothing_half_and_the_next_goes_on(penstock: Penstock, folder: Path) -> None:
    made(folder / "long.mp4", seconds=6)
    command = [sys.executable, "-m", "penstock", "videos", "add", "long.mp4", *USER]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True)
    store = None

    def has_arrived() -> bool:
        nonlocal store
        if store is None and Path(".penstock/penstock.db").exists():
            store = open_store("sqlite:///.penstock/penstock.db")
        try:
            return store is not None and any(
                each.status is not SubmissionStatus.AWAITED for each in store.find(Submission.of_user(user_id="ann"))
            )
        except Exception:
            return False  # its tables are just being made

    soon(has_arrived, seconds=60)
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert (process.returncode, told) == (130, "Stopped. Say the same again, and it goes on where it was.\n")
    said = penstock("videos", "add", "long.mp4", *USER)
    assert said.code == 0, said.out
    assert len(penstock("videos", "list", *USER, "--json").json) == 1


def test_the_help_says_what_the_videos_group_does(penstock: Penstock) -> None:
    assert "Add, import, list, play, remove." in penstock("--help").out


def test_no_film_is_shown_to_last_no_time() -> None:
    assert [length(each) for each in (1, 42, 100, 2000, 60_000)] == ["1 ms", "42 ms", "0.1 s", "2.0 s", "1:00"]


def test_a_list_tells_how_often_each_video_was_seen_and_its_best_rung_first() -> None:
    rungs = {"360p": "videos/a/360.mp4", "1080p": "videos/a/1080.mp4", "720p": "s3://elsewhere/720.mp4"}
    seen = a_video(title="One\n[red]", view_count=7, tags={"b", "a"}, resolutions=rungs, file_size=1_500_000)
    told, untold = as_data(seen), as_data(a_video())
    assert (told["view_count"], told["tags"], told["rungs"]) == (7, ["a", "b"], ["1080p", "360p"])
    assert (untold["view_count"], untold["tags"], untold["rungs"]) == (0, [], [])
    columns = {str(each.header): [str(cell) for cell in each.cells] for each in table_of([seen, a_video()]).columns}
    assert (columns["views"], columns["tags"], columns["size"]) == (["7", "0"], ["a, b", ""], ["1.5 MB", ""])
    assert (columns["title"][0], columns["added (UTC)"][0]) == (r"One\n[red]", "2024-06-06 03:40")
