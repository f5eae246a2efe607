"""Bare pages for tests and folders of files, on loopback, under the policy that pages of the service will have."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from tests.objects.door import Door
from tests.servers import unpacked

from .packages import HLS

PAGES = Path(__file__).with_name("pages")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".m3u8": "application/vnd.apple.mpegurl",
    ".m4s": "video/iso.segment",
    ".mp4": "video/mp4",
}


def policy(*origins: str) -> str:
    """The strict security policy; files may also come from these origins."""
    more = "".join(f" {origin}" for origin in origins)
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            f"img-src 'self' data: blob:{more}",
            f"media-src 'self' blob:{more}",
            f"connect-src 'self' blob:{more}",
            "worker-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types svelte-trusted-html",
        )
    )


class Site:
    """A web server with an origin of its own; a page is asked for together with the origins it may fetch from."""

    def __init__(self) -> None:
        self._folders = {"pages": PAGES, "hls.js": unpacked(HLS) / "dist"}
        self._door = Door()

    @property
    def origin(self) -> str:
        return self._door.url

    def page(self, name: str, *, origins: tuple[str, ...] = ()) -> str:
        """The URL of a bare page."""
        return f"{self.origin}/0/pages/{name}?{urlencode([('origin', o) for o in origins])}"

    def show(self, folder: Path) -> str:
        """The URL beneath which the files of a folder are served."""
        name = str(len(self._folders))
        self._folders[name] = folder
        return f"{self.origin}/0/{name}"

    def _answer(self, request: Request) -> Response:
        folder = self._folders.get(request.path_params["folder"])
        asked: str = request.path_params["path"]
        if folder is None or not (path := folder / asked).resolve().is_relative_to(folder.resolve()):
            return Response(status_code=404)
        if not path.is_file():
            return Response(status_code=404)
        headers = {"Content-Security-Policy": policy(*request.query_params.getlist("origin"))}
        return FileResponse(path, media_type=TYPES.get(path.suffix, "application/octet-stream"), headers=headers)

    def __enter__(self) -> Self:
        self._door.__enter__()
        self._door.add(Starlette(routes=[Route("/{folder}/{path:path}", self._answer)]))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._door.__exit__(kind, error, trace)
