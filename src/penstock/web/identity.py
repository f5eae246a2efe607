"""Who may come in: by a key and its role, or by the session of a browser that has shown one.

Whoever has neither is a guest, wherever the request seems to come from. A request with both is the key's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import ceil
from time import monotonic
from typing import Any, TypeVar

from starlette.requests import Request

from penstock.auth.access import Access
from penstock.auth.api_keys import ApiKey, find_key
from penstock.auth.browser_session import SignedIn, find_session
from penstock.auth.caller import Caller
from penstock.auth.rate_limit import take_token
from penstock.errors import PenstockError
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.schema.role import Role
from penstock.web.client import Clients, mark_of
from penstock.web.errors import Forbidden, ForeignPage, ForgedRequest, RateLimited, Unauthenticated
from penstock.web.narrowing import PROJECT_HEADER, wanted_project
from penstock.web.options import WebOptions
from penstock.web.refusals import Refusals
from penstock.web.signing_in.session_cookie import SessionCookie

F = TypeVar("F", bound=Callable[..., Any])

_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_NAMED = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9.-]{1,253})(?::[0-9]{1,5})?")
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_SCOPES = 1000
_MOMENT, _REMEMBERED = 0.25, 1000
"Seconds for which it is good that a key was good, and so many callers at most."


def probe(endpoint: F) -> F:
    """Anybody may use the route as often as they like: it is asked by machines, and must not need the store."""
    endpoint.__access__ = Access(None)  # type: ignore[attr-defined]
    return endpoint


class Guard:
    """Decides about every request, before anything else of it is read."""

    def __init__(self, store: Store, options: WebOptions) -> None:
        self._store, self._options = store, options
        self._clients = Clients(options.trusted_proxies)
        self.cookie = SessionCookie(self._clients, public_url=options.public_url)
        self.refusals = Refusals(store)
        self.outages = outages_of(store)
        self._scoped = lru_cache(maxsize=_SCOPES)(store.scoped)
        self._just_now: dict[tuple[str, bytes], tuple[Caller, float]] = {}
        "Who was let in to routes that are brief, and until when that is good."

    def admit(self, request: Request, route: str, access: Access) -> Caller:
        """Let the caller in, as whom it is; or refuse, and write that down."""
        who, project = "", None
        try:
            key = self._key(request, access)
            if key is not None:
                who, project = f"{key.name}#{key.key_id}", key.project_id
            caller = self._narrowed(request, self._caller(request, key, access))
            _check_role(caller, access)
            if access.per_minute is not None:
                self._check_rate(request, route, access.per_minute)
            return replace(caller, address=str(self._address(request) or "unknown"))
        except (Unauthenticated, Forbidden, ForeignPage, RateLimited) as refused:
            self.note(request, refused, route, who=who, project=project)
            raise

    def remember(self, request: Request, route: str, caller: Caller) -> None:
        """Know for a moment that a caller was let in to a route by a key."""
        if caller.role is None or (token := _token(request)) is None:
            return
        if len(self._just_now) >= _REMEMBERED:
            self._just_now.clear()
        self._just_now[route, _digest(request, token)] = caller, monotonic() + _MOMENT

    def admit_again(self, request: Request, route: str) -> Caller | None:
        """Let a caller in who was let in to the route just now, without asking the store; None if nobody is known."""
        if not self._just_now or (token := _token(request)) is None:
            return None
        caller, until = self._just_now.get((route, _digest(request, token)), (None, 0.0))
        if caller is None or until < monotonic():
            return None
        return replace(caller, address=str(self._address(request) or "unknown"))

    def note(
        self, request: Request, refused: PenstockError, route: str, *, who: str = "", project: str | None = None
    ) -> None:
        """Write down that somebody was refused, by a name or by where they come from."""
        self.refusals.note(who or self._stranger(request), refused, route, project=project, stranger=not who)

    def _key(self, request: Request, access: Access) -> ApiKey | None:
        token = _token(request)
        request.state.signed_in = None
        if token is None:
            signed_in = request.state.signed_in = self._session(request, access)
            if signed_in is not None:
                return signed_in.key
            if access.role is None or not self._options.authentication:
                return None
            raise Unauthenticated("the request has no API key, and no session that lasts")
        key = find_key(self._store, token)
        if key is None:
            raise Unauthenticated("the API key is unknown or was revoked")
        return key

    def _session(self, request: Request, access: Access) -> SignedIn | None:
        """The session of a browser, if it has one that lasts. What would change something must come from our pages."""
        secret = self.cookie.read(request)
        signed_in = find_session(self._store, secret) if secret is not None else None
        if signed_in is None or request.method in _READING:
            return signed_in
        origin = request.headers.get("origin")
        if origin is not None and not self.cookie.is_ours(request, origin):
            raise ForeignPage("the request comes from a page of another site")
        if signed_in.is_shown(request.headers.get("x-csrf-token")):
            return signed_in
        if access.role is None:
            return None  # anybody may do it, so they do it as a guest
        raise ForgedRequest("the request has a session, but not its X-CSRF-Token")

    def _caller(self, request: Request, key: ApiKey | None, access: Access) -> Caller:
        if key is None and self._options.authentication:
            return Caller("public", None, None, self._store)
        if key is None:
            if access.role is not None or access.per_minute is not None:  # anybody may probe
                self._check_page(request)
            return Caller("local", Role.ADMIN, None, self._store)
        store = self._store if key.project_id is None else self._scoped(key.project_id)
        return Caller(f"{key.name}#{key.key_id}", key.role, key.project_id, store)

    def _narrowed(self, request: Request, caller: Caller) -> Caller:
        """The caller, who may have asked to see one project only. Guests have no project to choose."""
        wanted = wanted_project(request)
        if wanted is None or caller.role is None or wanted == caller.project:
            return caller
        if caller.project is not None:
            raise Forbidden(f"the key is bound to the project {caller.project}; leave {PROJECT_HEADER} out")
        return replace(caller, project=wanted, store=self._scoped(wanted))

    def _check_rate(self, request: Request, route: str, per_minute: int) -> None:
        # Hashed: where people come from is nothing to keep.
        bucket = mark_of(self._address(request), "rate", route, secret=self._options.secret)
        wait = take_token(self._store, bucket, per_minute=per_minute)
        if wait is not None:
            seconds = max(1, ceil(wait.total_seconds()))
            raise RateLimited(f"{route} takes {per_minute} requests a minute from one address", retry_after=seconds)

    def _check_page(self, request: Request) -> None:
        """Without keys, any page in a browser on this machine could speak to us: only our own may.

        The host keeps out names that were made to lead here; the origin keeps out forms and scripts of other sites. A
        proxy is known by what it adds, or by the HTTP of old that some speak; one that hides cannot be told.
        """
        if not self._clients.is_this_machine(request.scope, request.headers):
            raise ForeignPage("the request came through a proxy, or from another machine")
        allowed = _THIS_MACHINE | set(self._options.hosts)
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if _host(host) not in allowed:
            raise ForeignPage("the service was reached under a name that is not its own")
        if origin is not None and origin in self._options.cors_origins:
            return
        cross_site = request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if cross_site or origin not in (None, f"http://{host}", f"https://{host}"):
            raise ForeignPage("the request comes from a page of another site")

    def _address(self, request: Request) -> Any:
        return self._clients.address(request.scope, request.headers)

    def _stranger(self, request: Request) -> str:
        return f"stranger:{mark_of(self._address(request), 'stranger', secret=self._options.secret)[:12]}"


def _check_role(caller: Caller, access: Access) -> None:
    if access.role is not None and (caller.role is None or not caller.role.includes(access.role)):
        raise Forbidden(f"this takes the role {access.role.value}; the key has {caller.role or 'none'}")


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return request.headers.get("x-api-key") or None


def _digest(request: Request, token: str) -> bytes:
    """What tells callers apart: a key, and the project that it was narrowed to."""
    narrowed = request.headers.get(PROJECT_HEADER, "")
    return hashlib.sha256(f"{len(token)} {token}{narrowed}".encode()).digest()


def _host(header: str) -> str:
    """The name in a Host header; nothing of one that holds anything but a name and a port."""
    named = _NAMED.fullmatch(header)
    return named[1].strip("[]").lower() if named else ""
