"""Idempotency-Key: a POST that is sent again is carried out once, and answered as the first time.

The answer of a request that succeeded is kept, in the very commit of its effect where the route allows that. A request
that was refused has changed nothing, so it may be sent again under the same key. URLs that open by themselves are not
kept with an answer: its route makes new ones, or it cannot be had again.

A process that dies over a request leaves its claim behind. Another may try when that is over by the slowest clock that
may be in use: after a minute on the embedded store, and on others after the skew that is admitted as well (5 minutes).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from pydantic_core import to_json
from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from penstock.auth.caller import Caller, read_address
from penstock.errors import Conflict
from penstock.kernel.idempotency import Claim, Replay, SystemOnce, begin, once_key
from penstock.web.client import mark_of
from penstock.web.errors import AnswerNotKept, InvalidRequest
from penstock.web.options import WebOptions
from penstock.web.record_path import segments_of

Handler = Callable[[Request], Awaitable[Response]]
Again = Callable[[Request, dict[str, Any]], Any]

HEADER, REPLAYED = "Idempotency-Key", "Idempotent-Replayed"
LONGEST_KEY = 200
_CLAIM = timedelta(minutes=1)
"How long a request may take before another with the same key may try."
_REFUSED = 60
"Seconds for which it is known that a request was refused."
_JSON = "application/json"
_LARGEST = 200_000
"Bytes of an answer that is kept; a record has room for 400,000, and the answer is not all of it."
_OPENS_BY_ITSELF = re.compile(r"X-(Amz|Goog)-(Signature|Credential)=|[?&]signature=", re.IGNORECASE)
_KEPT_HEADERS = ("content-type", "etag", "location")


@dataclass(frozen=True, slots=True)
class IdempotentAnswer:
    """An answer that can be kept."""

    status: int
    headers: dict[str, str]
    body: bytes

    def kept(self) -> dict[str, Any]:
        """As it is stored."""
        small = len(self.body) <= _LARGEST
        body = self.body.decode() if small and _is_text(self.body) else None
        if body is None or not _OPENS_BY_ITSELF.search(body):
            return {"status": self.status, "headers": self.headers, "body": body}
        closed = json.dumps(_closed(json.loads(body))) if self.headers.get("content-type") == _JSON else None
        return {"status": self.status, "headers": self.headers, "body": closed, "closed": True}

    def response(self) -> Response:
        return Response(self.body, self.status, self.headers)


async def answer_once(
    request: Request, caller: Caller, options: WebOptions, handler: Handler, *, again: Again | None = None
) -> Response:
    """Carry a request out, unless one with the same key was before."""
    key = request.headers.get(HEADER)
    if key is None:
        return await handler(request)
    if not 0 < len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise InvalidRequest(f"{HEADER} has 1 to {LONGEST_KEY} printable ASCII characters")
    mark = _mark(request, await request.body(), caller, key, options)
    claim = await run_in_threadpool(begin, caller.store, mark, owner=os.urandom(8).hex(), period=_CLAIM)
    if isinstance(claim, Replay):
        return await run_in_threadpool(_replayed, request, claim.result or {}, again)
    request.state.caller = replace(caller, claim=claim)
    try:
        response = await handler(request)
    except Exception:
        await run_in_threadpool(_give_back, caller, claim)
        raise
    if not 200 <= response.status_code < 300:
        await run_in_threadpool(_give_back, caller, claim)
    elif not getattr(request.state, "claim_ended", False):
        await run_in_threadpool(_note, caller, claim, response)
    return response


def ended_with_its_change(request: Request) -> None:
    """Say that the route's own commit has ended the claim."""
    request.state.claim_ended = True


def _mark(request: Request, body: bytes, caller: Caller, key: str, options: WebOptions) -> SystemOnce:
    now = caller.store.clock.now()
    asked = once_key(request.method, _path(request), sorted(request.query_params.multi_items()), _digest(request, body))
    # Of one caller: nobody meets another's keys, by chance or by guessing. All guests have one name.
    whose = [caller.name] if caller.role is not None else [caller.name, _guest(caller, options)]
    return SystemOnce(
        idempotency_key=once_key("http", *whose, key),
        project_id=caller.project,
        fingerprint=asked,
        created_at=now,
        ttl=int((now + options.remember_answers).timestamp()),
    )


def _path(request: Request) -> str:
    """Which path is meant. A slash within a segment is told from one between two: they are other records."""
    segments = segments_of(request.scope)
    return request.url.path if not any("/" in s for s in segments) else once_key(*segments)


def _guest(caller: Caller, options: WebOptions) -> str:
    return mark_of(read_address(caller.address), "guest", secret=options.secret)


def _digest(request: Request, body: bytes) -> str:
    """What tells bodies apart: their bytes, but not the boundary of a form's parts, which is chosen anew each time."""
    kind, said = parse_options_header(request.headers.get("content-type"))
    if kind == b"multipart/form-data" and said.get(b"boundary"):
        body = body.replace(said[b"boundary"], b"")
    return hashlib.sha256(body).hexdigest()


def _replayed(request: Request, kept: dict[str, Any], again: Again | None) -> Response:
    body = kept.get("body")
    if body is None:
        raise AnswerNotKept("the request was carried out before; its answer was too large to keep")
    if kept.get("closed"):
        if again is None:
            raise AnswerNotKept("the request was carried out before; its answer held URLs, which are never kept")
        body = to_json(again(request, json.loads(body))).decode()
    return Response(body.encode(), int(kept["status"]), {**kept["headers"], REPLAYED: "true"})


def _closed(value: Any) -> Any:
    """A value without what opens by itself."""
    if isinstance(value, dict):
        return {name: _closed(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_closed(member) for member in value]
    return None if isinstance(value, str) and _OPENS_BY_ITSELF.search(value) else value


def _note(caller: Caller, claim: Claim, response: Response) -> None:
    body = bytes(getattr(response, "body", b""))
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    with suppress(Conflict):  # it took so long that another has tried
        caller.store.commit([claim.done(IdempotentAnswer(response.status_code, headers, body).kept())])


def _give_back(caller: Caller, claim: Claim) -> None:
    # There is nothing to answer with again, and guests could leave any number of them behind.
    soon = int(caller.store.clock.now().timestamp()) + _REFUSED
    with suppress(Conflict):
        caller.store.commit([claim.failed(forgotten_at=soon)])


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in body
