"""The chain in the terminal, for somebody who watches and is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli import app
from penstock.studio.modelling.measure import measure


def test_whoever_watches_is_asked_about_files_they_can_look_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-50: approved, rejected with a note, approved; the files of the version are there in the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "home"))
    watched = CliRunner().invoke(
        app, ["demo", "assetcreator", "wooden crate", "--type", "PROP"], input="y\nn\nrounder corners\ny\n"
    )
    assert watched.exit_code == 0, watched.output
    said = [line.split()[0] for line in watched.stdout.splitlines() if line.startswith("  ")]
    assert said.count("retopo") == 2
    for asked in ("refined.png", "retopo.glb"):
        assert f"look at {Path('asset', 'prop', 'review', asked)}" in watched.output
    measured = measure(tmp_path / "asset/prop/asset.glb")
    assert (measured["faces"] > 100, measured["watertight"]) == (True, True)
    for name in ("asset.glb", "turntable.mp4", "thumbnail.png"):
        assert str(Path("asset", "prop", name)) in watched.output
        assert (tmp_path / "asset/prop" / name).stat().st_size > 1000
