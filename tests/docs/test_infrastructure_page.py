"""The page about infrastructure runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Penstock
from tests.cli.conftest import folder as folder
from tests.cli.conftest import penstock as penstock

PAGE = Path(__file__).parents[2] / "docs" / "infrastructure.md"


def test_what_the_page_shows_is_so(penstock: Penstock) -> None:
    """Each command is run, and says what is printed below it; ``…`` stands for any text."""
    out = ""
    for line in "".join(re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)).splitlines():
        if line.startswith("$ penstock "):
            said = penstock(*line.removeprefix("$ penstock ").split())
            assert said.code == 0, said.err
            out = " ".join(said.out.split())
        elif not line.startswith("$ "):
            wanted = ".*".join(re.escape(" ".join(part.split())) for part in line.split("…"))
            assert re.search(wanted, out), line


def test_every_role_is_told() -> None:
    from penstock.runtime.cloud_template import ROLES

    assert re.findall(r"^\| `(\w+)Role` \|", PAGE.read_text(), re.MULTILINE) == list(ROLES)
