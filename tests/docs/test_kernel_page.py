"""The page about the kernel runs as printed, and says what is so."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import SYSTEM, Domain, Role
from penstock.auth.doors import check_move
from penstock.declare.rights import move_permission
from penstock.errors import NotPermitted
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.seals import MARGIN, projects
from penstock.ports.clock import SKEW

PAGE = Path(__file__).parents[2] / "docs" / "kernel.md"


BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def run(block: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "kernel_page"}
    exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    return names


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = (b for b in BLOCKS if "open_store" in b)
    monkeypatch.chdir(tmp_path)
    store = run(block)["store"]
    assert [m.type for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))] == ["lamp.burns"]
    assert list(projects(store)) == ["-"]


def test_the_page_says_whose_each_move_is() -> None:
    (block,) = (b for b in BLOCKS if "WrittenBy" in b)
    order = run(block)["Order"]
    Domain("shop", order)
    whose = {name: move_permission(order.__shape__, m) for name, m in order.__moves__.items()}
    assert (whose["start"], whose["pause"]) == (SYSTEM, SYSTEM)
    told = " ".join(PAGE.read_text().split())
    with pytest.raises(NotPermitted) as refused:
        check_move(order, order.__moves__["approve"], Role.ADMIN)
    assert f'"{refused.value}"' in told


def test_the_page_has_the_true_numbers() -> None:
    text = PAGE.read_text()
    assert (SKEW, "differ by five minutes" in text) == (timedelta(minutes=5), True)
    assert (MARGIN, "not sealed for ten minutes" in text) == (timedelta(minutes=10), True)


def test_the_page_says_what_row_level_security_does_not_stop() -> None:
    assert "set role none" in PAGE.read_text()
