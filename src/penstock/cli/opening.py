"""Opens the console in a browser."""

from __future__ import annotations

import threading
import webbrowser
from html import escape
from pathlib import Path

from penstock.ports.private import keep, make_private

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={url}">
<title>Penstock</title>
<p><a href="{url}">To the console</a></p>
"""


def open_console(url: str, token: str | None, *, folder: Path = Path(".penstock")) -> None:
    """Have the console opened, signed in where there is a token; nobody waits for the browser to start."""
    address = _address(url, token, folder)
    threading.Thread(target=webbrowser.open, args=(address,), name="penstock-open", daemon=True).start()


def _address(url: str, token: str | None, folder: Path) -> str:
    """The console's address. One with a key is in a file that only its owner reads: commands are seen by everybody."""
    if token is None:
        return url
    make_private(folder)
    page = folder / "open.html"
    page.unlink(missing_ok=True)
    keep(_PAGE.format(url=escape(f"{url}/#key={token}")), page)
    return page.absolute().as_uri()
