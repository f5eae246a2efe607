"""A page that complains fails its test, and what fails leaves a picture."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import fixtures
from .complaints import Complaints
from .driver import Driver
from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytest_plugins = ["pytester"]

COMPLAINTS = {
    "an error in the console": ("console.error('swordfish')", "console: swordfish"),
    "an error that nobody catches": (
        "new Promise(done => setTimeout(() => { setTimeout(done); throw Error('swordfish') }))",
        "uncaught: .*swordfish",
    ),
    "a promise that nobody catches": (
        "Promise.reject(Error('swordfish')), new Promise(done => setTimeout(done))",
        "uncaught: .*swordfish",
    ),
    "an answer that is an error": ("fetch('/gone').then(() => 0)", "answered 404: GET .*/gone"),
    "a server that is not there": ("fetch('http://127.0.0.1:1/').catch(() => 0)", "failed: GET http://127.0.0.1:1/"),
    "a file from where none may come": (
        "new Promise(done => { const i = new Image(); i.onerror = done; i.src = 'http://127.0.0.2:1/x.png' })",
        "Content Security Policy",
    ),
    "words that would be run": ("try { document.body.innerHTML = '<b>' } catch { 0 }", "TrustedHTML"),
}


@pytest.fixture
def opened(browser_context: BrowserContext, site: Site) -> Page:
    """A page that is judged by the test itself."""
    page = browser_context.new_page()
    page.goto(site.page("player.html", origins=("http://127.0.0.1:1",)))
    return page


@pytest.mark.parametrize(("script", "heard"), COMPLAINTS.values(), ids=COMPLAINTS.keys())
def test_a_page_that_complains_fails_its_test(
    script: str, heard: str, opened: Page, complaints: Complaints, tmp_path: Path
) -> None:
    with (
        pytest.raises(AssertionError, match=f"(?s)the page complains:.*{heard}"),
        fixtures.judged(opened, complaints, tmp_path),
    ):
        opened.evaluate(f"() => {{ {'return ' * (not script.startswith('try'))}{script} }}")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


def test_a_complaint_that_is_expected_fails_nothing(opened: Page, complaints: Complaints, tmp_path: Path) -> None:
    complaints.expect("swordfish")
    with fixtures.judged(opened, complaints, tmp_path):
        opened.evaluate("() => console.error('swordfish')")
    assert not (tmp_path / "page.png").exists()


def test_an_expected_complaint_must_come(opened: Page, complaints: Complaints, tmp_path: Path) -> None:
    complaints.expect("swordfish")
    with (
        pytest.raises(AssertionError, match="expected to complain of swordfish"),
        fixtures.judged(opened, complaints, tmp_path),
    ):
        opened.evaluate("() => console.warn('swordfish')")


def test_what_a_page_gives_up_is_no_complaint(opened: Page, complaints: Complaints, tmp_path: Path) -> None:
    with fixtures.judged(opened, complaints, tmp_path):
        opened.evaluate(
            """() => { const given = new AbortController(); given.abort();
                       return fetch('player.html', { signal: given.signal }).catch(() => 0) }"""
        )


def test_no_test_meets_the_event_loop_of_the_browser(browser_driver: Driver) -> None:
    with browser_driver.at_work() as browser:
        assert browser.is_connected()
    assert asyncio.run(asyncio.sleep(0, "done")) == "done"
    with browser_driver.at_work() as browser:
        browser.new_context().close()


class Shared:
    """A plugin that gives inner tests the browser there is."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    @pytest.fixture(scope="session")
    def browser_driver(self) -> Driver:
        return self._driver


def test_a_page_is_judged_as_part_of_its_test(
    pytester: pytest.Pytester, browser_driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(
        """
        def test_quiet(page): page.evaluate("0")
        def test_loud(page): page.evaluate("() => console.error('swordfish')")
        def test_failing(page): raise KeyError
        """
    )
    result = pytester.runpytest_inprocess(plugins=[fixtures, Shared(browser_driver)])
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*the page complains:*", "*console: swordfish*", "*test_loud0/page.png*"])
