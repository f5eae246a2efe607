"""Tests of what must not be spoken to never speak to it, even should the client be wrong."""

from __future__ import annotations

import socket
from typing import Any

import pytest


class LeftTheMachine(AssertionError):
    """A connection to somebody else was tried."""


def stay_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections to anything but 127.0.0.0/8 and ::1, and the resolving of anything but localhost."""
    connect, resolve = socket.create_connection, socket.getaddrinfo

    def connect_here(address: tuple[str, int], *args: Any, **more: Any) -> socket.socket:
        if not (address[0].startswith("127.") or address[0] in ("::1", "localhost")):
            raise LeftTheMachine(f"{address[0]} was to be connected to")
        return connect(address, *args, **more)

    def resolve_here(host: Any, *args: Any, **more: Any) -> Any:
        if not (str(host).startswith("127.") or host in ("::1", "localhost")):
            raise LeftTheMachine(f"{host} was to be resolved")
        return resolve(host, *args, **more)

    monkeypatch.setattr(socket, "create_connection", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", resolve_here)
