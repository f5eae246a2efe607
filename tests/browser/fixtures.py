"""Fixtures of browser tests, known everywhere by `pytest_plugins` in the top conftest.

A test that takes `page` fails when the page complains (see `complaints`), and leaves a screenshot in `tmp_path` when it
fails. Under xdist each worker that needs one starts a browser of its own, in less than a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.servers import had

from .complaints import Complaints
from .driver import Driver, started

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from .console import Console
    from .player import Player
    from .site import Site

PATIENCE_MS = 200_000
"More than a machine takes that does other things as well; less than a test may take, so that its page is still seen."


class _Visit(NamedTuple):
    """A test's page, and what is needed to judge it."""

    page: Page
    complaints: Complaints
    folder: Path


_VISIT = pytest.StashKey[_Visit]()


@pytest.fixture(scope="session")
def browser_driver() -> Iterator[Driver]:
    """The browser of this session, which no test uses directly."""
    driver = had(started)
    yield driver
    driver.stop()


@pytest.fixture
def browser(browser_driver: Driver) -> Iterator[Browser]:
    """The browser of this session; a test that takes it cannot use asyncio in its own thread."""
    with browser_driver.at_work() as browser:
        yield browser


@pytest.fixture
def complaints() -> Complaints:
    """What pages complain of in this test, and where it says which complaints it expects."""
    return Complaints()


@pytest.fixture
def browser_context(browser: Browser, complaints: Complaints) -> Iterator[BrowserContext]:
    """A fresh profile: no cookies, nothing cached."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_MS)
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    complaints.listen(context)
    yield context
    context.close()


@pytest.fixture
def page(
    browser_context: BrowserContext, complaints: Complaints, tmp_path: Path, request: pytest.FixtureRequest
) -> Page:
    """An empty page in a fresh profile."""
    page = browser_context.new_page()
    request.node.stash[_VISIT] = _Visit(page, complaints, tmp_path)
    return page


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """Where the bare pages for tests are served."""
    from .site import Site

    with had(Site) as site:
        yield site


@pytest.fixture
def player(page: Page, site: Site) -> Player:
    """The bare page that plays films, on an origin of its own."""
    from .player import Player

    return Player(page, site)


@pytest.fixture(scope="session")
def numbered_stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The master playlist of a stream of 100 numbered pictures, 25 a second, in two rungs."""
    from .films import numbered_stream

    return numbered_stream(tmp_path_factory.mktemp("stream"))


@pytest.fixture(scope="session")
def numbered_mp4(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A film of 100 numbered pictures, 25 a second, in one file."""
    from .films import numbered_film

    return numbered_film(tmp_path_factory.mktemp("film") / "film.mp4").read_bytes()


@pytest.fixture
def reviewed(tmp_path: Path) -> Iterator[Console]:
    """A console before a service with takes, which people review."""
    from .console import build_once, served
    from .studio import STUDIO

    had(build_once)
    with served(tmp_path, installed=(STUDIO,)) as console:
        yield console


@contextmanager
def judged(page: Page, complaints: Complaints, folder: Path) -> Iterator[None]:
    """Fail at the end if the page has complained; whatever fails within leaves a picture of the page."""
    try:
        yield
        with suppress(Exception):  # the page may be closed
            page.evaluate("0")  # what it said before has come when this has
        complaints.settle()
    except BaseException as failure:
        with suppress(Exception):  # of a page that is closed there is none; the failure itself is what matters
            page.screenshot(path=folder / "page.png", full_page=True)
            failure.add_note(f"What the page looked like: {folder / 'page.png'}")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[Any]:
    """Judge the page as part of the test: what is found later would be an error of its fixtures."""
    visit = pyfuncitem.stash.get(_VISIT, None)
    if visit is None:
        return (yield)
    with judged(*visit):
        return (yield)
