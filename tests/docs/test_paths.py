"""Every path of the API that a page names is there."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.domains import INSTALLED
from tests.web.routes import described
from tests.web.service import Service

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_path_that_a_page_names_is_in_the_api(tmp_path: Path) -> None:
    there = [f"{_shape(path)}/" for path in described(Service(tmp_path, installed=INSTALLED).app)["paths"]]
    named = {path for page in PAGES for path in re.findall(r"(?<![\w.])/api/[\w/{}.-]*[\w}]", page.read_text())}
    named = {path for path in named if not path.startswith("/api/{domain}")}  # how they are made, of any domain
    # A page may also name where the paths of a domain begin.
    assert [path for path in sorted(named) if not any(t.startswith(f"{_shape(path)}/") for t in there)] == []
    assert named


def _shape(path: str) -> str:
    """A path whatever its parameters are called."""
    return re.sub(r"{\w+}", "{}", path)
