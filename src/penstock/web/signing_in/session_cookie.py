"""The cookie of a session: named, written and read here, and read by nobody else.

Under https its name has the prefix that keeps other hosts from setting it. Without, it carries the port: two services
on one machine would overwrite each other's else, as cookies are not told apart by port.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import Response

from penstock.auth.browser_session import LONGEST
from penstock.web.client import Clients

NAME = "penstock_session"
_PREFIX = "__Host-"
_OURS = re.compile(rb"(?:__Host-)?penstock_session(?:_[0-9]{1,5})?=[A-Za-z0-9._-]{1,200}")
_PORT = re.compile(r".*:([0-9]{1,5})")


class SessionCookie:
    """Knows its name, given a request."""

    def __init__(self, clients: Clients, *, public_url: str | None = None) -> None:
        self._clients = clients
        self._public_url = (public_url or "").lower()

    def read(self, request: Request) -> str | None:
        """The secret that a request brings along."""
        wanted = self._name(request)
        for pair in request.headers.get("cookie", "").split("; "):
            name, _, value = pair.partition("=")
            if name == wanted:
                return value
        return None

    def write(self, request: Request, response: Response, secret: str) -> None:
        """Have the browser keep the secret, where no script reads it and no other site sends it."""
        self._set(request, response, secret, seconds=int(LONGEST.total_seconds()))

    def clear(self, request: Request, response: Response) -> None:
        """Have the browser forget it."""
        self._set(request, response, "", seconds=0)

    def is_ours(self, request: Request, origin: str) -> bool:
        """Is this the origin of our own pages? A proxy may end the https, so the scheme is not compared."""
        said = self._clients.forwarded(request.scope, request.headers, "x-forwarded-host")
        hosts = {request.headers.get("host", ""), said or ""} - {""}
        ours = {f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")}
        return origin.lower() in {o.lower() for o in ours} | {_origin_of(self._public_url)} - {""}

    def _set(self, request: Request, response: Response, secret: str, *, seconds: int) -> None:
        response.set_cookie(
            self._name(request),
            secret,
            max_age=seconds,
            path="/",
            secure=self._is_secure(request),
            httponly=True,
            samesite="strict",
        )

    def _name(self, request: Request) -> str:
        if self._is_secure(request):
            return _PREFIX + NAME
        port = _PORT.fullmatch(request.headers.get("host", ""))
        return f"{NAME}_{port[1]}" if port else NAME

    def _is_secure(self, request: Request) -> bool:
        said = self._clients.forwarded(request.scope, request.headers, "x-forwarded-proto")
        return "https" in (request.url.scheme, (said or "").lower()) or self._public_url.startswith("https://")


def own_cookies(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers with our own cookies and no others: what somebody else set is nothing to read.

    By splitting, as Python's own reader takes the square of their length.
    """
    kept = [(name, value) for name, value in headers if name != b"cookie"]
    pairs = [p.strip() for name, value in headers if name == b"cookie" for p in value.split(b";")]
    ours = [p for p in pairs if _OURS.fullmatch(p)]
    return [*kept, (b"cookie", b"; ".join(ours))] if ours else kept


def _origin_of(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])
