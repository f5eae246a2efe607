"""The bare page that plays films, as tests use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(frozen=True)
class Level:
    """A rung of a stream."""

    width: int
    height: int
    bitrate: int


@dataclass(frozen=True)
class Shown:
    """A picture that was really shown."""

    time: float
    "Its moment in the film, as the browser tells it."
    width: int
    height: int
    painted: int | None
    "The number that is painted into it, if it is a picture of a numbered film."


class Player:
    """One film after the other, played by hls.js or by the browser itself, without sound."""

    def __init__(self, page: Page, site: Site) -> None:
        self._page, self._site = page, site

    def open(self, url: str, *, origins: tuple[str, ...] = (), headers: Mapping[str, str] | None = None) -> list[Level]:
        """Load a stream by hls.js; its levels.

        Its files may come from these origins besides the page's own. Playlists are asked for with these headers.
        """
        self._visit(origins)
        return [Level(**level) for level in self._do("open", url, dict(headers or {}))]

    def open_file(self, url: str, *, origins: tuple[str, ...] = ()) -> None:
        """Load a film without hls.js: one file, or a stream that the browser knows how to play."""
        self._visit(origins)
        self._do("openFile", url)

    def play(self, pictures: int) -> list[Shown]:
        """Play slowly until so many pictures were seen, or to the end. A busy machine leaves some out between them."""
        return [Shown(**picture) for picture in self._do("play", pictures)]

    def play_to_end(self) -> None:
        self._do("playToEnd")

    def seek(self, number: int, *, rate: float) -> Shown:
        """Stand still at a picture; numbers begin at 0, and there are so many a second."""
        return Shown(**self._do("seek", number, rate))

    def switch(self, level: int) -> Shown:
        """Go on with another level until it is seen; its first picture."""
        return Shown(**self._do("switchTo", level))

    def until_error(self) -> list[str]:
        """Wait until something goes wrong with the stream; the errors, as hls.js calls them."""
        return list(self._do("untilError"))

    @property
    def level(self) -> int:
        return int(self._state()["level"])

    @property
    def current_time(self) -> float:
        return float(self._state()["time"])

    @property
    def duration(self) -> float:
        return float(self._state()["duration"])

    @property
    def errors(self) -> list[str]:
        """What hls.js says went wrong, whether or not it helped itself; that it waited or gave up is not told."""
        return list(self._state()["errors"])

    def _visit(self, origins: tuple[str, ...]) -> None:
        self._page.goto(self._site.page("player.html", origins=origins))

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._do("state")
        return state

    def _do(self, verb: str, *values: object) -> Any:
        return self._page.evaluate("([verb, values]) => player[verb](...values)", [verb, list(values)])
