"""The files of the console, as the build has left them: read once, small, and served from memory.

What lies under ``assets`` has the hash of its content in its name, so a browser never asks for it again. The page
itself is asked for each time, and answered in a word if it is the same.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from penstock.web.errors import NoSuchRoute

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}")
_PACKED = frozenset({".css", ".html", ".js", ".json", ".svg"})
_FOR_EVER = "public, max-age=31536000, immutable"
_UNBUILT = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
}
_WAY = {"Vary": "Accept-Encoding", "Cross-Origin-Resource-Policy": "same-origin"}


@dataclass(frozen=True)
class BuiltFile:
    """One file, in both forms that it is sent in."""

    name: str
    content: bytes

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.content, 9, mtime=0)

    @cached_property
    def tag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    def answer(self, request: Request, headers: dict[str, str]) -> Response:
        """The file, or that it is as the browser knows it."""
        told = {**_WAY, "ETag": self.tag, **headers}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=told)
        if self.suffix in _PACKED and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.packed, 200, {**told, "Content-Encoding": "gzip"}, media_type=self._type)
        return Response(self.content, 200, told, media_type=self._type)

    @property
    def _type(self) -> str:
        return _TYPES.get(self.suffix, "application/octet-stream")


class BuiltConsole:
    """Reads each file once, when it is first asked for."""

    def __init__(self, folder: Traversable | None = None) -> None:
        self._folder = folder or files("penstock.web").joinpath("console")
        self._page: BuiltFile | None = None
        self._assets: dict[str, BuiltFile] = {}

    def page(self, request: Request, *, policy: str) -> Response:
        """The one page of the console; where it was not built, how to build it."""
        try:
            self._page = self._page or self._read("index.html")
        except FileNotFoundError:
            unbuilt = files("penstock.web").joinpath("html", "unbuilt.html")
            return HTMLResponse(unbuilt.read_text(encoding="utf-8"), 503, headers=_UNBUILT)
        headers = {
            "Content-Security-Policy": policy,
            "Cache-Control": "no-cache",
            "Cross-Origin-Opener-Policy": "same-origin",
        }
        return self._page.answer(request, headers)

    def guest_page(self, request: Request, *, policy: str) -> Response | None:
        """The same page for whoever has a link; None where it was not built."""
        found = self.page(request, policy=policy)
        return None if found.status_code == 503 else found

    def asset(self, request: Request, name: str) -> Response:
        """What the page loads."""
        found = self._assets.get(name)
        if found is None:
            try:
                found = self._assets[name] = self._read("assets", name)
            except OSError:
                # A page of yesterday asks for a file of yesterday; it is told so, and loads itself anew.
                raise NoSuchRoute(f"there is nothing at /assets/{name[:120]}") from None
        return found.answer(request, {"Cache-Control": _FOR_EVER})

    def _read(self, *path: str) -> BuiltFile:
        if not all(_NAME.fullmatch(part) for part in path):
            raise FileNotFoundError(path[-1])
        return BuiltFile(path[-1], self._folder.joinpath(*path).read_bytes())
