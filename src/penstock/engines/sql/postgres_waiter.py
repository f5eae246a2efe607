"""Waiting for a notification of PostgreSQL, which a commit sends that others wait for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg

from penstock.ports.waiting import PollingWaiter

CHANNEL = "penstock"
_LONGEST = 1.0
"Seconds after which one asks whether to go on."
_AGAIN = 0.5
"Seconds before another attempt to reach the server."


class PostgresWaiter:
    """Listens on a connection of its own, opened anew when it breaks; looks again and again where none can listen."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any] | None]) -> None:
        self._connect = connect
        self._deaf: PollingWaiter | None = None
        self._connection: psycopg.Connection[Any] | None = None
        self._closed = threading.Event()
        self._listen()

    def wait(self, seconds: float) -> bool:
        if self._deaf is not None:
            return self._deaf.wait(seconds)
        end = time.monotonic() + seconds
        while not self._closed.is_set() and (left := end - time.monotonic()) > 0:
            if self._connection is None:
                # While it was away something may have been told, so it is worth a look.
                return self._listen() or not self._closed.wait(min(left, _AGAIN))
            try:
                if any(True for _ in self._connection.notifies(timeout=min(left, _LONGEST), stop_after=1)):
                    return True
            except psycopg.Error:
                self._lose()
        if self._closed.is_set() and self._connection is not None:
            self._connection.close()
        return False

    def _listen(self) -> bool:
        try:
            self._connection = self._connect()
            if self._connection is None:  # what is told there would reach nobody, or somebody else
                self._deaf = PollingWaiter()
                return False
            self._connection.execute(f"listen {CHANNEL}")
        except psycopg.Error:  # also a standby's, which lets nobody listen
            self._lose()
        return self._connection is not None

    def _lose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def busy(self) -> None:
        if self._deaf is not None:
            self._deaf.busy()

    def close(self) -> None:
        self._closed.set()
        if self._deaf is not None:
            self._deaf.close()
