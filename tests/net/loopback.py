"""Tests of what must not be spoken to never speak to it, even should the client be wrong."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from penstock.net import stream


class LeftTheMachine(AssertionError):
    """A connection to somebody else was tried."""


def is_here(address: str) -> bool:
    return address.startswith("127.") or address == "::1"


def stay_on_loopback(monkeypatch: pytest.MonkeyPatch, may_go: Callable[[str], bool] = is_here) -> None:
    """Refuse connections to anything but 127.0.0.0/8 and ::1, and the resolving of anything but localhost.

    It stands where the client opens its sockets, so whoever changes how that is done has to move it first: there is a
    test of it that goes nowhere else either.
    """
    connect, resolve, open_socket = socket.create_connection, socket.getaddrinfo, stream.open_socket

    def connect_here(address: tuple[str, int], *args: Any, **more: Any) -> socket.socket:
        if not (may_go(address[0]) or address[0] == "localhost"):
            raise LeftTheMachine(f"{address[0]} was to be connected to")
        return connect(address, *args, **more)

    def resolve_here(host: Any, *args: Any, **more: Any) -> Any:
        if not (is_here(str(host)) or host == "localhost"):
            raise LeftTheMachine(f"{host} was to be resolved")
        return resolve(host, *args, **more)

    def open_here(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
        if not may_go(address[0]):
            raise LeftTheMachine(f"{address[0]} was to be connected to")
        return open_socket(family, kind, protocol, address)

    monkeypatch.setattr(stream, "open_socket", open_here)
    monkeypatch.setattr(socket, "create_connection", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", resolve_here)
