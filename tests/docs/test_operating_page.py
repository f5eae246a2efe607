"""The page about operating runs as printed, and names every reason and every bulk action there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from penstock.work import waiting_reason
from penstock.work.bulk_question import ALLOWED

PAGE = Path(__file__).parents[2] / "docs" / "operating.md"


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "operating_page"}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)


def test_every_reason_is_told() -> None:
    source = inspect.getsource(waiting_reason)
    used = set(re.findall(r'WaitingReason\(\s*"(\w+)"', source)) | set(re.findall(r'_settle\(task, "(\w+)"', source))
    table = PAGE.read_text().split("| kind |")[1].split("\n\n")[0]
    assert used == set(re.findall(r"`(\w+)`", table)) - {"who", "until", "behind"}


def test_every_bulk_action_is_told() -> None:
    for what, actions in ALLOWED.items():
        (row,) = re.findall(rf"^\| `{what}` \| ([^|]*)\|", PAGE.read_text(), re.MULTILINE)
        assert re.findall(r"`(\w+)`", row) == list(actions)
