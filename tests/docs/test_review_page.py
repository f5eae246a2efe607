"""The page about reviews runs as printed, from the first block to the last, and its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.review import derived_reviewable, noting, plot

PAGE = Path(__file__).parents[2] / "docs" / "review.md"


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 7
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "review_page"}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    assert (tmp_path / "films.db").exists()


def test_the_names_of_moves_and_the_bounds_are_told() -> None:
    text = PAGE.read_text()
    for kind, names in derived_reviewable._NAMES.items():
        (told,) = re.findall(rf"^\| `{kind.value}` \| (.*) \|$", text, re.MULTILINE)
        assert set(re.findall(r"`(\w+)`", told)) == names
    assert f"{noting.LONGEST_TEXT:,} characters" in text
    assert f"{noting.MOST_REPLIES} replies" in text
    assert f"{noting.MOST_NOTES:,} notes" in text
    assert f"{plot.MOST_POINTS:,} points" in text
