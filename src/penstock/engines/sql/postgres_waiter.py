"""Waiting for a notification of PostgreSQL, which a commit sends that others wait for."""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg

from penstock.operations.announcement import UNTOLD, announced
from penstock.ports.waiting import PollingWaiter
from penstock.schema.shape import EntityShape

CHANNEL = "penstock"
_LONGEST = 1.0
"Seconds after which one asks whether to go on."
_AGAIN = 0.5
"Seconds before another attempt to reach the server."
_MOST = 100
"So many notifications are remembered while nobody waits; of more it is known only that there were some."


class PostgresWaiter:
    """Listens on a connection of its own, opened anew when it breaks; looks again and again where none can listen."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any] | None]) -> None:
        self._connect = connect
        self._deaf: PollingWaiter | None = None
        self._connection: psycopg.Connection[Any] | None = None
        self._closed = threading.Event()
        self._come: list[str] = []
        "What has come since the last wait ended."
        self._heard: list[str] = []
        self._listen()

    def wait(self, seconds: float) -> bool:
        if self._deaf is not None:
            return self._deaf.wait(seconds)
        self._heard, end = [UNTOLD], time.monotonic() + seconds
        while not self._closed.is_set() and (left := end - time.monotonic()) > 0:
            if self._connection is None:
                # While it was away something may have been told, so it is worth a look.
                return self._listen() or not self._closed.wait(min(left, _AGAIN))
            if self._receive(self._connection, min(left, _LONGEST)):
                self._heard, self._come = self._come, []
                return True
        if self._closed.is_set() and self._connection is not None:
            self._connection.close()
        return False

    def heard(self, shape: EntityShape) -> list[dict[str, Any]] | None:
        return None if self._deaf is not None else announced(self._heard, shape)

    def _receive(self, connection: psycopg.Connection[Any], seconds: float) -> bool:
        """Has something come, perhaps before?"""
        try:
            self._collect(connection)
            if not self._come:
                readable = select.poll()
                readable.register(connection.fileno(), select.POLLIN)
                if readable.poll(seconds * 1000):
                    self._collect(connection)
        except psycopg.Error:
            self._lose()
        return bool(self._come)

    def _collect(self, connection: psycopg.Connection[Any]) -> None:
        """Take what the server has sent. psycopg's own way does the same, and takes longer."""
        pgconn = connection.pgconn
        pgconn.consume_input()
        while (told := pgconn.notifies()) is not None:
            self._come.append(told.extra.decode())
        if len(self._come) > _MOST:
            self._come = [UNTOLD]

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
        elif self._connection is not None:
            # Whoever is busy for long does not wait, and what nobody takes the server would have to keep.
            self._receive(self._connection, 0.0)

    def close(self) -> None:
        self._closed.set()
        if self._deaf is not None:
            self._deaf.close()
