"""What the documentation lists is what the code says."""

from __future__ import annotations

from pathlib import Path

from penstock.cli.reference import settings_page
from penstock.cli.routes_reference import routes_page
from penstock.cli.terminal import all_settings
from penstock.domains import INSTALLED
from penstock.testing import EngineSuite, differences_page

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_every_difference_between_engines_is_listed() -> None:
    """Write it anew with: python -c "from penstock.domains import INSTALLED
    from penstock.testing import *; print(differences_page(EngineSuite))"."""
    assert (REFERENCE / "differences.md").read_text() == differences_page(EngineSuite).strip() + "\n"


def test_every_setting_is_listed() -> None:
    """Write it anew with: python -m penstock.cli.reference > docs/reference/settings.md."""
    page = (REFERENCE / "settings.md").read_text()
    assert page == settings_page(INSTALLED)
    for _, found in all_settings(INSTALLED):
        for setting in found:
            assert f"| `{setting.variable}` |" in page
            assert setting.help.endswith("."), f"{setting.variable} says what it is for"


def test_every_route_is_listed_with_who_may_use_it() -> None:
    """Write it anew with: python -m penstock.cli.routes_reference > docs/reference/routes.md."""
    assert (REFERENCE / "routes.md").read_text() == routes_page(INSTALLED)


def test_no_two_settings_have_one_name() -> None:
    names = [name for _, found in all_settings(INSTALLED) for s in found for name in (s.variable, *s.also)]
    assert len(names) == len(set(names)), sorted(names)
