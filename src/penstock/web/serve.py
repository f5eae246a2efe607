"""Serves the API of a running system until it is told to stop."""

from __future__ import annotations

from datetime import timedelta
from types import FrameType

import uvicorn
from fastapi import FastAPI

from penstock.service import Service
from penstock.settings import Settings
from penstock.web.api import build_api
from penstock.web.connection import ListeningServer, served_by
from penstock.web.options import WebOptions

_GRACE = 30
"Seconds that requests have to end once the server was told to stop."


def serve(service: Service, settings: Settings, *, authentication: bool) -> None:
    """Answer requests at the settings' host and port; Ctrl-C lets those that are running end."""
    options = WebOptions(
        authentication=authentication,
        trusted_proxies=settings.trusted_proxies,
        cors_origins=settings.cors_origins,
        body_limit=settings.body_limit,
        guest_body_limit=settings.guest_body_limit,
        heavy_requests=settings.heavy_requests,
        connections=settings.connections,
        silence=timedelta(seconds=settings.silence),
        **({"secret": settings.secret.encode()} if settings.secret else {}),  # type: ignore[arg-type]
    )
    app = build_api(service.installed, service.around, options=options)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,  # ours tells more, and no signatures
        proxy_headers=False,  # uvicorn would believe whoever speaks from this machine; `web.client` decides
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        **served_by(options),
    )
    _Server(config, app).run()


class _Server(ListeningServer):
    """Ends the event streams first: they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._app.state.streams.close()
        super().handle_exit(sig, frame)
