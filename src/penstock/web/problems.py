"""Every error in one shape: problem+json, as RFC 9457 has it, with what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from penstock.errors import PenstockError, TooSlow, Unavailable, title_of, told
from penstock.kernel.quota import QuotaExceeded
from penstock.web.errors import (
    BadRequest,
    BodyTooLarge,
    Forbidden,
    InvalidRequest,
    MethodNotAllowed,
    NoSuchRoute,
    OtherHttpError,
    RateLimited,
    Unauthenticated,
    Unexpected,
)
from penstock.web.hints import hint_for

PROBLEM = "application/problem+json"
_LONGEST, _HEAD, _TAIL = 500, 200, 200
"Characters of a text: a longer one loses its middle, which is most often what was sent."
_MOST_FIELDS = 20


class FieldProblem(BaseModel):
    """One thing that does not fit."""

    where: str = Field(description="The parameter, or the path within the body.")
    message: str


class Problem(BaseModel):
    """What went wrong, and what to do."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(description="The kind of problem; every kind is described in the reference.")
    title: str
    status: int
    detail: str
    hint: str = Field(description="What to do about it.")
    request_id: str = Field(description="Finds the request in the log.")
    fields: list[FieldProblem] | None = Field(None, description="For invalid-request: each thing that does not fit.")


def answer_problems(app: Starlette) -> None:
    """Have every error of an application answered as a problem."""
    app.add_exception_handler(PenstockError, _penstock_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_exception)


def problem(request: Request, error: PenstockError, *, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to an error."""
    status = error.status if isinstance(error, OtherHttpError) else error.http_status
    body: dict[str, Any] = {
        "type": error.slug,
        "title": title_of(type(error)),
        "status": status,
        "detail": cut(told(error)),
        "hint": hint_for(error),
        "request_id": getattr(request.state, "request_id", ""),
    }
    if isinstance(error, InvalidRequest):
        body["fields"] = [{name: cut(str(text)) for name, text in f.items()} for f in error.fields[:_MOST_FIELDS]]
    # ASCII: a message may quote what was sent, and half a surrogate pair is no UTF-8.
    content = json.dumps(body, ensure_ascii=True).encode()
    return Response(content, status, {**_headers_of(error), **(headers or {})}, media_type=PROBLEM)


def cut(text: str) -> str:
    """A text of a length that does not depend on the request's."""
    return text if len(text) <= _LONGEST else f"{text[:_HEAD]} … {text[-_TAIL:]}"


def _headers_of(error: PenstockError) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    if isinstance(error, RateLimited | QuotaExceeded):
        headers["Retry-After"] = str(error.retry_after)
    elif isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    elif isinstance(error, TooSlow):
        headers["Connection"] = "close"  # what else comes of it is no request
    elif error.http_status == 503:
        headers["Retry-After"] = "1"
    return headers


def _penstock_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PenstockError)
    guard = getattr(request.app.state, "guard", None)
    if guard is not None and isinstance(error, Unavailable):
        guard.outages.met(error)
    if told(error) != str(error):
        request.state.failure = error  # for the log
    return problem(request, error)


def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return problem(request, invalid_request(error.errors()))


def invalid_request(errors: Any) -> InvalidRequest:
    """What pydantic found, without the values that were sent: they may be private."""
    fields = [_no_json(e) if e.get("type") == "json_invalid" else _field(e) for e in errors]
    first = "; ".join(f"{f['where']}: {f['message']}" for f in fields[:3])
    return InvalidRequest(f"{first}{' …' if len(fields) > 3 else ''}", fields)


def _field(error: Any) -> dict[str, str]:
    return {
        "where": cut(".".join(map(str, error["loc"]))) or "body",
        "message": cut(str(error["msg"]).removeprefix("Value error, ")),
    }


def _no_json(error: Any) -> dict[str, str]:
    """What is wrong with a body that is no JSON, and where in it."""
    at = error["loc"][-1] if isinstance(error["loc"][-1], int) else 0
    why = cut(str((error.get("ctx") or {}).get("error", "")))
    return {"where": "body", "message": f"this is no JSON{f': {why}' if why else ''}, at character {at + 1}"}


def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(sorted(_methods_at(request)))
    return problem(request, _named(request, error), headers=headers)


def _named(request: Request, error: HTTPException) -> PenstockError:
    where = request.url.path
    match error.status_code:
        case 400:
            return BadRequest(error.detail)
        case 401:
            return Unauthenticated(error.detail)
        case 403:
            return Forbidden(error.detail)
        case 404 if "endpoint" not in request.scope:
            return NoSuchRoute(f"there is nothing at {where}")
        case 413:
            return BodyTooLarge(error.detail)
        case 405:
            return MethodNotAllowed(f"{where} does not take {request.method}")
    return OtherHttpError(error.detail or HTTPStatus(error.status_code).phrase, status=error.status_code)


def _methods_at(request: Request) -> set[str]:
    """All methods of a path; one route alone knows only its own."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= set(getattr(route, "methods", None) or ())
    return found


def unexpected(request: Request) -> Response:
    """The answer to a mistake of ours: nothing of what went wrong inside."""
    return problem(request, Unexpected("The service made a mistake; nothing is known of it outside the log."))
