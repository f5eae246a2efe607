"""The most bytes a request may have, also when it does not say how many it has."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.web.errors import BodyTooLarge
from penstock.web.problems import problem


class BodyLimit:
    """Refuses what says it is too large; stops what turns out to be."""

    def __init__(self, app: ASGIApp, *, limit: int, except_under: str) -> None:
        self._app, self._limit, self._except_under = app, limit, except_under

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(self._except_under):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        said = request.headers.get("content-length", "")
        if said.isdecimal() and int(said[:20]) > self._limit:
            # The rest of the body is not read, so the connection cannot be used again.
            await problem(request, self._refusal(), headers={"Connection": "close"})(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise self._refusal()
            return message

        await self._app(scope, counted, send)

    def _refusal(self) -> BodyTooLarge:
        return BodyTooLarge(f"a request has at most {self._limit} bytes")
