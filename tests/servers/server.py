"""What all test servers have in common: a port, a life cycle, and a clear word when one cannot be had."""

from __future__ import annotations

import atexit
import http.client
import os
import shutil
import signal
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self, TypeVar

import pytest

from .process import Process, StartFailed, free_port, is_open


class Unavailable(RuntimeError):
    """A server cannot be had on this machine; the message says what is missing and what to do."""


class Server(ABC):
    """A real server on 127.0.0.1 that keeps its port, and its data if it has any, until stop()."""

    name: ClassVar[str]
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    start_seconds: ClassVar[float] = 60.0

    def __init__(self) -> None:
        self.port = free_port()
        self._home: Path | None = None
        self._process: Process | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """Where clients connect."""

    @abstractmethod
    def _launch(self, home: Path) -> Process:
        """Start the process, with this directory for all it writes, or raise Unavailable."""

    @abstractmethod
    def _answers(self) -> bool:
        """Tell whether the server takes requests."""

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    @property
    def pid(self) -> int:
        """The process of the running server."""
        assert self._process is not None
        return self._process.pid

    @property
    def home(self) -> Path:
        """The directory of the server's log and data, made on first use and removed by stop()."""
        if self._home is None:
            # Not $TMPDIR: the path of a socket must be short, and every user must be able to get here.
            self._home = Path(tempfile.mkdtemp(prefix=f"penstock-{self.name}-", dir="/tmp"))
            self._stop_at_exit()
        return self._home

    def start(self) -> None:
        """Return with the server taking requests, started unless it ran; or raise and leave nothing."""
        if self.running:
            return
        if is_open(self.port):
            # The probe would take the answers of whatever is there for those of our server.
            raise StartFailed(f"{self.name}: another process listens on its port {self.port}")
        try:
            self._process = self._launch(self.home)
            self._process.wait_until(self._answers, seconds=self.start_seconds)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the server and remove its data; do nothing if it is not there."""
        self._end_process()
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)
            self._home = None

    def restart(self) -> None:
        """Shut the server down in order, unless it is down, and start it on the same port and data."""
        self._end_process()
        self.start()

    def kill(self) -> None:
        """Crash the server with SIGKILL, keeping its data; start() or restart() bring it back."""
        if self._process is not None:
            self._process.kill()

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.stop(self.stop_signal)
            self._process = None

    def _stop_at_exit(self) -> None:
        owner = os.getpid()

        def stop() -> None:
            # A forked child inherits this handler, and must not stop its parent's server.
            if os.getpid() == owner:
                self.stop()

        atexit.register(stop)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class HttpServer(Server):
    """A server that is ready once it gives any HTTP answer."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/")
            connection.getresponse()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        return True


WITHOUT = "PENSTOCK_TEST_WITHOUT_SERVERS"
"The variable that allows tests to be skipped whose server cannot be had."
AnyServer = TypeVar("AnyServer", bound=Server)
T = TypeVar("T")


def require(server: AnyServer) -> AnyServer:
    """Return the server started; what happens when it cannot be had, `had` says."""
    had(server.start)
    return server


def had(get: Callable[[], T]) -> T:
    """Return what the function gets; when it cannot be had, fail, or skip with a warning if that is allowed."""
    try:
        return get()
    except Unavailable as missing:
        if not os.environ.get(WITHOUT) or os.environ.get("CI"):
            missing.add_note(f"Not tested: all that needs it. With {WITHOUT}=1 that is skipped, except in CI.")
            raise
        _warn(f"tests skipped: {missing}")
        pytest.skip(str(missing))


def _warn(message: str) -> None:
    """Show a warning in pytest's summary even where warnings are turned into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(message, stacklevel=4)
