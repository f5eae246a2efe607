"""What a person meets first: the version, names that work, choices that are listed, values that are whole."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from penstock import Store
from penstock.cli import terminal
from penstock.domains.assetcreator.model import Job
from penstock.domains.assetcreator.stages import AssetType, StepName
from tests.cli.conftest import Penstock

ROOT = Path(__file__).parents[2]


def test_the_version_is_told(penstock: Penstock) -> None:
    told = penstock("--version")
    assert (told.code, told.out) == (0, f"penstock {version('penstock')}\n")


def test_another_port_is_said_to_make(tmp_path: Path) -> None:
    made = subprocess.run(
        ["make", "--dry-run", "up", "PORT=8123"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert made.stdout.rstrip().endswith("/penstock up --port 8123")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["musicvideo.Project"], "There are musicvideo.Project.by_status, musicvideo.Project.recent_by_status."),
        (["musicvideo.Project.by_statu"], 'Did you mean "musicvideo.Project.by_status"? There are musicvideo.Project.'),
        (["musicvideo.Project.by_status"], "status is one of pending, queued, generating_scenes"),
        (["musicvideo.Project.by_status", "status=ready"], "status='ready' is none of pending, queued"),
        (["musicvideo.Project.by_status", "state=ready"], "takes status, created_at as name=value"),
    ],
)
def test_who_names_a_wrong_one_is_told_which_there_are(
    penstock: Penstock, store: Store, asked: list[str], told: str
) -> None:
    said = penstock("ls", *asked)
    assert said.code == 2
    assert told in said.err


def test_values_are_whole_for_whoever_asks(penstock: Penstock, store: Store) -> None:
    at, project = datetime(2026, 1, 29, tzinfo=UTC), "p" + "0123456789" * 20
    store.create(
        Job(
            project_id=project,
            job_id="job_1",
            asset_type=AssetType.CHARACTER_3D,
            current_step=StepName.TEXT_TO_IMAGE,
            created_at=at,
            updated_at=at,
        )
    )
    asked = ["ls", "assetcreator.Job.of_project", f"project_id={project}"]
    assert project not in penstock(*asked).out
    whole = penstock(*asked, "--whole").out
    assert project in whole
    assert "…" not in whole


def test_a_folder_is_answered_with_how_it_is_written(penstock: Penstock) -> None:
    said = penstock("doctor", "--objects", "/some/folder")
    assert "write files:////some/folder" in said.err


def test_the_doctor_knows_what_media_need(penstock: Penstock, store: Store) -> None:
    checks = {check["what"]: check["state"] for check in penstock("doctor", "--json").json["checks"]}
    assert checks["ffmpeg"].startswith("ffmpeg version ")
    assert {checks[f"extra {extra}"] for extra in ("media", "lipsync", "heic")} == {"installed"}


def test_commands_are_named_as_they_can_be_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their name where a shell finds them by it, else by the path that was used."""
    bin_ = tmp_path / ".venv" / "bin"
    bin_.mkdir(parents=True)
    (bin_ / "penstock").write_text("#!/bin/sh\n")
    (bin_ / "penstock").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", [str(bin_ / "penstock"), "doctor"])
    line = "Run: penstock tables apply, then `penstock up`; penstock: see penstock.toml, pip install 'penstock[web]'"
    near = line.replace("penstock tables", ".venv/bin/penstock tables").replace("`penstock", "`.venv/bin/penstock")
    assert terminal.as_called(line) == near
    monkeypatch.setenv("PATH", str(bin_))
    assert terminal.as_called(line) == line
    monkeypatch.setattr(sys, "argv", [os.path.join("x", "penstock", "__main__.py")])
    assert terminal.as_called("penstock up").endswith(" -m penstock up")
