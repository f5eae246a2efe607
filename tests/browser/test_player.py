"""The bare page plays streams and tells which picture is seen."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .complaints import Complaints
from .films import numbered_film
from .player import Level, Player, Shown
from .site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page

RATE = 25


@pytest.fixture
def stream(site: Site, numbered_stream: Path) -> str:
    """The URL of the stream on the page's own origin."""
    return f"{site.show(numbered_stream.parent)}/{numbered_stream.name}"


def test_a_stream_is_played_picture_by_picture(player: Player, stream: str) -> None:
    levels = player.open(stream)
    assert [(level.width, level.height) for level in levels] == [(160, 96), (320, 192)]
    shown = player.play(5)
    assert len(shown) == 5
    assert all(before.time < after.time for before, after in pairwise(shown))
    assert player.duration == pytest.approx(4, abs=1 / RATE)
    assert player.errors == []


def test_a_seek_lands_on_the_very_picture(player: Player, stream: str) -> None:
    player.open(stream)
    for number in (0, 1, 24, 25, 26, 60, 99, 3):
        assert player.seek(number, rate=RATE).painted == number
        assert number / RATE <= player.current_time < (number + 1) / RATE


def test_levels_are_switched_while_the_film_goes_on(player: Player, stream: str) -> None:
    levels = player.open(stream)
    player.play(1)
    for level in (1, 0):
        assert size(player.switch(level)) == size(levels[level])
        assert player.level == level
        assert player.seek(50, rate=RATE).painted == 50, "all levels count alike"


def size(told: Level | Shown) -> tuple[int, int]:
    return told.width, told.height


def test_a_key_goes_along_with_playlists_alone(page: Page, player: Player, stream: str) -> None:
    asked: dict[str, bool] = {}
    page.on("request", lambda request: asked.update({Path(request.url).suffix: "authorization" in request.headers}))
    player.open(stream, headers={"Authorization": "Bearer of good news"})
    player.seek(1, rate=RATE)
    assert (asked[".m3u8"], asked[".m4s"], asked[".mp4"]) == (True, False, False)


def test_a_film_is_played_to_its_end(player: Player, stream: str) -> None:
    player.open(stream)
    player.seek(90, rate=RATE)
    player.play_to_end()
    assert player.current_time == pytest.approx(player.duration)


def test_a_single_file_is_played_without_a_library(player: Player, site: Site, tmp_path: Path) -> None:
    numbered_film(tmp_path / "film.mp4", seconds=2)
    player.open_file(f"{site.show(tmp_path)}/film.mp4")
    assert player.seek(30, rate=RATE).painted == 30


def test_a_stream_is_played_by_a_browser_that_knows_streams(page: Page, player: Player, stream: str) -> None:
    """As Safari does it, and Chromium since version 142."""
    if not page.evaluate("document.createElement('video').canPlayType('application/vnd.apple.mpegurl')"):
        pytest.skip("this browser knows no streams")
    player.open_file(stream)
    assert player.seek(30, rate=RATE).painted == 30
    assert player.duration == pytest.approx(4, abs=1 / RATE)


def test_a_stream_that_is_not_there_is_told(player: Player, site: Site, complaints: Complaints, tmp_path: Path) -> None:
    from playwright.sync_api import Error

    complaints.expect(r"answered 404: GET .*/none\.m3u8")
    with pytest.raises(Error, match="manifestLoadError"):
        player.open(f"{site.show(tmp_path)}/none.m3u8")


def test_what_is_no_film_is_told_at_once(player: Player, site: Site, tmp_path: Path) -> None:
    from playwright.sync_api import Error

    (tmp_path / "film.mp4").write_text("swordfish")
    with pytest.raises(Error, match="the film cannot be played"):
        player.open_file(f"{site.show(tmp_path)}/film.mp4")
