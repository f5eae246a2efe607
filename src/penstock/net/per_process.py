"""The one fork guard: connections, locks and what else belongs to a process, and must not be used in its children.

| what is needed | what to use |
|---|---|
| one of something for each process | `PerProcess` |
| an object to be told that it now lives in a child | `watch` |
| something of a module made anew in a child | `in_each_child` |
| a quick look whether something was made by this very process | `generation` |

What a child inherits is neither used nor ended there: that could hang, or speak on its parent's connection.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Generic, Protocol, TypeVar
from weakref import WeakSet

T = TypeVar("T")


class ForkAware(Protocol):
    """Something that holds sockets or locks."""

    def forked(self) -> None:
        """Called in a child, before any other Python code runs there."""


_generation = 0
_watched: WeakSet[ForkAware] = WeakSet()
_resets: list[Callable[[], object]] = []


def generation() -> int:
    """A number that differs between a process and its forked children; cheaper than asking for the process id."""
    return _generation


def watch(thing: ForkAware) -> None:
    """From now on call ``thing.forked()`` in every child forked by Python, for as long as ``thing`` lives."""
    _watched.add(thing)


def in_each_child(reset: Callable[[], object]) -> None:
    """From now on call this in every child forked by Python."""
    _resets.append(reset)


def _in_child() -> None:
    global _generation
    _generation += 1
    for reset in _resets:
        reset()
    for thing in list(_watched):
        thing.forked()


os.register_at_fork(after_in_child=_in_child)


class PerProcess(Generic[T]):
    """One of something for each process: opened when first asked for, and again in a forked child."""

    def __init__(self, open: Callable[[], T]) -> None:
        self._open = open
        self._opening = Lock()
        self._opened: dict[int, T] = {}
        watch(self)

    def get(self) -> T:
        mine = _generation
        with self._opening:
            if mine not in self._opened:
                self._opened[mine] = self._open()
            return self._opened[mine]

    def drop(self) -> T | None:
        """Forget this process's one, so that the next ``get`` opens another; it is the caller's to close."""
        with self._opening:
            return self._opened.pop(_generation, None)

    def forked(self) -> None:
        # A thread of the parent may have held the lock. What it opened stays in the dictionary: to let go is to end it.
        self._opening = Lock()
