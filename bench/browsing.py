"""A real browser before the service as `penstock up` runs it, in a process of its own; and what its pages ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

from bench.served import PenstockUp
from tests.browser.console import build_once
from tests.browser.driver import started

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

WINDOW = {"width": 1280, "height": 800}
_PATIENCE_MS = 120_000
_QUIET = 0.8
"Seconds without a request after which a page has all that it asks for."
_LOOK_MS = 50
_STREAM = "/api/events"
_OF_FILES = "/api/review/plot"
"What is asked of a file: the stores have records alone."


@dataclass
class Traffic:
    """The requests of a page, as the browser knows them."""

    kinds: dict[str, str] = field(default_factory=dict)
    urls: dict[str, str] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)
    "Bytes of answers that have come, their heads among them, as they are on the wire."
    refused: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    last: float = 0.0

    def asked(self, event: Mapping[str, Any]) -> None:
        self.kinds[event["requestId"]], self.urls[event["requestId"]] = event["type"], event["request"]["url"]
        self.last = monotonic()

    def answered(self, event: Mapping[str, Any]) -> None:
        if event["response"]["status"] >= 400:
            self.refused.append(f"{event['response']['status']} {event['response']['url']}")

    def came(self, event: Mapping[str, Any]) -> None:
        self.received[event["requestId"]] = event["encodedDataLength"]
        self.last = monotonic()

    def failed(self, event: Mapping[str, Any]) -> None:
        self.lost.add(event["requestId"])
        self.last = monotonic()

    @property
    def settled(self) -> bool:
        """Has all come that was asked for, and was nothing asked for a while?"""
        waiting = [i for i in self.urls if i not in self.received and i not in self.lost and not self._streams(i)]
        return bool(self.calls) and not waiting and monotonic() - self.last > _QUIET

    @property
    def calls(self) -> list[str]:
        """The addresses that its scripts have asked, but for the stream of what happens."""
        return [self.urls[i] for i, kind in self.kinds.items() if kind in ("Fetch", "XHR") and not self._streams(i)]

    def bytes_of(self, *kinds: str) -> int:
        """What has come of these kinds of requests."""
        return sum(size for i, size in self.received.items() if self.kinds.get(i) in kinds)

    def _streams(self, request: str) -> bool:
        return self.urls[request].partition("?")[0].endswith(_STREAM)


class Visitor:
    """Whoever looks at a service in a browser."""

    def __init__(self, browser: Browser, up: PenstockUp) -> None:
        self._browser, self._up = browser, up

    @property
    def url(self) -> str:
        return self._up.url

    @contextmanager
    def profile(self, *, signed_in: bool = True) -> Iterator[Page]:
        """An empty page of somebody who was never here: nothing is cached."""
        with self._context() as context:
            if signed_in:
                context.add_cookies(self._cookies)
            yield context.new_page()

    @cached_property
    def _cookies(self) -> list[Any]:
        """Of a session that all profiles share: one address may sign in a few times a minute only."""
        _, _, token = self._up.key["Authorization"].partition(" ")
        with self._context() as context:
            answer = context.request.post(f"{self.url}/api/session", data={"key": token})
            assert answer.ok, answer.text()
            return list(context.cookies())

    @contextmanager
    def _context(self) -> Iterator[BrowserContext]:
        context = self._browser.new_context(viewport=WINDOW)  # type: ignore[arg-type]
        context.set_default_timeout(_PATIENCE_MS)
        try:
            yield context
        finally:
            context.close()

    def visit(self, path: str, *, signed_in: bool = True) -> Traffic:
        """Open a place for the first time, and wait until it has all that it asks for."""
        with self.profile(signed_in=signed_in) as page:
            traffic = listened(page)
            page.goto(f"{self.url}{path}")
            deadline = monotonic() + _PATIENCE_MS / 1000
            while not traffic.settled:
                assert monotonic() < deadline, f"{path} never comes to rest"
                page.wait_for_timeout(_LOOK_MS)
            refused = [each for each in traffic.refused if _OF_FILES not in each]
            assert not refused, f"{path} is refused {', '.join(refused)}"
            assert page.get_by_role("heading").first.is_visible(), f"{path} shows nothing"
            return traffic


def listened(page: Page) -> Traffic:
    """What a page asks for from now on."""
    traffic, session = Traffic(), page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.requestWillBeSent", traffic.asked)
    session.on("Network.responseReceived", traffic.answered)
    session.on("Network.loadingFinished", traffic.came)
    session.on("Network.loadingFailed", traffic.failed)
    return traffic


def browser_in(stack: ExitStack) -> Browser:
    """A browser until the stack ends; the console that it will see is built."""
    build_once()
    driver = started()
    stack.callback(driver.stop)
    return stack.enter_context(driver.at_work())
