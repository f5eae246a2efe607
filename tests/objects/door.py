"""The routes of local files, served by a real web server in a thread of this process."""

from __future__ import annotations

import threading
import time
from types import TracebackType

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.servers import free_port, is_open

_PATIENCE = 10.0


class Door:
    """A web server on 127.0.0.1 that applications are added to, each beneath a path of its own."""

    def __init__(self) -> None:
        self.url = ""
        self._application = Starlette()
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def place(self) -> str:
        """The URL the next application will have."""
        return f"{self.url}/{len(self._application.router.routes)}"

    def add(self, application: Starlette) -> None:
        self._application.router.routes.append(Mount(f"/{len(self._application.router.routes)}", application))

    def __enter__(self) -> Door:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        # Quiet and without a lifespan: what is told in the log belongs to the product, and there is nothing to start.
        config = uvicorn.Config(
            self._application, host="127.0.0.1", port=port, lifespan="off", log_level="error", access_log=False
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + _PATIENCE
        while not is_open(port):
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing listens on port {port}")
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(_PATIENCE)
