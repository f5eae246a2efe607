"""Playwright with one browser, in this thread and yet in nobody's way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.servers import Unavailable

from .chromium import Program, program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

# WebGL without a graphics card. What pages consist of besides is put together without its like: drawing every frame of
# every page by a graphics card that is none takes two thirds of all the time of the browser.
ARGUMENTS = (
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-gpu-compositing",
)


class Driver:
    """A started browser. Use it within `at_work` only."""

    def __init__(self, playwright: Playwright, chosen: Program) -> None:
        self._playwright = playwright
        # Playwright's event loop seems to run in this thread until it is stopped, so that asyncio.run would be refused
        # to every later test: it is hidden while no test uses the browser.
        self._loop = asyncio.get_running_loop()
        self._browser = playwright.chromium.launch(
            executable_path=chosen.path, args=ARGUMENTS, env={**os.environ, **chosen.environment}
        )
        asyncio._set_running_loop(None)

    @contextmanager
    def at_work(self) -> Iterator[Browser]:
        """The browser, while this thread runs no other event loop."""
        asyncio._set_running_loop(self._loop)
        try:
            yield self._browser
        finally:
            asyncio._set_running_loop(None)

    def stop(self) -> None:
        """End the browser and Playwright."""
        with self.at_work():
            self._browser.close()
            self._playwright.stop()


def started() -> Driver:
    """A browser of our own; Unavailable where it cannot be had."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Unavailable("playwright is missing: `pip install playwright`.") from None
    chosen = program()
    playwright = sync_playwright().start()
    try:
        return Driver(playwright, chosen)
    except BaseException:
        playwright.stop()
        raise
