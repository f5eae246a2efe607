"""What the page about novae prints of the command line is what a terminal shows, and what it lists is what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.astronomy.synthetic.demo_folder import make_demo_folder
from penstock.cli import app
from penstock.cli.installed import serve
from penstock.domains import novae
from penstock.domains.novae.dataset_workflow import LEASED, RESTING, SKIPPED
from penstock.domains.novae.quarantine import SPECTRUM_HINTS
from penstock.domains.novae.workflow import WORKFLOWS
from penstock.plugin import CommandContext
from tests.domains.novae.made_files import light_curve_csv, spectrum_fits

PAGE = Path(__file__).parents[2] / "docs" / "novae.md"


def test_the_commands_of_the_page_say_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_demo_folder(tmp_path / "sky", seed=19, nova_name="V1324 Sco")
    (tmp_path / "day12.fits").write_bytes(spectrum_fits())
    (tmp_path / "table.csv").write_bytes(light_curve_csv())
    monkeypatch.setenv("NC_PROVIDERS", "local:sky")
    [block] = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    dataset_id = ""
    for asked in block.split("$ penstock ")[1:]:
        words, *printed = asked.splitlines()
        serve(())
        said = CliRunner().invoke(app, shlex.split(words.replace("ID", dataset_id)))
        assert said.exit_code == 0, said.output
        waits = re.search(r"quarantine show (\S+)", said.output)
        dataset_id = dataset_id or (waits[1] if waits else "")
        lines = [line.rstrip() for line in said.output.splitlines()]
        for line in printed:
            wanted = ".*".join(map(re.escape, line.replace("ID", dataset_id).split("…")))
            assert any(re.fullmatch(wanted, found) for found in lines), f"{line}\nis not in\n{said.output}"


def test_every_workflow_outcome_hint_and_command_is_told() -> None:
    page = PAGE.read_text()
    for name in WORKFLOWS:
        assert f"`{name}`" in page, name
    for word in (*SKIPPED.values(), RESTING, LEASED, *SPECTRUM_HINTS):
        assert f"`{word}`" in page, word
    for words in _commands():
        told = words.removeprefix("novae ")
        assert f"`{told}" in page or f"`{told.removeprefix('quarantine ')}" in page, words


def _commands() -> list[str]:
    assert novae.PLUGIN.commands is not None
    terminal: CommandContext = object()  # type: ignore[assignment]  # nothing is run
    return list(novae.PLUGIN.commands(terminal))
