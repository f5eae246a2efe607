"""What the page about videos prints of the command line is what a terminal shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli import app
from penstock.cli.installed import serve
from tests.domains.videos.films import made

PAGE = Path(__file__).parents[2] / "docs" / "videos.md"


def test_the_commands_of_the_page_say_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films" / "trips").mkdir(parents=True)
    made(tmp_path / "launch.mp4")
    made(tmp_path / "films" / "trips" / "sea.mp4", seconds=1)
    (tmp_path / "films" / "trips" / "notes.txt").write_text("where we were")
    [block] = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    video_id = ""
    for asked in block.split("$ penstock ")[1:]:
        words, *printed = asked.splitlines()
        serve(())
        said = CliRunner().invoke(app, shlex.split(words.replace("ID", video_id)))
        assert said.exit_code == 0, said.output
        video_id = video_id or said.output.split()[0]
        lines = said.output.splitlines()
        for line in printed:
            wanted = ".*".join(map(re.escape, line.replace("3f2c1a9e-", "").split("…")))
            assert any(re.fullmatch(wanted, found) for found in lines), f"{line}\nis not in\n{said.output}"


def test_the_programs_of_the_pages_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made(tmp_path / "launch.mp4")
    for page, count in ((PAGE, 2), (PAGE.with_name("streams.md"), 1)):
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
        assert len(blocks) == count
        for block in blocks:
            exec(compile(block, str(page), "exec"), {})
    assert (tmp_path / "launch" / "poster.jpg").exists()
