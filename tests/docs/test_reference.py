"""What the documentation lists is what the code says."""

from __future__ import annotations

from pathlib import Path

from penstock.testing import EngineSuite, differences_page

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_every_difference_between_engines_is_listed() -> None:
    """Write it anew with: python -c "from penstock.testing import *; print(differences_page(EngineSuite))"."""
    assert (REFERENCE / "differences.md").read_text() == differences_page(EngineSuite).strip() + "\n"
