"""Tells objects that hold sockets or locks that they now live in a forked child."""

import os
from typing import Protocol
from weakref import WeakSet


class ForkAware(Protocol):
    def forked(self) -> None:
        """Called in the child, before any other Python code runs there."""


_watched: "WeakSet[ForkAware]" = WeakSet()


def watch(thing: ForkAware) -> None:
    """From now on call `thing.forked()` in every child forked by Python, for as long as `thing` lives."""
    _watched.add(thing)


def _in_child() -> None:
    for thing in list(_watched):
        thing.forked()


os.register_at_fork(after_in_child=_in_child)
