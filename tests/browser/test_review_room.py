"""The review room in a real browser: people decide, by clicks and by keys, with a key or by a link."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from penstock.schema.role import Role

from . import studio
from .accessibility import violations, violations_in_both_themes
from .complaints import Complaints
from .console import Console
from .review_room import KINDS, at_frame, made, note, shown, status
from .studio import Take, TakeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONE = {"width": 390, "height": 844}


def test_what_waits_is_decided_by_clicks_and_by_keys(page: Page, reviewed: Console) -> None:
    for title in ("Arrival", "Bridge", "Cellar"):
        made(reviewed, title, still=studio.still())
    reviewed.open(page, "/console/review")
    expect(page.get_by_role("heading", name="Takes: in review 3")).to_be_visible()
    page.get_by_role("link", name="Arrival, take 1").click()
    page.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog", name="Reject")
    dialog.get_by_role("button", name="Reject").click()
    expect(dialog.get_by_text("Say why: it takes a reason.")).to_be_visible()
    dialog.get_by_label("Why").fill("The arm is too dark.")
    dialog.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="Bridge, take 1")).to_be_visible()
    page.keyboard.press("c")
    page.get_by_label("Why").fill("Longer, please.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Cellar, take 1")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    assert status(reviewed, "Arrival") == (TakeStatus.REJECTED, "The arm is too dark.")
    assert status(reviewed, "Bridge") == (TakeStatus.REWORK, "Longer, please.")
    assert status(reviewed, "Cellar") == (TakeStatus.APPROVED, None)
    expect(page).to_have_url(f"{reviewed.url}/console/review")


def test_what_was_moved_on_meanwhile_is_not_decided(page: Page, reviewed: Console, complaints: Complaints) -> None:
    complaints.expect("answered 409: POST .*/api/review/decisions")
    room = made(reviewed, still=studio.still())
    reviewed.open(page, room)
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.get_by_role("button", name="Live").first.click()  # paused: this reader does not hear of it
    reviewed.service.store.modify(
        Take.at(project_id="p1", title="Robot", take=1), lambda take: take.reject(reason="no")
    )
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("alert").or_(page.get_by_text("Somebody has changed it meanwhile")).first).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    assert status(reviewed, "Robot")[0] is TakeStatus.REJECTED


def test_a_viewer_looks_and_has_no_button_that_would_be_refused(page: Page, reviewed: Console) -> None:
    room = made(reviewed, still=studio.still())
    reviewed.open(page, room, role=Role.VIEWER)
    expect(page.get_by_role("img", name="still")).to_be_visible()
    for name in ("Approve", "Reject", "Region", "Make a link"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_label("Note", exact=True)).to_have_count(0)


# Guests


def test_a_guest_looks_and_speaks_until_the_link_is_revoked_or_ends(
    page: Page, browser: Browser, reviewed: Console, complaints: Complaints, numbered_mp4: bytes
) -> None:
    # After three days the session of whoever made the link is over, too.
    complaints.allow("answered 401: GET .*/api/(events|review/items|work/inbox)")
    reviewed.open(page, made(reviewed, film=numbered_mp4))

    def link(name: str) -> str:
        page.get_by_role("button", name="Make a link").click()
        page.get_by_label("For whom").fill(name)
        page.get_by_label("May decide").check()
        page.get_by_role("button", name="Make the link").click()
        line = page.get_by_role("region", name=re.compile("^Link: "))
        expect(line).to_be_visible()
        return line.inner_text()

    context = browser.new_context()
    guest = context.new_page()
    try:
        guest.goto(link("Bob"))
        expect(guest.get_by_role("heading", name="Robot, take 1")).to_be_visible()
        expect(guest.get_by_role("navigation", name="Console")).to_have_count(0)
        at_frame(guest, 0)
        guest.keyboard.press(".")
        at_frame(guest, 1)
        guest.get_by_label("Your name").fill("Bob")
        note(guest, "Longer, please.")
        expect(page.get_by_role("list", name="Threads")).to_contain_text("Bob (guest)")
        assert violations(guest) == []
        page.get_by_role("button", name="Revoke").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(page.get_by_role("list", name="Guest links")).to_contain_text("revoked")
        guest.reload()
        expect(guest.get_by_role("heading", name="This link leads nowhere")).to_be_visible()
        guest.goto(link("Eve"))
        guest.get_by_label("Your name").fill("Eve")
        guest.get_by_role("button", name="Approve").click()
        expect(guest.get_by_text("Approve. Thank you.")).to_be_visible()
        assert status(reviewed, "Robot")[0] is TakeStatus.APPROVED
        reviewed.service.clock.advance(timedelta(hours=73))
        guest.reload()
        expect(guest.get_by_role("heading", name="This link leads nowhere")).to_be_visible()
    finally:
        context.close()


# For everybody


@pytest.fixture
def everything(reviewed: Console, numbered_mp4: bytes) -> Callable[[str], str]:
    """The rooms of a take that has a file of every kind."""
    makers = (studio.sound, studio.still, studio.model, studio.spectrum, studio.light_curve)
    files: dict[str, Any] = {make.__name__: make() for make in makers}
    room = made(reviewed, film=numbered_mp4, **files)
    return lambda kind: f"{room}?file={kind}"


@pytest.mark.parametrize("kinds", [KINDS[:1], pytest.param(KINDS[1:], marks=pytest.mark.long)], ids=["film", "others"])
def test_everybody_can_use_it_in_both_themes_and_on_a_phone(
    page: Page, reviewed: Console, everything: Callable[[str], str], kinds: tuple[str, ...]
) -> None:
    reviewed.open(page, "/console/review")
    expect(page.get_by_role("link", name="Robot, take 1")).to_be_visible()
    assert violations_in_both_themes(page) == []
    usual = page.viewport_size
    assert usual is not None
    for kind in kinds:
        page.goto(f"{reviewed.url}{everything(kind)}")
        shown(page, kind)
        if kind == "film":
            note(page, "Seen by everybody.")
        assert violations_in_both_themes(page) == [], kind
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        assert page.evaluate("() => document.scrollingElement.scrollWidth") <= PHONE["width"], kind
        expect(page.get_by_role("button", name="Approve")).to_be_in_viewport()
        page.set_viewport_size(usual)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    note(page, "From the train.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
