"""Faults: a process that dies before or after any one of its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Death(BaseException):
    """The process is gone; nothing catches this."""


class Fate:
    """Counts the steps of a process, and ends it at one of them."""

    def __init__(self, at: int | None = None, *, after: bool = False) -> None:
        self.steps: list[str] = []
        self._at, self._after = at, after

    def step(self, name: str, do: Callable[[], Any]) -> Any:
        """Take a step, unless the process dies before it; or die when it is done, its answer unheard."""
        if len(self.steps) == self._at and not self._after:
            raise Death(name)
        self.steps.append(name)
        done = do()
        if len(self.steps) - 1 == self._at and self._after:
            raise Death(name)
        return done


class Mortal:
    """Something whose every call, of the names given, is a step of a process."""

    def __init__(self, real: Any, fate: Fate, *names: str) -> None:
        self._real, self._fate, self._names = real, fate, names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name not in self._names:
            return found
        return lambda *args, **kwargs: self._fate.step(name, lambda: found(*args, **kwargs))


OBJECT_STEPS = (
    *("put", "get", "delete", "delete_unchanged", "copy", "begin_parts", "parts", "finish_parts", "drop_parts"),
    *("drop_unfinished",),
)
STORE_STEPS = ("commit", "patch", "load")
