"""What a page complains of: errors it logs or does not catch, requests that fail or are refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response, WebError

# What a page gives up by itself: a player does whenever it seeks or switches.
_GIVEN_UP = "net::ERR_ABORTED"
# The console repeats without the method what is heard of the request itself.
_TOLD_ALREADY = "Failed to load resource:"


class Complaints:
    """All complaints of all pages of a test, which none may have unless it says so beforehand."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        self._allowed: list[re.Pattern[str]] = [re.compile("answered 503: GET .*/readyz")]  # a probe on a busy machine

    def expect(self, *patterns: str) -> None:
        """Each of these is to be found in some complaint, and any complaint with one of them is no failure."""
        self._expected += map(re.compile, patterns)

    def allow(self, *patterns: str) -> None:
        """A complaint with one of these is no failure, and neither is it if there is none."""
        self._allowed += map(re.compile, patterns)

    def listen(self, context: BrowserContext) -> None:
        context.on("console", self._logged)
        context.on("weberror", self._uncaught)
        context.on("requestfailed", self._failed)
        context.on("response", self._answered)

    def settle(self) -> None:
        """Fail if a complaint was heard that was not expected, or an expected one was not."""
        known = [*self._expected, *self._allowed]
        unexpected = [said for said in self.heard if not any(p.search(said) for p in known)]
        assert not unexpected, "the page complains:\n  " + "\n  ".join(unexpected)
        missing = [p.pattern for p in self._expected if not any(p.search(said) for said in self.heard)]
        assert not missing, f"the page was expected to complain of {', '.join(missing)}"

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(_TOLD_ALREADY):
            self.heard.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _uncaught(self, error: WebError) -> None:
        self.heard.append(f"uncaught: {error.error}")

    def _failed(self, request: Request) -> None:
        if request.failure != _GIVEN_UP:
            self.heard.append(f"failed: {request.method} {request.url}: {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.heard.append(f"answered {response.status}: {response.request.method} {response.url}")
