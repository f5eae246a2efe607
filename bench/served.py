"""The real service as `penstock up` runs it, and a bare one to hold it against: each in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from tests.servers.process import Process
from tests.servers.server import HttpServer

_LONGEST = 600.0
_PROXY = "127.0.0.1"


class PenstockUp(HttpServer):
    """All domains, with keys, limits, background work and a log: nothing is left out.

    It trusts a proxy on this machine, so that each request may come from a guest of its own.
    """

    name: ClassVar[str] = "up"

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._settings = {"PENSTOCK_TRUSTED_PROXIES": _PROXY, **(settings or {})}

    @property
    def key(self) -> dict[str, str]:
        """The header with which its administrator asks."""
        name, _, value = (self.home / ".penstock" / "key").read_text().strip().partition(": ")
        return {name: value}

    def _launch(self, home: Path) -> Process:
        return _python(["-m", "penstock", "up", "--port", str(self.port)], home, self._settings)


class PenstockServe(PenstockUp):
    """The same in several processes that answer, and one for everything else."""

    name: ClassVar[str] = "serve"

    def __init__(self, processes: int) -> None:
        super().__init__()
        self._processes = processes

    def _launch(self, home: Path) -> Process:
        arguments = ["-m", "penstock", "serve", "--processes", str(self._processes), "--port", str(self.port)]
        return _python(arguments, home, self._settings)


class Handwritten(HttpServer):
    """`bench.handwritten`, on SQLite as the real one."""

    name: ClassVar[str] = "handwritten"

    @property
    def key(self) -> dict[str, str]:
        """The header with which its administrator asks."""
        return dict(json.loads((self.home / "key").read_text()))

    def _launch(self, home: Path) -> Process:
        return _python(["-m", "bench.handwritten", str(self.port), f"{home}/papers.db"], home, {})


class Bare(HttpServer):
    """`bench.bare`, on SQLite as the real one."""

    name: ClassVar[str] = "bare"

    def _launch(self, home: Path) -> Process:
        return _python(["-m", "bench.bare", str(self.port), f"sqlite:///{home}/bare.db"], home, {})


def _python(arguments: Sequence[str], home: Path, settings: Mapping[str, str]) -> Process:
    """A program of the tree that this one is of, which knows no settings but those given."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    path = os.pathsep.join(part for part in sys.path if part)
    return Process([sys.executable, *arguments], home / "log", environment={**own, "PYTHONPATH": path, **settings})


class Client:
    """One connection, for as long as the block lasts."""

    def __init__(self, port: int, headers: Mapping[str, str] | None = None) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=_LONGEST)
        self._headers = {"Content-Type": "application/json", **(headers or {})}

    def ask(self, method: str, path: str, body: bytes | None = None, *, status: int = 200) -> bytes:
        """The body of the answer, which must have this status."""
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        told = answer.read()
        if answer.status != status:
            raise AssertionError(f"{method} {path}: {answer.status} {told[:300].decode(errors='replace')}")
        return told

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
