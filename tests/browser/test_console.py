"""The frame of the console: people sign in, find their way, lose nothing, and nothing of a stranger's gets in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from penstock.auth.api_keys import revoke_key
from penstock.auth.browser_session import UNUSED
from penstock.schema.role import Role
from tests.servers import had

from .accessibility import too_wide_for_a_phone, violations_in_both_themes
from .complaints import Complaints
from .console import Console, build_once, served

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, ViewportSize

LIVE = re.compile("^Live:")
PHONE: ViewportSize = {"width": 360, "height": 740}
ROWS = 100
_HIDDEN_AND_SEEN = "() => document.dispatchEvent(new Event('visibilitychange'))"


@pytest.fixture
def console(tmp_path: Path, complaints: Complaints) -> Iterator[Console]:
    had(build_once)
    complaints.allow(r"answered 404: GET .*/api/(declared|projects)")
    with served(tmp_path) as console:
        yield console


def test_somebody_signs_in_and_stays_so(page: Page, console: Console) -> None:
    key = console.service.key(Role.EDITOR)
    console.open(page, role=None)
    page.get_by_label("API key").fill(f"Authorization: Bearer {key}\n")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()
    kept = page.evaluate(
        "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    )
    assert key.split("_")[2] not in kept
    assert "penstock_session" not in kept
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    page.reload()
    expect(page.get_by_label("API key")).to_be_visible()


def test_a_wrong_key_is_told(page: Page, console: Console, complaints: Complaints) -> None:
    complaints.expect("answered 422: POST .*/api/session")
    console.open(page, role=None)
    page.get_by_label("API key").fill("pk_abc_def")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This key is unknown or was revoked.")).to_be_visible()
    expect(page.get_by_label("API key")).to_have_attribute("aria-invalid", "true")


def test_the_address_that_up_prints_signs_in_and_keeps_no_key(page: Page, console: Console) -> None:
    page.goto(f"{console.url}/#key={console.service.key(Role.ADMIN)}")
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()
    assert page.url == f"{console.url}/"


def test_the_palette_finds_and_does(page: Page, console: Console) -> None:
    console.open(page)
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("dark th")
    expect(page.get_by_role("option").first).to_have_text("Dark theme")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("combobox")).to_have_count(0)
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("() => matchMedia && getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_a_screen_adds_its_own_commands_while_it_is_shown(page: Page, console: Console) -> None:
    console.open(page, "/console/parts?tab=rest")
    expect(page.get_by_role("heading", name="Parts of the console")).to_be_visible()
    page.keyboard.press("o")
    expect(page.get_by_role("dialog", name="An example")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()
    page.keyboard.press("o")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_keyboard_map_works_on_any_layout(page: Page, console: Console) -> None:
    console.open(page, "/console/parts")
    expect(page.get_by_role("heading", name="Parts of the console")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("Switch project")
    page.keyboard.press("Escape")
    for key, code in (("п", "KeyG"), ("р", "KeyH")):
        page.evaluate(
            "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, code, bubbles: true}))",
            [key, code],
        )
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()


def test_every_state_has_an_address(page: Page, console: Console) -> None:
    console.open(page, "/console/parts?tab=fields&project=p1", role=None)
    page.get_by_label("API key").fill(console.service.key(Role.EDITOR))
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Fields")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("button", name="p1")).to_be_visible()
    page.get_by_role("tab", name="All else").click()
    expect(page).to_have_url(re.compile(r"tab=rest.*project=p1|project=p1.*tab=rest"))
    page.get_by_role("link", name="Penstock, home").click()
    expect(page).to_have_url(f"{console.url}/?project=p1")
    expect(page).to_have_title("Home · Penstock")
    page.go_back()
    expect(page.get_by_role("tab", name="All else")).to_have_attribute("aria-selected", "true")
    page.goto(f"{console.url}/console/nowhere")
    expect(page.get_by_text("Nothing is here", exact=True)).to_be_visible()


def test_a_session_that_ends_loses_nothing_that_was_typed(page: Page, console: Console, complaints: Complaints) -> None:
    complaints.allow("answered 401: GET .*/api/")
    console.open(page, "/console/parts?tab=fields")
    page.get_by_label("A long").fill("three paragraphs")
    console.service.clock.advance(UNUSED)
    page.evaluate(_HIDDEN_AND_SEEN)
    expect(page.get_by_role("dialog", name="Your session has ended")).to_be_visible()
    page.get_by_label("API key").fill(console.service.key(Role.EDITOR))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_label("A long")).to_have_value("three paragraphs")


def test_a_key_that_is_revoked_ends_its_session(page: Page, console: Console, complaints: Complaints) -> None:
    complaints.allow("answered 401: GET .*/api/")
    key = console.service.key(Role.EDITOR)
    console.open(page, key=key)
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()
    revoke_key(console.service.store, key.split("_")[1], by="tests")
    page.evaluate(_HIDDEN_AND_SEEN)
    expect(page.get_by_role("dialog", name="Your session has ended")).to_be_visible()


def test_the_strict_policy_is_in_force(page: Page, console: Console, complaints: Complaints) -> None:
    complaints.expect("TrustedHTML", "TrustedScript", "style-src")
    answer = page.goto(console.url)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    for doing in ("innerHTML = '<b>'", "setAttribute('onclick', 'x()')", "setAttribute('style', 'color: red')"):
        page.evaluate(f"() => {{ try {{ document.body.{doing} }} catch {{ 0 }} }}")


def test_nothing_is_asked_of_any_other_host(page: Page, console: Console) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    console.open(page, "/console/parts")
    expect(page.get_by_role("heading", name="Parts of the console")).to_be_visible()
    assert asked
    assert [url for url in asked if not url.startswith((console.url, "data:"))] == []


@pytest.mark.long  # each screen is looked at in test_every_screen
def test_everybody_can_use_the_frame_in_both_themes_and_on_a_phone(page: Page, console: Console) -> None:
    console.open(page, role=None)
    expect(page.get_by_label("API key")).to_be_visible()
    assert violations_in_both_themes(page) == []
    for path in ("/", "/console/parts", "/console/parts?tab=fields", "/console/parts?tab=rest", "/console/nowhere"):
        console.open(page, path)
        expect(page.get_by_role("main")).to_contain_text(re.compile("Parts of|What is running|Nothing is here"))
        assert violations_in_both_themes(page) == [], path
        assert not too_wide_for_a_phone(page, PHONE), path
    for keys, name in (("Control+k", "Commands"), ("?", "Keyboard")):
        page.keyboard.press(keys)
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        assert violations_in_both_themes(page) == [], name
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_on_a_phone_the_navigation_opens_and_leads_on(page: Page, console: Console) -> None:
    page.set_viewport_size(PHONE)
    console.open(page, "/console/parts")
    page.get_by_role("button", name="Navigation").click()
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Home").click()
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()


def test_ten_thousand_rows_are_a_hundred_in_the_document(page: Page, console: Console) -> None:
    console.open(page, "/console/parts?rows=10000")
    table = page.get_by_role("region", name="Jobs")
    expect(table.get_by_text("job-00000")).to_be_visible()
    table.press("End")
    expect(table.get_by_text("job-09999")).to_be_visible()
    assert table.locator("tr").count() <= ROWS
    assert table.locator("tr.current").inner_text().strip().startswith("job-09999")


def test_what_happens_elsewhere_is_shown_and_can_be_paused(page: Page, console: Console) -> None:
    console.open(page, "/console/parts?tab=live")
    expect(page.get_by_role("button", name=LIVE)).to_be_visible()
    console.film("One")
    heard = page.get_by_role("list", name="Heard").get_by_role("listitem")
    expect(heard).to_have_text(["films.films.insert"])
    page.get_by_role("button", name=LIVE).click()
    console.film("Two")
    console.film("Three")
    expect(page.get_by_role("button", name="2 new")).to_be_visible()
    expect(heard).to_have_count(1)
    page.get_by_role("button", name="2 new").click()
    expect(heard).to_have_text(["films.films.insert"] * 3)


def test_a_seventh_tab_works_and_hears_what_the_others_hear(browser_context: BrowserContext, console: Console) -> None:
    """HTTP/1.1 leaves a browser six connections, so the tabs share one stream."""
    pages = [browser_context.new_page() for _ in range(7)]
    for page in pages:
        console.open(page, "/console/parts?tab=live", role=Role.VIEWER if page is pages[0] else None)
        expect(page.get_by_role("heading", name="Parts of the console")).to_be_visible()
    expect(pages[0].get_by_role("button", name=LIVE)).to_be_visible()
    for page in pages:
        expect(page.get_by_role("tab", name="Live")).to_be_visible()
    console.film("One")
    for page in pages:
        expect(page.get_by_role("list", name="Heard").get_by_role("listitem")).to_have_text(["films.films.insert"])
    assert console.service.app.state.streams.open == 1
    pages[0].close()  # the first has led: another goes on where it was
    console.film("Two")
    for page in pages[1:]:
        expect(page.get_by_role("list", name="Heard").get_by_role("listitem")).to_have_text(["films.films.insert"] * 2)


def test_a_service_that_is_away_is_told_and_told_to_be_back(
    page: Page, browser_context: BrowserContext, console: Console, complaints: Complaints
) -> None:
    complaints.allow("failed: GET", "ERR_INTERNET_DISCONNECTED")
    console.open(page)
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()
    browser_context.set_offline(True)
    expect(page.get_by_text("The service does not answer.")).to_be_visible()
    browser_context.set_offline(False)
    expect(page.get_by_text("The service does not answer.")).to_have_count(0)
