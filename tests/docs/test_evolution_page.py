"""The page about evolution runs as printed, and names what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.ports.clock import SystemClock
from tests.docs.printed import claims, run_page

PAGE = Path(__file__).parents[2] / "docs" / "evolution.md"


def test_every_block_runs_and_gives_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SystemClock, "sleep", lambda clock, seconds: None)  # nobody reads whose lease would have to end
    names = run_page(PAGE)
    names["before"].close()
    names["after"].close()
    assert claims(PAGE) >= 10
