"""What is known of every request from outside: its id, how long it took, how it ended. The log and the meters hear it.

The query string is never told: signatures of URLs are in it. Nor are headers, where keys are, nor paths that a route
says are personal.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.auth.access import is_personal
from penstock.ports.ids import sortable_text
from penstock.web.problems import unexpected

HEADER = "X-Request-ID"
_SANE = re.compile(r"[A-Za-z0-9._\-]{1,64}")
_log = logging.getLogger("penstock.access")
_errors = logging.getLogger("penstock.web")
_LONGEST = 300
"Characters of a path that the log has."
_WENT_AWAY = 499
"Told of a client that did not wait for its answer; no code of HTTP, but what other servers log."
_ALWAYS = {b"x-content-type-options": b"nosniff", b"referrer-policy": b"no-referrer"}


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request that is over."""

    id: str
    method: str
    route: str
    path: str
    status: int
    seconds: float
    caller: str


class Mistakes:
    """Answers for mistakes of ours. What surrounds it adds to that answer as to any other."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        begun = False

        async def told(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, told)
        except ClientDisconnect:
            if not begun:
                await Response(status_code=_WENT_AWAY)(scope, receive, told)  # nobody hears it but the log
        except Exception:
            extra = {"request_id": request.state.request_id}
            _errors.exception("%s %s failed", scope["method"], route_of(scope), extra=extra)
            if begun:
                raise  # half an answer is out; only breaking off tells the client
            await unexpected(request)(scope, receive, told)


class Requests:
    """Gives each request an id, and tells of it when it is over."""

    def __init__(self, app: ASGIApp, *, tell: Callable[[SeenRequest], None]) -> None:
        self._app, self._tell = app, tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        request.state.request_id = request_id = _id_of(request)
        status = 0
        started = time.perf_counter()

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name.lower() for name, _ in message["headers"]}
                extra = [(n, v) for n, v in _ALWAYS.items() if n not in present]
                message["headers"] = [*message["headers"], *extra, (HEADER.lower().encode(), request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, told)
        finally:
            self._tell(_seen(scope, request, status, time.perf_counter() - started))
            self._explain(request)

    def _explain(self, request: Request) -> None:
        """Log what the answer kept to itself."""
        failure = getattr(request.state, "failure", None)
        if failure is not None:
            _errors.error("%s: %s", failure.slug, failure, extra={"request_id": request.state.request_id})


def log_request(seen: SeenRequest) -> None:
    """One line a request."""
    level = logging.ERROR if seen.status >= 500 else logging.INFO
    _log.log(
        level,
        "%s %s %d %.1f ms",
        seen.method,
        seen.path,
        seen.status,
        seen.seconds * 1000,
        extra={
            "request_id": seen.id,
            "method": seen.method,
            "path": seen.path,
            "route": seen.route,
            "status": seen.status,
            "milliseconds": round(seen.seconds * 1000, 1),
            "caller": seen.caller,
        },
    )


def route_of(scope: Scope) -> str:
    """The route's template: the same for all records, so that there are not too many of them to count by."""
    if scope["path"].startswith("/objects/"):
        return "/objects/{key}"
    route = scope.get("route")
    return str(getattr(route, "path_format", "other"))


def _seen(scope: Scope, request: Request, status: int, seconds: float) -> SeenRequest:
    caller = getattr(request.state, "caller", None)
    return SeenRequest(
        id=request.state.request_id,
        method=scope["method"],
        route=route_of(scope),
        path=_path(scope),
        status=status,
        seconds=seconds,
        caller=caller.name if caller is not None else "-",
    )


def _path(scope: Scope) -> str:
    """The path as it was asked for, unless it tells of a person."""
    endpoint = getattr(scope.get("route"), "endpoint", None)
    return route_of(scope) if is_personal(endpoint) else _printable(scope["path"])


def _id_of(request: Request) -> str:
    """The id the client gave, if it is one that can stand in a log; else a new one."""
    given = request.headers.get(HEADER, "")
    return given if _SANE.fullmatch(given) else sortable_text(datetime.now(UTC))


def _printable(path: str) -> str:
    """A path that can end no line and fill no log."""
    if len(path) <= _LONGEST and path.isprintable():
        return path
    return "".join(c if c.isprintable() else "?" for c in path[:_LONGEST])
