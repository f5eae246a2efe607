"""The routes of a session: sign in with an API key, ask who one is, sign out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, Field, StringConstraints

from penstock.auth.access import needs, public
from penstock.auth.api_keys import find_key
from penstock.auth.browser_session import SignedIn, find_session, sign_in, sign_out
from penstock.auth.caller import Caller, caller_of
from penstock.kernel.store import Store
from penstock.schema.role import Role
from penstock.web.errors import ForeignPage, SignInRefused
from penstock.web.identity import Guard
from penstock.web.signing_in.session_cookie import SessionCookie

PATH = "/api/session"
_PER_MINUTE = 20


class SignIn(BaseModel):
    """What one signs in with."""

    key: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)] = Field(
        description="An API key, as `penstock keys create` has shown it."
    )


class SessionView(BaseModel):
    """Who the caller is, and until when."""

    name: str = Field(description="As the audit trail names them.")
    role: Role | None = Field(description="Null for a guest.")
    project: str | None = Field(description="The only project that is theirs; null for all.")
    expires_at: datetime | None = Field(description="When the session ends unless it is used; null without a session.")
    csrf: str | None = Field(description="To be sent as X-CSRF-Token with whatever is not a GET; null without one.")


def add_session(app: FastAPI, store: Store, cookie: SessionCookie) -> None:
    """The routes under /api/session. The store is the whole one, as a key may be of any project."""
    _add_begin(app, store, cookie)
    _add_present(app)
    _add_end(app, store, cookie)


def _add_begin(app: FastAPI, store: Store, cookie: SessionCookie) -> None:
    @public(per_minute=_PER_MINUTE)
    def begin_session(request: Request, response: Response, body: SignIn) -> SessionView:
        """Sign in: the answer sets a cookie, which no script can read. A session that was there before is ended."""
        _check_origin(request, cookie)
        key = find_key(store, body.key)
        if key is None:
            raise _noted(request, SignInRefused("the API key is unknown or was revoked"))
        name = f"{key.name}#{key.key_id}"
        signed_in = sign_in(store, key, by=name, once=caller_of(request).claim)
        former = find_session(store, cookie.read(request) or "")
        if former is not None:
            sign_out(store, former, by=name)
        cookie.write(request, response, signed_in.secret)
        return _view(Caller(name, key.role, key.project_id, store), signed_in)

    _add(app, "POST", begin_session, "session_begin")


def _add_present(app: FastAPI) -> None:
    @public(per_minute=240)
    def present_session(request: Request) -> SessionView:
        """Who the caller is. One who is not signed in is a guest; where keys are off, the local administrator."""
        return _view(caller_of(request), request.state.signed_in)

    _add(app, "GET", present_session, "session_present")


def _add_end(app: FastAPI, store: Store, cookie: SessionCookie) -> None:
    @needs(Role.VIEWER)
    def end_session(request: Request) -> Response:
        """Sign out: the session ends at once, and its cookie is forgotten."""
        signed_in: SignedIn | None = request.state.signed_in
        if signed_in is not None:
            sign_out(store, signed_in, by=caller_of(request).name)
        answer = Response(status_code=204)
        cookie.clear(request, answer)
        return answer

    _add(app, "DELETE", end_session, "session_end", status_code=204)


def _add(app: FastAPI, method: str, function: Any, name: str, **more: Any) -> None:
    app.router.add_api_route(PATH, function, methods=[method], tags=["session"], operation_id=name, **more)


def _check_origin(request: Request, cookie: SessionCookie) -> None:
    """A page of another site must not sign anybody in, not even as itself."""
    origin = request.headers.get("origin")
    if origin is not None and not cookie.is_ours(request, origin):
        raise _noted(request, ForeignPage("the request comes from a page of another site"))


def _noted(request: Request, refused: Any) -> Any:
    guard: Guard = request.app.state.guard
    guard.note(request, refused, PATH)
    return refused


def _view(caller: Caller, signed_in: SignedIn | None) -> SessionView:
    return SessionView(
        name=caller.name,
        role=caller.role,
        project=caller.project,
        expires_at=signed_in.session.expires_at if signed_in is not None else None,
        csrf=signed_in.csrf if signed_in is not None else None,
    )
