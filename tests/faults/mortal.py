"""A process that dies between two of its writes, in the test's own process: from then on nothing it does is kept.

The engine and the object store of a service are wrapped. Each write is counted, and the one that was chosen is its
last: it happens or not, and whatever the service tries afterwards, also in an ``except`` or a ``finally``, is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ENGINE = frozenset({"commit", "patch", "load", "expire"})
OBJECTS = frozenset(
    {"put", "delete", "delete_unchanged", "copy", "begin_parts", "finish_parts", "drop_parts", "drop_unfinished"}
)


class Killed(BaseException):
    """The process is dead. No handler of errors gets to see that."""


class Life:
    """How many writes a process has made, and with which one it dies."""

    def __init__(self, *, writes: int | None = None) -> None:
        self.writes: list[str] = []
        self.dead = False
        self._left = writes
        "So many happen; None: all."

    def write(self, what: str, act: Callable[[], Any]) -> Any:
        if self.dead or self._left == len(self.writes):
            self.dead = True
            raise Killed(what)
        done = act()
        self.writes.append(what)
        return done

    def read(self, what: str, act: Callable[[], Any]) -> Any:
        if self.dead:
            raise Killed(what)
        return act()


class Mortal:
    """Something real, used by a process that may die."""

    def __init__(self, real: Callable[[], Any], life: Callable[[], Life], writes: frozenset[str]) -> None:
        self._real, self._life, self._writes = real, life, writes

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real(), name)
        if not callable(found):
            return found
        if name == "bound":
            return lambda project: Mortal(lambda: self._real().bound(project), self._life, self._writes)

        def call(*args: Any, **kwargs: Any) -> Any:
            life = self._life()
            pass_on = life.write if name in self._writes else life.read
            return pass_on(name, lambda: getattr(self._real(), name)(*args, **kwargs))

        return call
