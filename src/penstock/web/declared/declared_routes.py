"""The routes that tell what is declared. What they answer changes with a deployment alone, so it is made once.

GET /api/declared
GET /api/declared/{domain}
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import MaxLen
from fastapi import FastAPI, Path, Request
from pydantic import BaseModel
from starlette.responses import Response

from penstock.auth.caller import caller_of
from penstock.declare.entity import Entity
from penstock.errors import NotFound
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role
from penstock.web.console_pages import ConsoleFiles
from penstock.web.declared.declared_domain import (
    DeclaredDomain,
    DomainBriefs,
    Drawable,
    drawable,
    places_of,
)
from penstock.web.declared.viewpoint import Viewpoint
from penstock.web.forms import etag_of, names
from penstock.web.route import AdmittedRoute

OPERATORS = "ops"
_HEADERS = {
    "Cache-Control": "private, no-cache",
    "Vary": "Accept-Encoding, Authorization, X-API-Key, Cookie, X-Project",
}


@dataclass(frozen=True, slots=True)
class _Told:
    """An answer as it is sent, plainly and compressed."""

    etag: str
    body: bytes
    zipped: bytes


class DeclaredRoutes:
    """Answers who asks what is declared, each by what their key may see."""

    def __init__(
        self,
        app: FastAPI,
        installed: Sequence[DomainPlugin],
        *,
        operated: Sequence[type[Entity]],
        files: dict[str, ConsoleFiles],
        secret: bytes,
    ) -> None:
        self._app, self._secret = app, secret
        own = places_of(operated, domain=OPERATORS)
        about = "The system's own records: work, messages, dead letters and the audit trail."
        system = Drawable(OPERATORS, own, least=Role.ADMIN, title="Operations", summary=about)
        domains = [drawable(i, files.get(i.domain.name), own, Role.ADMIN) for i in installed]
        self._drawables = {each.name: each for each in (*domains, system)}
        self._told: dict[tuple[str | None, Viewpoint], _Told] = {}
        "One for each domain and role, bound to a project or not: there are no more."

    def add_all(self) -> None:
        def declared(request: Request) -> Response:
            """Every domain of which this key may see anything, in short, with its collections and pages."""
            return self._answer(request, None, self._briefs)

        def declared_domain(
            request: Request, domain: Annotated[str, MaxLen(100), Path(description="Its name, or `ops`.")]
        ) -> Response:
            """All that a client must know of a domain to draw it, and what this key may do in it.

            `ops` is the system's own records, for administrators. Where `may` is false, the service would refuse.
            """
            found = self._shown(domain, _viewpoint(request))
            return self._answer(request, domain, lambda viewpoint: found.whole(self._app, viewpoint))

        self._add("/api/declared", declared, DomainBriefs, gives=(304,))
        self._add("/api/declared/{domain}", declared_domain, DeclaredDomain, gives=(304, 404))

    def _add(self, path: str, endpoint: Any, model: type[BaseModel], *, gives: tuple[int, ...]) -> None:
        endpoint.__gives__ = gives
        self._app.router.add_api_route(
            path,
            endpoint,
            methods=["GET"],
            route_class_override=AdmittedRoute,
            response_model=model,
            tags=["console"],
            operation_id=endpoint.__name__,
        )

    def _briefs(self, viewpoint: Viewpoint) -> DomainBriefs:
        shown = [each for each in self._drawables.values() if each.shown(viewpoint)]
        return DomainBriefs(items=[each.brief(self._app, viewpoint) for each in shown])

    def _shown(self, domain: str, viewpoint: Viewpoint) -> Drawable:
        found = self._drawables.get(domain)
        if found is None or not found.shown(viewpoint):
            there = ", ".join(each.name for each in self._drawables.values() if each.shown(viewpoint))
            raise NotFound(f"there is no such domain for this key; there are {there or 'none'}")
        return found

    def _answer(self, request: Request, domain: str | None, make: Callable[[Viewpoint], BaseModel]) -> Response:
        viewpoint = _viewpoint(request)
        told = self._told.get((domain, viewpoint))
        if told is None:
            body = make(viewpoint).model_dump_json(exclude_defaults=True).encode()
            told = _Told(etag_of(body.decode(), secret=self._secret), body, gzip.compress(body, 6, mtime=0))
            self._told[domain, viewpoint] = told
        known = request.headers.get("if-none-match")
        headers = {**_HEADERS, "ETag": told.etag}
        if known is not None and names(known, told.etag, weakly=True):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(told.zipped, headers={**headers, "Content-Encoding": "gzip"}, media_type=_JSON)
        return Response(told.body, headers=headers, media_type=_JSON)


_JSON = "application/json"


def _viewpoint(request: Request) -> Viewpoint:
    caller = caller_of(request)
    return Viewpoint(caller.role, bound=caller.project is not None)
