"""A client that calls an application in its own thread: no loop, thread and pipe for each request, as others have."""

from __future__ import annotations

import asyncio
import os
import threading
from asyncio.base_events import _run_until_complete_cb  # type: ignore[attr-defined]
from collections.abc import Coroutine, MutableMapping
from typing import Any
from urllib.parse import unquote

import httpx2 as httpx
from starlette.testclient import TestClient

Message = MutableMapping[str, Any]
_OF_THREAD = threading.local()


class Client(TestClient):
    """Starlette's client; what is not streamed and needs no lifespan is answered here and now.

    Starlette's own does what is left: streams, applications that have begun, and callers within an event loop.
    """

    def __init__(self, app: Any, *, client: tuple[str, int] = ("testclient", 50000), **options: Any) -> None:
        super().__init__(app, client=client, **options)
        self._address, self._raises = client, options.get("raise_server_exceptions", True)
        self._hands_out_streams = False
        self._elsewhere = self._transport
        self._transport = _Here(self)

    def send(self, request: httpx.Request, *, stream: bool = False, **options: Any) -> httpx.Response:
        self._hands_out_streams = stream
        return super().send(request, stream=stream, **options)

    def answer(self, request: httpx.Request) -> httpx.Response:
        """What the application says, all of it."""
        if self._hands_out_streams or self.portal is not None or asyncio._get_running_loop() is not None:
            return self._elsewhere.handle_request(request)
        exchange = _Exchange(request, self._address)
        try:
            _here().run(_called(self.app, exchange))
        except Exception:
            if self._raises:
                raise
        return exchange.response()

    def close(self) -> None:
        self._elsewhere.close()
        super().close()


class _Here(httpx.BaseTransport):
    def __init__(self, client: Client) -> None:
        self._client = client

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._client.answer(request)


class _Exchange:
    """One request, and what is said to it."""

    def __init__(self, request: httpx.Request, address: tuple[str, int]) -> None:
        self._request, self._done = request, asyncio.Event()
        self._asked = False
        self._status, self._body = 500, bytearray()
        self._headers: list[tuple[bytes, bytes]] = []
        url = request.url
        self.scope = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "path": unquote(url.path),
            "raw_path": url.raw_path.split(b"?", 1)[0],
            "root_path": "",
            "scheme": url.scheme,
            "query_string": url.query,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "client": address,
            "server": [url.raw_host.decode("ascii"), url.port or {"http": 80, "https": 443}[url.scheme]],
            "extensions": {},
            "state": {},
        }

    async def receive(self) -> Message:
        if self._asked:
            await self._done.wait()
            return {"type": "http.disconnect"}
        self._asked = True
        return {"type": "http.request", "body": self._request.read()}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"") if self._request.method != "HEAD" else b""
            if not message.get("more_body", False):
                self._done.set()

    def response(self) -> httpx.Response:
        stream = httpx.ByteStream(bytes(self._body))
        return httpx.Response(self._status, headers=self._headers, stream=stream, request=self._request)


async def _called(app: Any, exchange: _Exchange) -> None:
    await app(exchange.scope, exchange.receive, exchange.send)


class _Loop:
    """An event loop that stands still between requests."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        # Threads for what blocks last as long as the task that everything began with, which anyio knows by this mark.
        self._root = self._loop.create_task(asyncio.Event().wait())
        self._root.add_done_callback(_run_until_complete_cb)

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(coroutine)
        task.add_done_callback(lambda _: self._loop.stop())
        self._loop.run_forever()
        task.result()

    def close(self) -> None:
        left = asyncio.all_tasks(self._loop) - {self._root}
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left))
        self._root.cancel()
        self._loop.run_forever()  # the mark ends this
        self._loop.close()

    def __del__(self) -> None:
        """With its thread."""
        if not self._loop.is_closed():
            self.close()


def _here() -> _Loop:
    """That of this thread."""
    if not hasattr(_OF_THREAD, "loop"):
        _OF_THREAD.loop = _Loop()
    found: _Loop = _OF_THREAD.loop
    return found


def end() -> None:
    """End what requests of this thread have left running, as each test does with its own."""
    if hasattr(_OF_THREAD, "loop"):
        _OF_THREAD.loop.close()
        del _OF_THREAD.loop


_FROM_BEFORE: list[Any] = []


def _forget() -> None:
    """A forked child has none of the threads of its parent, and may not end what belongs to it."""
    _FROM_BEFORE.append(_OF_THREAD.__dict__.pop("loop", None))


os.register_at_fork(after_in_child=_forget)
