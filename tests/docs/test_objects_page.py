"""The page about files runs as printed, from the first block to the last."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from penstock.objects.s3.page_origins import page_rule

PAGE = Path(__file__).parents[2] / "docs" / "objects.md"


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 6
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "objects_page"}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    assert (tmp_path / "clips.db").exists()
    assert list((tmp_path / "clips" / "objects" / "trash").rglob("*.mp4"))


def test_the_page_shows_the_rule_that_is_advised() -> None:
    (rule,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert json.loads(rule) == page_rule(["https://films.example"])
