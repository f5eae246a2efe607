"""The page about cost runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.cost.price_list import read_price_list
from tests.cli.conftest import Penstock
from tests.cli.conftest import folder as folder
from tests.cli.conftest import penstock as penstock

PAGE = Path(__file__).parents[2] / "docs" / "cost.md"


def test_what_the_page_shows_is_so(penstock: Penstock, folder: Path) -> None:
    """Each command is run, and says what is printed below it; ``…`` stands for any text."""
    workload, prices = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (folder / "workload.toml").write_text(workload)
    (folder / "prices.toml").write_text(prices)
    assert read_price_list(folder / "prices.toml").dynamodb.source == "our contract"
    assert penstock("tables", "apply").code == 0
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL):
        _run(penstock, block)


def _run(penstock: Penstock, block: str) -> None:
    out = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            said = penstock(*line.removeprefix("$ penstock ").split())
            assert said.code == 0, said.err
            out = " ".join(said.out.split())
        else:
            wanted = ".*".join(re.escape(" ".join(part.split())) for part in line.split("…"))
            assert re.search(wanted, out), line
