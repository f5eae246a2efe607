"""Opens places in a browser, as somebody with a desk or with a phone, and takes pictures of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Error, expect

from .full_house import FullHouse
from .places import Place

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
PATIENCE_MS = 60_000
_FRAME = "() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))"


def take(browser: Browser, house: FullHouse, chosen: Iterable[Place], target: Path) -> Iterator[Path]:
    """A picture of each place in either theme, and of some on a phone; LookupError where one was not to be seen."""
    missed: list[str] = []
    chosen = list(chosen)
    for scheme, size, name in (("light", DESK, "light"), ("dark", DESK, "dark"), ("light", PHONE, "phone")):
        visitors = Visitors(browser, house, viewport=size, color_scheme=scheme)
        for place in chosen:
            if size is DESK or place.phone:
                path = target / f"{place.name}-{name}.png"
                try:
                    with visitors.at(place) as page:
                        page.screenshot(path=path, animations="disabled")
                    yield path
                except (AssertionError, Error) as unseen:
                    missed.append(f"{path.stem}: {str(unseen).splitlines()[0]}")
        visitors.leave()
    if missed:
        raise LookupError("not to be seen: " + "; ".join(missed))


class Visitors:
    """People with a browser each, who have signed in once."""

    def __init__(
        self,
        browser: Browser,
        house: FullHouse,
        *,
        meet: Callable[[BrowserContext], None] | None = None,
        **options: Any,
    ) -> None:
        """The browser of each is handed to ``meet`` before anything is opened in it."""
        expect.set_options(timeout=PATIENCE_MS)  # of this process, whoever waits in it
        self._browser, self._house, self._meet, self._options = browser, house, meet, options
        self._contexts: dict[str | None, BrowserContext] = {}

    def context(self, who: str | None) -> BrowserContext:
        """The browser of somebody; of a stranger, without a name."""
        if who not in self._contexts:
            context = self._contexts[who] = self._browser.new_context(**self._options)
            context.set_default_timeout(PATIENCE_MS)
            if self._meet is not None:
                self._meet(context)
            if who is not None:
                answer = context.request.post(
                    f"{self._house.console.url}/api/session", data={"key": self._house.keys[who]}
                )
                assert answer.ok, answer.text()
        return self._contexts[who]

    @contextmanager
    def at(self, place: Place) -> Iterator[Page]:
        """A page at a place, with all that is to be seen there."""
        self._house.present()
        page = self.context(place.who).new_page()
        try:
            page.goto(f"{self._house.console.url}{place.path}")
            self._do(page, place)
            yield page
        finally:
            page.close()

    def _do(self, page: Page, place: Place) -> None:
        if place.act is not None:
            place.act(page)
        place.here(page)
        page.evaluate(_FRAME)

    def leave(self) -> None:
        for context in self._contexts.values():
            context.close()
