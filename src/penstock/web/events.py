"""Changes as they happen: a stream of server-sent events, which a client can take up again where it broke off.

A stream begins with an event ``ready``, whose id is where the feed stands. Each change follows with its own id; a
client that reconnects with the last one as Last-Event-ID misses nothing, as long as the store keeps its feed. A caller
bound to a project hears of that project only.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import StreamingResponse

from penstock.access import heavy
from penstock.caller import Caller, caller_of
from penstock.declare.entity import Entity
from penstock.errors import InvalidCursor, PenstockError
from penstock.kinds import key_text
from penstock.ops import FeedEntry
from penstock.shape import EntityShape
from penstock.store import Store
from penstock.web.errors import TooManyStreams
from penstock.web.forms import json_of, plain
from penstock.web.options import WebOptions
from penstock.web.route import AdmittedRoute

_BATCH = 500
_REMEMBERED = 1000
_SIGNATURE = 12


class Positions:
    """Positions of the feed as ids of events: signed, so that only what we gave out is ever read as one."""

    def __init__(self, secret: bytes, domain: str) -> None:
        self._key = hmac.new(secret, b"events:" + domain.encode(), hashlib.sha256).digest()

    def id_of(self, position: str | None) -> str:
        raw = (position or "").encode()
        return urlsafe_b64encode(self._sign(raw) + raw).decode().rstrip("=")

    def read(self, text: str) -> str | None:
        """The position; None for the beginning."""
        try:
            raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            raw = b""
        signature, position = raw[:_SIGNATURE], raw[_SIGNATURE:]
        if not hmac.compare_digest(signature, self._sign(position)):
            raise InvalidCursor("Last-Event-ID is not the id of an event of this stream; leave it out to start now")
        return position.decode() or None

    def _sign(self, position: bytes) -> bytes:
        return hmac.new(self._key, position, hashlib.sha256).digest()[:_SIGNATURE]


class Streams:
    """The streams of one process: not too many, and none that keeps the process from ending."""

    def __init__(self, most: int) -> None:
        self._most, self._open = most, 0
        self.closing = False

    def close(self) -> None:
        """End every stream soon; its client will connect again, to another process."""
        self.closing = True

    def check_room(self) -> None:
        if self.closing or self._open >= self._most:
            raise TooManyStreams("this process follows as many event streams as it can")

    @contextmanager
    def counted(self) -> Iterator[None]:
        """While a stream is open. Only the event loop's thread counts."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1


class Ends:
    """Where the feed has ended so far. It can only be followed, and is not followed from its beginning twice."""

    def __init__(self, shapes: Sequence[EntityShape]) -> None:
        self._shapes = shapes
        self._known: dict[str | None, str | None] = {}

    def find(self, caller: Caller) -> str | None:
        """Where the feed stands now, as this caller sees it."""
        known = self._known.get(caller.project)
        try:
            position = self._follow(caller.store, known)
        except PenstockError:
            if known is None:
                raise
            position = self._follow(caller.store, None)  # the store has not kept its feed since
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[caller.project] = position
        return position

    def _follow(self, store: Store, position: str | None) -> str | None:
        while entries := store.engine.changes(self._shapes, after=position, limit=_BATCH):
            position = entries[-1].position
            if len(entries) < _BATCH:
                break
        return position


def add_events(app: FastAPI, entities: Sequence[type[Entity]], *, prefix: str, tag: str, options: WebOptions) -> None:
    """The stream of a domain's changes, if any of its tables has a feed."""
    shapes = [e.__shape__ for e in entities if e.__shape__.table.feed]
    if not shapes:
        return
    positions, ends = Positions(options.secret, tag), Ends(shapes)

    async def events(request: Request) -> StreamingResponse:
        caller = caller_of(request)
        last = request.headers.get("last-event-id")
        position = positions.read(last) if last else await asyncio.to_thread(ends.find, caller)
        # Asked once here, so that a caller who may not listen is refused and not merely told nothing.
        await asyncio.to_thread(caller.store.engine.changes, shapes, after=position, limit=1)
        app.state.streams.check_room()
        stream = _Stream(app, request, caller, shapes, positions, options)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(stream.run(position), headers=headers, media_type="text/event-stream")

    events.__doc__ = (
        "Changes of " + ", ".join(s.relation for s in shapes) + ", as server-sent events. Reconnect with the last "
        "event's id as Last-Event-ID to miss nothing; without one the stream begins now."
    )
    events.__gives__ = (400,)  # type: ignore[attr-defined]
    heavy("streams")(events)
    app.router.add_api_route(
        f"{prefix}/events",
        events,
        methods=["GET"],
        route_class_override=AdmittedRoute,
        tags=[tag],
        operation_id=f"{tag}_events",
        response_class=StreamingResponse,
        responses={200: {"description": "A stream of events.", "content": {"text/event-stream": {}}}},
    )


class _Stream:
    def __init__(
        self,
        app: FastAPI,
        request: Request,
        caller: Caller,
        shapes: Sequence[EntityShape],
        positions: Positions,
        options: WebOptions,
    ) -> None:
        self._app, self._request, self._caller = app, request, caller
        self._shapes, self._positions, self._options = shapes, positions, options

    async def run(self, position: str | None) -> AsyncIterator[bytes]:
        streams: Streams = self._app.state.streams
        with streams.counted():
            yield self._event("ready", position, {})
            checked = time.monotonic()
            while not streams.closing:
                try:
                    entries = await asyncio.to_thread(self._next, position)
                except PenstockError:
                    return  # the store is away: the client connects again and takes up where it was
                for entry in entries:
                    position = entry.position
                    yield self._event(f"{entry.shape.relation}.{entry.kind}", position, _told(entry))
                if time.monotonic() - checked >= self._options.heartbeat.total_seconds():
                    if not await asyncio.to_thread(self._still_may):
                        return
                    checked = time.monotonic()
                    yield b": still here\n\n"
                await asyncio.sleep(self._options.poll.total_seconds())

    def _next(self, position: str | None) -> list[FeedEntry]:
        return self._caller.store.engine.changes(self._shapes, after=position, limit=_BATCH)

    def _still_may(self) -> bool:
        """A key may have been revoked since the stream began."""
        route: AdmittedRoute = self._request.scope["route"]
        try:
            self._app.state.guard.admit(self._request, route.path_format, route.access)
        except PenstockError:
            return False
        return True

    def _event(self, name: str, position: str | None, data: dict[str, Any]) -> bytes:
        return f"event: {name}\nid: {self._positions.id_of(position)}\ndata: ".encode() + json_of(data) + b"\n\n"


def _told(entry: FeedEntry) -> dict[str, Any]:
    fields = entry.shape.fields
    return {
        "entity": entry.shape.relation,
        "kind": entry.kind,
        "cause": entry.cause,
        "key": {n: key_text(fields[n], v) for n, v in entry.key.items()},
        "old": None if entry.old is None else plain(entry.old),
        "new": None if entry.new is None else plain(entry.new),
    }
