"""The page about moving runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Penstock
from tests.cli.conftest import folder as folder
from tests.cli.conftest import penstock as penstock
from tests.docs.test_cost_page import _run

PAGE = Path(__file__).parents[2] / "docs" / "moving.md"


def test_what_the_page_shows_is_so(penstock: Penstock, folder: Path) -> None:
    """Each command is run, and says what is printed below it; then the store that was left names the other one."""
    assert penstock("tables", "apply").code == 0
    assert penstock("keys", "create", "ann").code == 0
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL):
        _run(penstock, block)
    refused = penstock("keys", "create", "bob")
    assert refused.code == 2
    assert "moved to sqlite:///grown/store.db; set PENSTOCK_STORE" in refused.err
