"""axe-core looks at pages, also at those of a strict policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from penstock.schema.role import Role
from tests.servers import had
from tests.web.films import INSTALLED as FILMS

from .accessibility import unreachable, violations
from .console import Console, build_once, served
from .review_room import made
from .site import Site
from .studio import STUDIO, still

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_bare_page_can_be_used_by_everybody(page: Page, site: Site) -> None:
    page.goto(site.page("player.html"))
    assert violations(page) == []


def test_a_picture_without_words_is_found(page: Page) -> None:
    page.set_content('<html lang="en"><title>A page</title><main><h1>A page</h1><img src="data:,"></main></html>')
    assert [found.split(":")[0] for found in violations(page)] == ["image-alt"]


def test_what_a_keyboard_does_not_reach_or_show_is_found(page: Page) -> None:
    page.set_content(
        """<html lang="en"><title>A page</title><main><h1>A page</h1>
        <button>good</button><label><input type="checkbox"> good</label>
        <div style="cursor: pointer">a click</div>
        <button tabindex="-1">passed over</button>
        <style>.plain:focus { outline: none }</style><a class="plain" href="#">not shown</a></main></html>"""
    )
    assert [re.sub(r"<.*|[^\w: ].*", "", found) for found in unreachable(page)] == [
        "keyboard: Tab does not lead to div ",
        "keyboard: Tab does not lead to button ",
        "keyboard: a",
    ]


KITE = "/console/d/films/films/p1/Kite"
DIALOGS = (
    ("/console/d/films/films?pattern=by_status", "New n", "New in Films"),
    ("/console/d/films/films?pattern=by_status", "Columns c", "Columns"),
    (KITE, "Rate", "Rate"),
    ("/console/review/studio/takes/p1/Robot/1", "Reject x", "Reject"),
    ("/console/ops/keys", "New key n", "New key"),
    ("/console/ops/keys", "Revoke", "Revoke"),
    ("/", "Go to, do, find … Ctrl K", "Commands"),
    ("/", "Keyboard", "Keyboard"),
)
_WITHIN = "() => document.activeElement === document.body || document.activeElement.closest('dialog') !== null"


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    """It outlives the test, whose page would complain of one that goes before it."""
    had(build_once)
    with served(tmp_path, installed=(FILMS, STUDIO)) as console:
        yield console


def test_every_dialog_keeps_the_focus_gives_it_back_and_goes_with_escape(page: Page, console: Console) -> None:
    console.film("Kite")
    made(console, still=still())
    shot = console.service.client(Role.EDITOR).post("/api/films/films/p1/Kite/moves/shoot")
    assert shot.status_code == 200
    console.open(page, "/console/parts", role=Role.ADMIN)
    for path, button, dialog in DIALOGS:
        if not page.url.endswith(path):
            page.goto(f"{console.url}{path}")
        opener = page.get_by_role("button", name=button).first
        opener.press("Enter")
        opened = page.get_by_role("dialog", name=re.compile(f"^{dialog}"))
        expect(opened).to_be_visible()
        for key in (*["Tab"] * 6, "Shift+Tab"):
            page.keyboard.press(key)
            assert page.evaluate(_WITHIN), (dialog, key)
        assert unreachable(page) == [], dialog
        page.keyboard.press("Escape")
        expect(opened).to_have_count(0)
        expect(opener).to_be_focused()
