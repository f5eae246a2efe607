"""Changes as they happen: a stream of server-sent events, which a client can take up again where it broke off.

A stream begins with an event ``ready``, whose id is where the feed stands. Each change follows with its own id; a
client that reconnects with the last one as Last-Event-ID misses nothing, or is told that the store keeps its feed no
longer than from behind there (``feed-trimmed``). A caller
bound to a project hears of that project only, and nobody of personal fields that their role does not show.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from penstock.auth.access import heavy
from penstock.auth.caller import Caller, caller_of, network_of, read_address
from penstock.declare.entity import Entity
from penstock.declare.rendering import rendered
from penstock.errors import InvalidCursor, PenstockError
from penstock.kernel.store import Store
from penstock.operations.feed_entry import FeedEntry
from penstock.schema.kinds import key_text
from penstock.schema.shape import EntityShape
from penstock.web.errors import TooManyStreams
from penstock.web.forms import json_of
from penstock.web.options import WebOptions
from penstock.web.route import AdmittedRoute
from penstock.web.watch import Ear, Watch

_SIGNATURE = 12
_PATIENCE = 30.0
"Seconds that a client may take to read what it was sent; then it must connect again."


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


class EventStreams:
    """The streams of one process: not too many, none that keeps the process from ending, and none but for all."""

    def __init__(self, most: int, *, each: int | None = None) -> None:
        self._most, self._each = most, each if each is not None else max(most // 10, 10)
        self.open = 0
        self._whose: Counter[str] = Counter()
        self.closing = False

    def close(self) -> None:
        """End every stream soon; its client will connect again, to another process."""
        self.closing = True

    def enter(self, caller: Caller) -> Callable[[], None]:
        """Take a place for a stream; what gives it back. Only the event loop's thread counts."""
        if self.closing or self.open >= self._most:
            raise TooManyStreams("this process follows as many event streams as it can")
        whose = {
            f"key {caller.name}": "this key has",
            f"address {network_of(read_address(caller.address))}": "this address has",
        }
        for who, has in whose.items():
            if self._whose[who] >= self._each:
                raise TooManyStreams(f"{has} {self._each} event streams at this process already; close one of them")
        self.open += 1
        self._whose.update(whose.keys())

        def leave() -> None:
            self.open -= 1
            self._whose.subtract(whose.keys())
            self._whose += Counter()  # those who have none left are forgotten

        return leave


@dataclass(frozen=True, slots=True)
class EventPart:
    """The changes of some entities, followed once for all who listen to them, in whichever stream."""

    name: str
    shapes: Sequence[EntityShape]
    watch: Watch


def event_part(entities: Sequence[type[Entity]], store: Store, *, name: str, options: WebOptions) -> EventPart | None:
    """What can be heard of a domain; None where none of its tables has a feed."""
    shapes = [e.__shape__ for e in entities if e.__shape__.table.feed]
    poll = options.costly_poll if store.engine.features.costly_feed else options.poll
    return EventPart(name, shapes, Watch(store, shapes, partial(_told, name), poll=poll)) if shapes else None


def add_events(app: FastAPI, part: EventPart, store: Store, *, prefix: str, options: WebOptions) -> None:
    """The stream of a domain's changes."""
    shapes, watch, tag = part.shapes, part.watch, part.name
    positions = Positions(options.secret, tag)

    async def events(request: Request) -> StreamingResponse:
        caller = caller_of(request)
        last = request.headers.get("last-event-id")
        known = positions.read(last) if last else None
        leave = app.state.streams.enter(caller)
        try:
            end = await watch.end()
            # Asked once as the caller, so that one who may not listen is refused and not merely told nothing.
            await asyncio.to_thread(caller.store.engine.changes, shapes, after=end, limit=1)
            if known is not None:
                # And whoever comes too late for what followed is told so, instead of missing it.
                await asyncio.to_thread(store.engine.changes, shapes, after=known, limit=1)
        except BaseException:
            leave()
            raise
        position = watch.passed(Ear(caller.project, caller.role), known) if last else end
        return OpenStream(_Stream(app, request, caller, watch, positions, options).run(position), leave)

    events.__doc__ = (
        "Changes of " + ", ".join(s.collection for s in shapes) + ", as server-sent events. Reconnect with the last "
        "event's id as Last-Event-ID to miss nothing; without one the stream begins now."
    )
    add_stream(app, f"{prefix}/events", events, tag=tag, gives=(400, 410))


def add_stream(app: FastAPI, path: str, events: Any, *, tag: str, gives: tuple[int, ...]) -> None:
    """A route that answers with a stream of events."""
    events.__gives__ = gives
    heavy("streams")(events)
    app.router.add_api_route(
        path,
        events,
        methods=["GET"],
        route_class_override=AdmittedRoute,
        tags=[tag],
        operation_id="_".join([*([tag] if path != "/api/events" else []), "events"]),
        response_class=StreamingResponse,
        responses={200: {"description": "A stream of events.", "content": {"text/event-stream": {}}}},
    )


class OpenStream(StreamingResponse):
    """A stream that gives its place back however it ends, and ends when its client does not read."""

    def __init__(self, events: AsyncGenerator[bytes, None], leave: Callable[[], None]) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, headers=headers, media_type="text/event-stream")
        self._events, self._leave = events, leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()
            await self._events.aclose()

    async def stream_response(self, send: Send) -> None:
        async def patiently(message: Message) -> None:
            async with asyncio.timeout(_PATIENCE):
                await send(message)

        with suppress(TimeoutError):
            await super().stream_response(patiently)


class _Stream:
    def __init__(
        self,
        app: FastAPI,
        request: Request,
        caller: Caller,
        watch: Watch,
        positions: Positions,
        options: WebOptions,
    ) -> None:
        self._app, self._request, self._caller = app, request, caller
        self._watch, self._positions, self._options = watch, positions, options

    async def run(self, position: str | None) -> AsyncGenerator[bytes, None]:
        streams: EventStreams = self._app.state.streams
        yield event_bytes("ready", self._positions.id_of(position), {})
        checked = time.monotonic()
        ear = Ear(self._caller.project, self._caller.role)
        with suppress(PenstockError):  # the store is away: the client connects again and takes up where it was
            async with aclosing(self._watch.follow(ear, position)) as told:
                async for followed in told:
                    if streams.closing:
                        return
                    if followed.event is not None:
                        yield f"id: {self._positions.id_of(followed.position)}\nevent: ".encode() + followed.event
                    if time.monotonic() - checked >= self._options.heartbeat.total_seconds():
                        if not await asyncio.to_thread(still_may, self._request):
                            return
                        checked = time.monotonic()
                        yield b": still here\n\n"


def still_may(request: Request) -> bool:
    """A key may have been revoked since a stream began."""
    route: AdmittedRoute = request.scope["route"]
    try:
        request.app.state.guard.admit(request, route.path_format, route.access)
    except PenstockError:
        return False
    return True


def event_bytes(name: str, id: str, data: dict[str, Any]) -> bytes:
    """An event that is no change."""
    return f"event: {name}\nid: {id}\ndata: ".encode() + json_of(data) + b"\n\n"


def _told(domain: str, entry: FeedEntry, hidden: frozenset[str]) -> bytes:
    """A change, from its name on; what stands before that is each stream's own."""
    fields = entry.shape.fields
    data = {
        "id": entry.id,
        "domain": domain,
        "entity": entry.shape.collection,
        "kind": entry.kind,
        "cause": entry.cause,
        "key": {n: key_text(fields[n], v) for n, v in entry.key.items()},
        "old": None if entry.old is None else rendered(entry.old, hidden=hidden),
        "new": None if entry.new is None else rendered(entry.new, hidden=hidden),
    }
    return f"{entry.shape.collection}.{entry.kind}\ndata: ".encode() + json_of(data) + b"\n\n"
