"""A film or a sound that is truly being played: begun as a person would, and until its time goes on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_GOES_ON = """(film) => new Promise((done, failed) => {
  const look = () => film.currentTime && done(film.duration);
  film.addEventListener("timeupdate", look);
  setTimeout(() => failed(new Error("it stands still")), 60_000);
  look();
})"""


def played(film: Locator) -> float:
    """Have it played by the key that the browser's own controls take; its seconds."""
    expect(film).to_have_attribute("src", re.compile("."))
    film.press("Space")
    seconds: float = film.evaluate(_GOES_ON)
    return seconds
