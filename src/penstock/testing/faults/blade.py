"""A blade: ends a process between any two of its writes, as a machine does that loses its power."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

WRITES_OF_ENGINES = ("commit", "patch", "load")
WRITES_OF_OBJECTS = ("put", "copy", "delete")


class Killed(BaseException):
    """The process is no more."""


class Blade:
    """Counts what a process writes, and ends it before one of them, which is just after the one before.

    From then on everything raises `Killed`, which no handler of errors sees. With ``real`` the process itself is
    killed, as by SIGKILL.
    """

    def __init__(self, at: int | None = None, *, real: bool = False) -> None:
        self._at, self._real = at, real
        self.writes, self.dead = 0, False

    def cut(self, real: Any, *names: str) -> Any:
        """Something that writes through these, until the process is dead."""
        return _Cut(self, real, names)

    def write(self, call: Callable[[], Any]) -> Any:
        if self.dead:
            raise Killed
        self.writes += 1
        if self.writes != self._at:
            return call()
        self.dead = True
        if self._real:
            os.kill(os.getpid(), signal.SIGKILL)
        raise Killed


class _Cut:
    def __init__(self, blade: Blade, real: Any, names: tuple[str, ...]) -> None:
        self._blade, self._real, self._names = blade, real, names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name not in self._names:
            return found
        return lambda *args, **options: self._blade.write(lambda: found(*args, **options))
