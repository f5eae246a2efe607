"""The page about work runs as printed, from the first block to the last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.work.task import KEPT, LONGEST_ERROR, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "work.md"


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 7
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "work_page"}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    assert (tmp_path / "films.db").exists()


def test_every_way_an_attempt_ends_is_told() -> None:
    text = PAGE.read_text()
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == [
        *("done", "retryable", "terminal", "quarantine", "lost", "handed_back", "cancelled")
    ]
    assert {o.value for o in Outcome} == set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert f"({LONGEST_ERROR:,} characters)" in text
    assert f"for {KEPT.days} days" in text
