"""Connections: no more than there are files for, none that is silent for long, and room in any crowd to ask for health.

The server itself waits for the head of a request, for the end of a body that nobody reads any more, and for a client
to take its answer, as long as the client likes. Here such connections end, the oldest first where there is no room.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import time
from typing import Any, ClassVar

import h11
import uvicorn
from starlette.requests import Request
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from penstock.errors import Busy
from penstock.web.crowd import BREATH, Crowd
from penstock.web.options import WebOptions
from penstock.web.problems import problem

_log = logging.getLogger("penstock.web")

_ACCEPTED_AT_ONCE = 8
"""Each time the event loop comes round. Few, so that a flood is counted before it has taken all files, and so that who
has come with it and has asked for something is heard before those behind it push it out."""
_WAITING = 2048
"Connections that the system keeps until they are taken; whoever finds no room there tries again only a second later."
_TAKING = 3
"Times as long as a client may be silent it may take nothing of its answer: a film is stopped for a moment."
_SLICE = 8192
"""Bytes that are read at once where their reader works by lines: of a head, and of a body in chunks. A read may be
thirty times as long, and hold tens of thousands of them."""
_HEAD_BYTES, _HEAD_LINES = 16_000, 128
_CHUNKS, _SMALLEST = 500, 32
"So many chunks may be smaller, on average, than so many bytes."
_SAID_EVERY = 60.0
_END = re.compile(rb"\n\r?\n")


class Connection(H11Protocol):
    """A connection of the server, within a crowd."""

    crowd: ClassVar[Crowd]
    conn: _Counted
    flow: _Flow

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.network = ""
        self.is_aside = False
        self._idle_since = self.loop.time()
        self._stuck_since: float | None = None
        self._served = self.app
        self.app = self._answer
        self.conn = _Counted(h11.SERVER, self.conn._max_incomplete_event_size)
        self._unread = b""
        self._head = b""
        "What has come of a head that is not complete."

    @property
    def is_idle(self) -> bool:
        """Is no request under way, or none of which the head has come?"""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport)
        self.crowd.arrive(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        whole = len(data) <= _SLICE or not self._by_lines
        if whole and not self._unread and not self._is_answering:
            self._take(data)
            return
        # The rest waits its turn: there may be a line in every second byte, and others want to be served.
        begun, self._unread = bool(self._unread), self._unread + data
        self.flow.hold()
        if not begun:
            self.crowd.slicing.add(self)
            self._take_slice()

    def _take_slice(self) -> None:
        if self.transport.is_closing():
            self.crowd.slicing.discard(self)
        elif self._is_answering:
            self.crowd.slicing.discard(self)  # it goes on after that
        elif self._is_full:
            self.loop.call_later(BREATH, self._take_slice)
        else:
            began = time.perf_counter()
            size = _SLICE if self._by_lines else len(self._unread)
            data, self._unread = self._unread[:size], self._unread[size:]
            self._take(data)
            # As long as it took, for each that is read in slices: together they have half of the time at most.
            self._take_more(after=(time.perf_counter() - began) * len(self.crowd.slicing))

    def _take_more(self, *, after: float = 0.0) -> None:
        if self._unread:
            self.crowd.slicing.add(self)
            self.loop.call_later(after, self._take_slice)
        else:
            self.crowd.slicing.discard(self)
            self.flow.let_go(resume=not self._is_full and not self.transport.is_closing())

    @property
    def _is_answering(self) -> bool:
        """Has a whole request come that is not answered yet, so that what follows is the next one's?"""
        return self.conn.their_state is h11.DONE

    @property
    def _is_full(self) -> bool:
        """Does what was read wait to be taken?"""
        return self.cycle is not None and not self.cycle.response_complete and len(self.cycle.body) > HIGH_WATER_LIMIT

    @property
    def _by_lines(self) -> bool:
        """Is what comes next read line by line?"""
        return self.conn.their_state is not h11.SEND_BODY or self.conn.in_chunks

    def _take(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE and self._head_is_too_much(data):
            self.send_400_response("The head of the request is too large.")
            return
        super().data_received(data)
        if self.conn.chunks > _CHUNKS and self.conn.chunk_bytes < _SMALLEST * self.conn.chunks:
            self.end()
            return
        if self._throws_away and not self.flow.read_paused:
            self.flow.pause_reading()
            self.loop.call_later(self.crowd.breath(self), self._go_on)

    def _head_is_too_much(self, data: bytes) -> bool:
        """Has a head more lines or bytes than anybody needs? Asked before it is read, as reading is what costs."""
        came = self._head + data
        end = _END.search(came)
        head = came[: end.start()] if end else came
        self._head = b"" if end else came
        return len(head) > _HEAD_BYTES or head.count(b"\n") > _HEAD_LINES

    @property
    def _throws_away(self) -> bool:
        """Has it been answered, and is what still comes of its body read by nobody?"""
        return self.cycle is not None and self.cycle.response_complete and self.conn.their_state is h11.SEND_BODY

    def _go_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        self.crowd.rest(self)
        super().on_response_complete()
        if self._unread and self not in self.crowd.slicing:
            self._take_more()

    def pause_writing(self) -> None:
        self._stuck_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stuck_since = None
        super().resume_writing()

    def end(self) -> None:
        """Break off; nothing that was asked for is lost."""
        self.crowd.leave(self)
        self.transport.abort()

    def end_if_stalled(self, now: float) -> None:
        """Break off if its client is silent, or does not take its answer, for longer than it may."""
        silence = self.crowd.silence
        if self.transport.is_closing() or self._stuck_since is not None:
            self._stuck_since = self._stuck_since or now  # closed, but there is something left to be sent
            stalled = now - self._stuck_since > _TAKING * silence
        else:
            # A head is short, so half the time is enough for it; beyond the limit there is hardly any.
            patience = silence / (10 if self.is_aside else 1 if self._throws_away else 2)
            stalled = self.is_idle and now - self._idle_since > patience
        if stalled:
            self.end()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._admitted(scope, receive, send)
        except asyncio.CancelledError:
            # Nobody breaks a request off but a server that ends, which would tell it as a mistake of the request's.
            self.end()
            self.cycle.disconnected = True

    async def _admitted(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.is_aside or scope["path"] == "/healthz":
            await self._served(scope, receive, send)
            return
        refused = Busy("this process has as many connections as it can, or as one client may have")
        await problem(Request(scope), refused, headers={"Connection": "close"})(scope, receive, send)


class _Flow(FlowControl):
    """Reads no more while something waits that was read."""

    _held = False

    def hold(self) -> None:
        self._held = True
        self.pause_reading()

    def let_go(self, *, resume: bool) -> None:
        self._held = False
        if resume:
            self.resume_reading()

    def resume_reading(self) -> None:
        if not self._held:
            super().resume_reading()


class _Counted(h11.Connection):
    """What reads HTTP, and counts the chunks of a body."""

    in_chunks = False
    chunks = chunk_bytes = 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Data):
            self.chunks += event.chunk_start
            self.chunk_bytes += len(event.data)
        elif isinstance(event, h11.Request):
            self.in_chunks = any(name == b"transfer-encoding" for name, _ in event.headers)
            self.chunks = self.chunk_bytes = 0
        return event


class ListeningServer(uvicorn.Server):
    """A server that takes few connections at a time, and has the system keep many until then."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        for server in self.servers:
            for listening in server.sockets:
                with socket.fromfd(listening.fileno(), listening.family, listening.type) as same:
                    same.listen(_WAITING)


def served_by(options: WebOptions) -> dict[str, Any]:
    """What a server is told about connections."""
    return {
        "http": type("Connection", (Connection,), {"crowd": Crowd(options)}),
        "ws": "none",  # nothing here speaks it, and its connections would be in nobody's sight
        "backlog": _ACCEPTED_AT_ONCE,
    }


def log_accept_errors_seldom(loop: asyncio.AbstractEventLoop) -> None:
    """Log once a minute that no connection could be taken, and not for each that was not."""
    said = float("-inf")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal said
        if "accept" not in str(context.get("message")):
            loop.default_exception_handler(context)
        elif time.monotonic() - said >= _SAID_EVERY:
            said = time.monotonic()
            _log.error("no connection can be taken: %s", context.get("exception"))

    loop.set_exception_handler(handle)
