"""The page about the simulation runs as printed, and a stranger's double charge is told as it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.testing.simulation import Happening, ScheduleFailed

PAGE = Path(__file__).parents[2] / "docs" / "simulation.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_the_page_runs_and_the_double_charge_is_found_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "simulation_page"}
    for block in blocks("python"):
        exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    with pytest.raises(ScheduleFailed) as failed:
        names["test_films"]()
    (printed,) = blocks("text")
    assert str(failed.value) == printed.rstrip("\n")


def test_the_test_of_the_page_has_ten_lines() -> None:
    code = [line for line in blocks("python")[1].splitlines() if line.strip() and '"""' not in line]
    assert len(code) <= 10


def test_every_happening_is_told() -> None:
    told = set(re.findall(r"^\| ([a-z ]+) \|", PAGE.read_text(), re.MULTILINE))
    assert {happening.words for happening in Happening} <= told
