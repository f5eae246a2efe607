"""axe-core looks at pages, also at those of a strict policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .accessibility import violations
from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_bare_page_can_be_used_by_everybody(page: Page, site: Site) -> None:
    page.goto(site.page("player.html"))
    assert violations(page) == []


def test_a_picture_without_words_is_found(page: Page) -> None:
    page.set_content('<html lang="en"><title>A page</title><main><h1>A page</h1><img src="data:,"></main></html>')
    assert [found.split(":")[0] for found in violations(page)] == ["image-alt"]
