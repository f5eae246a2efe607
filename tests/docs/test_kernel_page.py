"""The page about the kernel runs as printed, and says what is so."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.seals import MARGIN, projects
from penstock.ports.clock import SKEW

PAGE = Path(__file__).parents[2] / "docs" / "kernel.md"


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "kernel_page"}
    exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    store = names["store"]
    assert [m.type for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))] == ["lamp.burns"]  # type: ignore[attr-defined]
    assert list(projects(store)) == ["-"]  # type: ignore[arg-type]


def test_the_page_has_the_true_numbers() -> None:
    text = PAGE.read_text()
    assert (SKEW, "differ by five minutes" in text) == (timedelta(minutes=5), True)
    assert (MARGIN, "not sealed for ten minutes" in text) == (timedelta(minutes=10), True)


def test_the_page_says_what_row_level_security_does_not_stop() -> None:
    assert "set role none" in PAGE.read_text()
