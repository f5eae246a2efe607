"""Idempotency-Key: a POST that is sent again is carried out once, and answered as the first time.

A request claims its key. The change that does it ends the claim, and keeps the answer in the same commit: whole, or
what the route's `again` makes it from. A route that has no effect on records needs no such change; its answer is noted
once it is known. A request that was refused has changed nothing, so it may be sent again under the same key. URLs that
open by themselves are not kept with an answer: its route makes new ones, or it cannot be had again.

A process that dies over a request leaves its claim behind. Another may try when that is over by the slowest clock that
may be in use: after a minute on the embedded store, and on others after the skew that is admitted as well (5 minutes).
What the dead one has put before its change, under ids of the claim, the other meets again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

from fastapi.encoders import jsonable_encoder
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from python_multipart.multipart import parse_options_header
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from penstock.auth.caller import Caller, read_address
from penstock.errors import Conflict
from penstock.kernel.idempotency import Claim, Replay, SystemOnce, begin, once_key
from penstock.net.pool import THREADS
from penstock.web.client import mark_of
from penstock.web.errors import AnswerNotKept, InvalidRequest
from penstock.web.options import WebOptions
from penstock.web.record_path import segments_of
from penstock.web.strict import check_claim, watched_writes

Handler = Callable[[Request], Awaitable[Response]]
Again = Callable[[Request, dict[str, Any]], Any]

HEADER, REPLAYED = "Idempotency-Key", "Idempotent-Replayed"
LONGEST_KEY = 200
_PERIOD = timedelta(minutes=1)
"How long a request may take before another with the same key may try."
_REFUSED = 60
"Seconds for which it is known that a request was refused."
_JSON = "application/json"
_LARGEST = 200_000
"Bytes of an answer that is kept; a record has room for 400,000, and the answer is not all of it."
_OPENS_BY_ITSELF = re.compile(r"X-(Amz|Goog)-(Signature|Credential)=|[?&]signature=", re.IGNORECASE)
_NOTHING_TO_SAY = 204
_ANSWER = {"status", "headers", "body"}
"What the service keeps of an answer has these; a route's own change keeps something else."
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


class KeptAnswers:
    """The answers of one route: how they are kept, and given again."""

    def __init__(self, route: APIRoute) -> None:
        self._route = route
        self._again: Again | None = getattr(route.endpoint, "__again__", None)

    def keep(self, view: Any) -> dict[str, Any]:
        """What is kept of an answer before it is sent, given what the route returns."""
        if isinstance(view, Response):
            return _answer(view).kept()
        if self._status == _NOTHING_TO_SAY:
            return IdempotentAnswer(self._status, {}, b"").kept()
        return IdempotentAnswer(self._status, {"content-type": _JSON}, self._json(view)).kept()

    def replay(self, request: Request, kept: dict[str, Any]) -> Response:
        """The answer to a repetition, from what was kept: by the service, or by the route's own change."""
        if not kept.keys() >= _ANSWER:
            if self._again is None:
                raise AnswerNotKept("the request was carried out before; its route has kept no answer")
            body = self._json(self._again(request, kept))
            return Response(body, self._status, {"content-type": _JSON, REPLAYED: "true"})
        text = kept["body"]
        if text is None:
            raise AnswerNotKept("the request was carried out before; its answer was too large to keep")
        if kept.get("closed"):
            if self._again is None:
                raise AnswerNotKept("the request was carried out before; its answer held URLs, which are never kept")
            text = self._json(self._again(request, json.loads(text))).decode()
        return Response(text.encode(), int(kept["status"]), {**kept["headers"], REPLAYED: "true"})

    @property
    def _status(self) -> int:
        return self._route.status_code or 200

    @cached_property
    def _model(self) -> TypeAdapter[Any]:
        return TypeAdapter(self._route.response_model)

    def _json(self, view: Any) -> bytes:
        """As FastAPI would send it."""
        route = self._route
        if route.response_model is None:
            return bytes(JSONResponse(jsonable_encoder(view)).body)
        checked = self._model.validate_python(view, from_attributes=True)
        return self._model.dump_json(
            checked,
            by_alias=route.response_model_by_alias,
            exclude_unset=route.response_model_exclude_unset,
            exclude_defaults=route.response_model_exclude_defaults,
            exclude_none=route.response_model_exclude_none,
        )


async def answer_once(
    request: Request, caller: Caller, options: WebOptions, handler: Handler, answers: KeptAnswers
) -> Response:
    """Carry a request out, unless one with the same key was before."""
    caller = request.state.caller = replace(caller, keeping=answers.keep)
    key = request.headers.get(HEADER)
    if key is None and not options.strict_claims:
        return await handler(request)
    key = os.urandom(16).hex() if key is None else key  # nobody knows it, but the route must be able to cope
    if not 0 < len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise InvalidRequest(f"{HEADER} has 1 to {LONGEST_KEY} printable ASCII characters")
    mark = _mark(request, await request.body(), caller, key, options)
    claim = await THREADS.run(partial(begin, caller.store, mark, owner=os.urandom(8).hex(), period=_PERIOD))
    if isinstance(claim, Replay):
        return await THREADS.run(answers.replay, request, claim.result or {})
    request.state.caller = replace(caller, claim=claim)
    try:
        with watched_writes() as writes:
            response = await handler(request)
            if options.strict_claims and 200 <= response.status_code < 300:
                check_claim(request, claim, writes)
    except Exception:
        await THREADS.run(_give_back, caller, claim)
        raise
    if not 200 <= response.status_code < 300:
        await THREADS.run(_give_back, caller, claim)
    elif not claim.ended:
        await THREADS.run(_note, caller, claim, response)
    return response


def _mark(request: Request, body: bytes, caller: Caller, key: str, options: WebOptions) -> SystemOnce:
    now = caller.store.clock.now()
    asked = once_key(request.method, _path(request), sorted(request.query_params.multi_items()), _digest(request, body))
    # Of one caller: nobody meets another's keys, by chance or by guessing. All guests have one name.
    whose = [caller.name] if caller.role is not None else [caller.name, _guest(caller, options)]
    return SystemOnce(
        idempotency_key=once_key("http", *whose, key),
        project_id=caller.project,
        fingerprint=asked,
        seed=os.urandom(16).hex(),
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
    if kind != b"multipart/form-data" or not said.get(b"boundary"):
        return hashlib.sha256(body).hexdigest()
    digest = hashlib.sha256()
    for part in _parts(body, said[b"boundary"]):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def _parts(body: bytes, boundary: bytes) -> Iterator[memoryview]:
    """What stands between the delimiters of a form. The same text within a line is part of a value."""
    delimiter = b"\r\n--" + boundary
    view, at = memoryview(body), 0
    if body.startswith(delimiter[2:]):  # the first one begins the body
        yield view[:0]
        at = len(delimiter) - 2
    while (end := body.find(delimiter, at)) >= 0:
        yield view[at:end]
        at = end + len(delimiter)
    yield view[at:]


def _closed(value: Any) -> Any:
    """A value without what opens by itself."""
    if isinstance(value, dict):
        return {name: _closed(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_closed(member) for member in value]
    return None if isinstance(value, str) and _OPENS_BY_ITSELF.search(value) else value


def _answer(response: Response) -> IdempotentAnswer:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return IdempotentAnswer(response.status_code, headers, bytes(getattr(response, "body", b"")))


def _note(caller: Caller, claim: Claim, response: Response) -> None:
    with suppress(Conflict):  # it took so long that another has tried
        caller.store.commit([claim.done(_answer(response).kept())])


def _give_back(caller: Caller, claim: Claim) -> None:
    if claim.ended:
        return  # it has happened, whatever went wrong afterwards
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
