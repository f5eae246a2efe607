"""Serves the API of a running system until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import uvicorn
from fastapi import FastAPI

from penstock.runtime.ending import Ending
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.web.api import build_api
from penstock.web.connection import ListeningServer, served_by
from penstock.web.options import WebOptions
from penstock.web.shared_numbers import SharedNumbers


def ready_api(service: Service, settings: Settings, *, shared: SharedNumbers | None = None) -> FastAPI:
    """The API of a system. Building it takes seconds, in which nothing has begun that would have to end in order."""
    return build_api(service.installed, service.context, options=_options(service, settings, shared))


def _options(service: Service, settings: Settings, shared: SharedNumbers | None) -> WebOptions:
    return WebOptions(
        shared_numbers=shared,
        tracing=settings.telemetry is not None,
        told_parts={"broker": service.ask_broker} if settings.workers == "celery" else {},
        authentication=settings.require_keys,
        public_url=settings.public_url,
        trusted_proxies=settings.trusted_proxies,
        cors_origins=settings.cors_origins,
        body_limit=settings.body_limit,
        guest_body_limit=settings.guest_body_limit,
        heavy_requests=settings.heavy_requests,
        connections=settings.connections,
        silence=timedelta(seconds=settings.silence),
        **({"secret": settings.secret.encode()} if settings.secret else {}),  # type: ignore[arg-type]
    )


def serve(
    app: FastAPI,
    settings: Settings,
    *,
    ending: Ending,
    listening: Callable[[], None] = lambda: None,
    on: socket.socket | None = None,
) -> None:
    """Answer requests at the settings' host and port until the end begins; those that are running may finish.

    ``listening`` is called once somebody can be answered. Processes that share a port are given the socket they listen
    ``on``.
    """
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,  # ours tells more, and no signatures
        proxy_headers=False,  # uvicorn would believe whoever speaks from this machine; `web.client` decides
        server_header=False,
        timeout_graceful_shutdown=max(1, int(ending.for_work.total_seconds())),
        **served_by(app.state.options),
    )
    server = _Server(config, app, listening)
    ending.listen(server.end)
    if not ending.begun.is_set():
        server.run(sockets=None if on is None else [on])


class _Server(ListeningServer):
    """Ends when it is told to, and its event streams first: they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._listening = app, listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets=sockets)
        if self.force_exit:  # which leaves out what the application does last, and it does not take long
            await self.lifespan.shutdown()

    def end(self) -> None:
        """Finish the requests that are running; told again, break them off."""
        self._app.state.streams.close()
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are for whoever ends the whole service: the server would kill the process with its work undone."""
        yield
