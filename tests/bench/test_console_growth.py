"""What is measured of the console is measured of all of it."""

from __future__ import annotations

import re
from pathlib import Path

from bench.console_growth import SCREENS
from penstock.domains import INSTALLED

_LIST = Path(__file__).parents[2] / "console" / "src" / "screens" / "index.ts"


def test_every_screen_is_opened_among_few_records_and_among_many() -> None:
    paths = re.findall(r'path: "([^"]+)"', _LIST.read_text())
    opened = {next(path for path in paths if _fits(path, address)) for address in SCREENS.values()}
    assert opened == set(paths)


def test_so_is_the_page_of_every_domain() -> None:
    pages = {f"/console/d/{i.domain.name}/p/{page.file}" for i in INSTALLED if i.console for page in i.console.pages}
    assert pages <= {address.partition("?")[0] for address in SCREENS.values()}


def _fits(path: str, address: str) -> bool:
    """As the console finds the screen of an address: the first that fits is shown."""
    pattern = re.sub(r"\\?[:*](\w+)", lambda found: ".+" if "*" in found[0] else "[^/]+", re.escape(path))
    return re.fullmatch(pattern, address.partition("?")[0]) is not None
