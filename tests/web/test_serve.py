"""The server ends when it is told to, also at once; whoever ends it reads no traceback."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.responses import StreamingResponse

from penstock.runtime.ending import Ending
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.web.events import EventStreams
from penstock.web.options import WebOptions
from penstock.web.serve import serve
from tests.servers import free_port
from tests.work.soon import soon

_GRACE = 100.0


@pytest.fixture
def ended() -> list[str]:
    return []


@pytest.fixture
def app(ended: list[str]) -> FastAPI:
    """Two requests that never end by themselves: one that is not answered, and one that is without an end."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        ended.append("in order")

    app = FastAPI(lifespan=lifespan)
    app.state.options, app.state.streams = WebOptions(), EventStreams(10)

    @app.get("/never")
    async def never() -> None:
        await asyncio.sleep(600)

    @app.get("/on-and-on")
    async def on_and_on() -> StreamingResponse:
        async def pieces() -> AsyncIterator[bytes]:
            while True:
                yield b"."
                await asyncio.sleep(0.01)

        return StreamingResponse(pieces())

    return app


@contextmanager
def served(
    app: FastAPI, folder: Path, *, for_work: timedelta | None = None
) -> Iterator[tuple[int, Ending, threading.Thread]]:
    """A server in a thread, two requests that it has, and what ends it: this process too, after its grace."""
    port, listening = free_port(), threading.Event()
    settings = Settings(
        host="127.0.0.1", port=port, store=f"sqlite:///{folder}/store.db", objects=f"files:///{folder}/files"
    )
    ending = Ending(Service(settings, ()), grace=_GRACE, say=lambda text: None)
    ending.for_work = for_work or ending.for_work
    begin = lambda: serve(app, settings, ending=ending, listening=listening.set)  # noqa: E731
    thread = threading.Thread(target=begin, daemon=True)
    thread.start()
    assert listening.wait(20)
    lines = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
    for line, path in zip(lines, ("/never", "/on-and-on"), strict=True):
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert lines[1].recv(100)
    try:
        yield port, ending, thread
    finally:  # else the process would be ended when the grace is over
        for line in lines:
            line.close()
        ending.complete()


def refuses(port: int) -> bool:
    """Does nobody listen there any more?"""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    return False


def test_told_twice_it_breaks_off_what_runs_and_nobody_reads_a_traceback(
    app: FastAPI, ended: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(app, tmp_path) as (port, ending, thread):
        ending.begin()
        soon(lambda: refuses(port))
        ending.begin()
        thread.join(20)
        assert not thread.is_alive()
    assert ended == ["in order"], "what is left to be noted at the end is noted"
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_what_does_not_end_in_time_is_broken_off_without_a_traceback(
    app: FastAPI, ended: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(app, tmp_path, for_work=timedelta(seconds=1)) as (_, ending, thread):
        ending.begin()
        thread.join(20)
        assert not thread.is_alive()
    assert ended == ["in order"]
    assert [r.getMessage() for r in caplog.records if r.exc_info] == []
    assert any("Cancel 2 running task(s)" in r.getMessage() for r in caplog.records)
