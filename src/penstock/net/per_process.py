"""Connections belong to the process that opened them."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """One of something for each process: opened when first asked for, and again in a forked child.

    What a child inherits is neither used nor ended there: that could hang, or speak on its parent's connection.
    """

    def __init__(self, open: Callable[[], T]) -> None:
        self._open = open
        self._opening = Lock()
        self._opened: dict[int, T] = {}

    def get(self) -> T:
        mine = os.getpid()
        with self._opening:
            if mine not in self._opened:
                self._opened[mine] = self._open()
            return self._opened[mine]

    def drop(self) -> T | None:
        """Forget this process's one, so that the next ``get`` opens another; it is the caller's to close."""
        with self._opening:
            return self._opened.pop(os.getpid(), None)
