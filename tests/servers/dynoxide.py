"""dynoxide: a small DynamoDB in one static binary, the default for tests."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import ClassVar

from .fetch import Tarball, unpacked
from .process import Process
from .server import HttpServer, Unavailable

TARBALL = Tarball(
    name="@dynoxide/linux-x64",
    version="1.2.1",
    integrity="sha512-sBHqlxJ9ANkLluFkYRfd5r8Y0ApFew4FhOrlhgRAgD4XzEoFOukEo1nuBTQ1+jTtofqwn4NWQ2k0Tn5mNTjgUg==",
)


class Dynoxide(HttpServer):
    """A dynoxide server, in memory, or durable: then its tables survive restart() and kill()."""

    name: ClassVar[str] = "dynoxide"

    def __init__(self, *, durable: bool = False) -> None:
        super().__init__()
        self._durable = durable

    def _launch(self, home: Path) -> Process:
        command = [str(_binary()), "--host", "127.0.0.1", "--port", str(self.port)]
        if self._durable:
            command += ["--db-path", str(home / "tables.db")]
        return Process(command, home / "log")


def _binary() -> Path:
    machine = (platform.system(), platform.machine())
    if machine != ("Linux", "x86_64"):
        raise Unavailable(f"dynoxide: no binary is recorded for {machine}; add its tarball to {__name__}.")
    return unpacked(TARBALL) / "dynoxide"
