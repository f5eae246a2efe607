"""The guide runs as printed, from the first block to the last, and what it says of itself is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs.printed import claims, run_block, run_page

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "guide.md"


def test_every_block_runs_and_gives_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_page(PAGE)
    assert names["store"].project is None
    assert (tmp_path / "podcasts.db").exists()


def test_the_guide_shows_results_and_errors_of_every_part() -> None:
    parts = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    silent = [part.split("\n")[0] for part in parts if "# → " not in part and "# raises " not in part]
    assert silent == []
    assert claims(PAGE) >= 75


def test_links_of_the_guide_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", PAGE.read_text()):
        name, _, heading = target.partition("#")
        page = (DOCS / name).read_text()
        assert not heading or heading in [_anchor(h) for h in re.findall(r"^#+ (.+)$", page, re.MULTILINE)], target


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ("1 + 1  # → 3\n", "but it is\n  2"),
        ("1 + 1\n# → 3\n", "but it is\n  2"),
        ("x = 1  # → 1\n", "only an expression has a value"),
        ("int('1')\n# raises ValueError: no\n", "nothing was raised"),
        ("int('x')\n# raises ValueError: another\n# text\n", "another text\nbut it is\n  ValueError: invalid literal"),
        ("int('x')\n# raises KeyError: …\n", "but it is\n  ValueError"),
    ],
)
def test_a_page_that_says_what_is_not_so_is_found_out(block: str, complaint: str) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception), match=re.escape(complaint)):
        run_block(block, {}, where="page")


def test_an_error_that_a_page_does_not_tell_of_is_not_swallowed() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        run_block("int('x')  # a comment\n# and another\n", {}, where="page")


def test_claims_may_go_on_and_leave_out() -> None:
    names: dict[str, Any] = {}
    run_block("x = [1,\n     2]\nx\n# → [1,\n# 2]\n\n# of the next\n", names, where="page")
    run_block("int('x')\n# raises ValueError: … 'x'\n", names, where="page")
    run_block("class X(Y):\n    z: int\n\n\n# raises NameError: name 'Y' is not defined\n", names, where="page")
    assert names["x"] == [1, 2]
