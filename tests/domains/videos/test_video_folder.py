"""What is in a folder: videos by their first bytes, and everything else with its reason, whatever it is called."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.domains.videos.video_folder import files_in
from penstock.domains.videos.video_lines import shown


def test_everything_in_a_folder_is_a_video_or_passed_over_for_a_reason(film: Path, tmp_path: Path) -> None:
    below = tmp_path / "trips" / "2037"
    below.mkdir(parents=True)
    for path in (tmp_path / "b.mp4", below / "a\nb.mp4", below / "no ending", tmp_path / ".hidden.mp4"):
        path.write_bytes(film.read_bytes())
    os.link(tmp_path / "b.mp4", os.fsencode(tmp_path) + b"/not utf-8 \xff.mp4")
    (tmp_path / "link.mp4").symlink_to(below / "no ending")
    (tmp_path / "loop.mp4").symlink_to("loop.mp4")
    (tmp_path / "nowhere.mp4").symlink_to("nothing")
    (below / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("no film")
    (tmp_path / "odd.mpg").write_bytes(b"\0\1\2\3" * 100)
    (tmp_path / "odd.bin").write_bytes(b"\0\1\2\3" * 100)
    os.mkfifo(tmp_path / "pipe.mp4")
    found = {shown(entry.path.relative_to(tmp_path)): entry for entry in files_in(tmp_path)}
    assert {name: entry.passed_over for name, entry in found.items() if entry.passed_over} == {
        ".hidden.mp4": "it is hidden",
        "empty.mp4": "it is empty",
        "loop.mp4": "it cannot be read: Too many levels of symbolic links",
        "nowhere.mp4": "it cannot be read: No such file or directory",
        "odd.bin": "it is no video",
        "pipe.mp4": "it is no file",
        "text.mp4": "it is no video but text/plain",
        "trips/2037/up": "it is a link to a folder, which is not followed",
    }
    assert [name for name, entry in found.items() if not entry.passed_over] == [
        *("b.mp4", "link.mp4", "not utf-8 \\udcff.mp4", "odd.mpg"),
        *("trips/2037/a\\nb.mp4", "trips/2037/no ending"),
    ]
