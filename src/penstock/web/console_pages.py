"""The files of pages that domains bring for a console, as they lie in their packages.

    GET /console-pages/{domain}/{version}/{file}

The version is made of the bytes of all of a domain's files, so whatever is got once is good for ever, and a module
that imports another by its name finds the one that it was written with. All of them are read when the service is put
together; a page whose file is not there is found out then.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from fastapi import FastAPI
from starlette.responses import Response

from penstock.declare.console_hints import CONSOLE_FOLDER, ConsoleHints
from penstock.errors import DeclarationError
from penstock.plugin import DomainPlugin
from penstock.web.errors import NoSuchRoute
from penstock.web.identity import probe
from penstock.web.route import AdmittedRoute

PATH = "/console-pages"
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
"What a page may be made of. None of it does anything when it is opened by itself."
_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
}
_MOST_BYTES = 5_000_000
"Of all files of a domain: they are held in memory."


@dataclass(frozen=True, slots=True)
class ConsoleFiles:
    """The files of one domain's pages."""

    domain: str
    version: str
    bodies: Mapping[str, bytes]

    def path(self, file: str) -> str:
        """Where a file is got."""
        return f"{PATH}/{self.domain}/{self.version}/{file}"


def read_console_files(installed: Sequence[DomainPlugin]) -> dict[str, ConsoleFiles]:
    """The files of every domain that has pages, by its name; DeclarationError for a page that is not there."""
    return {
        each.domain.name: _read(each.domain.name, each.console)
        for each in installed
        if each.console is not None and each.console.pages
    }


def _read(domain: str, hints: ConsoleHints) -> ConsoleFiles:
    bodies = _bodies(domain, hints.package or "")
    for page in hints.pages:
        if page.file not in bodies:
            raise DeclarationError(
                f"{domain}: there is no {CONSOLE_FOLDER}/{page.file} in the package {hints.package}, which is to be "
                f"the page {page.title!r}; there are {', '.join(sorted(bodies)) or 'no files'}"
            )
    if sum(map(len, bodies.values())) > _MOST_BYTES:
        raise DeclarationError(f"{domain}: the files of its pages have more than {_MOST_BYTES:,} bytes together")
    whole = hashlib.sha256()
    for name in sorted(bodies):
        whole.update(f"{name}\0{len(bodies[name])}\0".encode() + bodies[name])
    return ConsoleFiles(domain, whole.hexdigest()[:16], bodies)


def _bodies(domain: str, package: str) -> dict[str, bytes]:
    try:
        folder = files(package).joinpath(CONSOLE_FOLDER)
        found = list(folder.iterdir()) if folder.is_dir() else []
    except (ImportError, OSError) as error:
        raise DeclarationError(f"{domain}: the package {package} of its pages cannot be had: {error}") from None
    return {each.name: each.read_bytes() for each in found if each.is_file() and _type_of(each.name) is not None}


def _type_of(name: str) -> str | None:
    return next((kind for suffix, kind in _TYPES.items() if name.endswith(suffix)), None)


def add_console_pages(app: FastAPI, found: Mapping[str, ConsoleFiles]) -> None:
    """The route of all files; anybody may get them, as they tell nothing of any record."""

    @probe
    async def console_page(domain: str, version: str, file: str) -> Response:
        """A file of a page that a domain brings for a console."""
        held = found.get(domain)
        body = held.bodies.get(file) if held is not None and held.version == version else None
        if body is None:
            raise NoSuchRoute("there is no such file of a page; ask /api/declared for those there are")
        return Response(body, headers=_HEADERS, media_type=_type_of(file))

    console_page.__gives__ = (404,)  # type: ignore[attr-defined]
    whole = {"description": "The file.", "content": {kind.partition(";")[0]: {} for kind in _TYPES.values()}}
    app.router.add_api_route(
        f"{PATH}/{{domain}}/{{version}}/{{file}}",
        console_page,
        methods=["GET"],
        route_class_override=AdmittedRoute,
        response_class=Response,
        responses={200: whole},
        tags=["console"],
        operation_id="console_page",
    )
