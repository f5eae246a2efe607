"""What is known of every request from outside: its id, how long it took, how it ended. The log and the meters hear it.

The query string is never told: signatures of URLs are in it. Nor are headers, where keys are.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.ids import sortable_text
from penstock.web.problems import unexpected

HEADER = "X-Request-ID"
_SANE = re.compile(r"[A-Za-z0-9._\-]{1,64}")
_log = logging.getLogger("penstock.access")
_errors = logging.getLogger("penstock.web")
_ALWAYS = {b"x-content-type-options": b"nosniff", b"referrer-policy": b"no-referrer"}


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that is over."""

    id: str
    method: str
    route: str
    path: str
    status: int
    seconds: float
    caller: str


class Requests:
    """Gives each request an id, answers for mistakes of ours, and tells of it when it is over."""

    def __init__(self, app: ASGIApp, *, tell: Callable[[Seen], None]) -> None:
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
        except Exception:
            _errors.exception("%s %s failed", scope["method"], route_of(scope), extra={"request_id": request_id})
            if status:
                raise  # half an answer is out; only breaking off tells the client
            await unexpected(request)(scope, receive, told)
        finally:
            self._tell(_seen(scope, request, status, time.perf_counter() - started))
            self._explain(request)

    def _explain(self, request: Request) -> None:
        """Log what the answer kept to itself."""
        failure = getattr(request.state, "failure", None)
        if failure is not None:
            _errors.error("%s: %s", failure.slug, failure, extra={"request_id": request.state.request_id})


def log_request(seen: Seen) -> None:
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


def _seen(scope: Scope, request: Request, status: int, seconds: float) -> Seen:
    caller = getattr(request.state, "caller", None)
    return Seen(
        id=request.state.request_id,
        method=scope["method"],
        route=route_of(scope),
        path=_printable(scope["path"]),
        status=status,
        seconds=seconds,
        caller=caller.name if caller is not None else "-",
    )


def _id_of(request: Request) -> str:
    """The id the client gave, if it is one that can stand in a log; else a new one."""
    given = request.headers.get(HEADER, "")
    return given if _SANE.fullmatch(given) else sortable_text(datetime.now(UTC))


def _printable(path: str) -> str:
    """A path that can end no line and fill no log."""
    return "".join(c if c.isprintable() else "?" for c in path[:300])
