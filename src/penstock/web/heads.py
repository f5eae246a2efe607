"""Heads of requests: not more of them than anybody needs, and none of what costs more to read than it weighs."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.web.errors import HeadTooLarge
from penstock.web.problems import problem
from penstock.web.signing_in.session_cookie import own_cookies

FIELDS = 100
"Headers of a request; h11, which reads them, is counted on to read as many lines."
TARGET = 8_000
"Bytes of a path and its query: a cursor has 4,096."
PARAMETERS = 200


class Heads:
    """Refuses a head that is too much, before anything looks into it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if why := _too_much(scope):
                await problem(Request(scope), HeadTooLarge(why))(scope, receive, send)
                return
            scope["headers"] = own_cookies(scope["headers"])
        await self._app(scope, receive, send)


def _too_much(scope: Scope) -> str | None:
    if len(scope["headers"]) > FIELDS:
        return f"the request has {len(scope['headers'])} headers, and at most {FIELDS} are read"
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > TARGET:
        return f"the path and its query are longer than {TARGET} bytes"
    if scope["query_string"].count(b"&") >= PARAMETERS:
        return f"the query has more than {PARAMETERS} parameters"
    return None
