"""Counts the forks this process came from, so that a child never uses its parent's connections."""

from __future__ import annotations

import os

_count = 0


def _forked() -> None:
    global _count
    _count += 1


os.register_at_fork(after_in_child=_forked)


def generation() -> int:
    """A number that differs between a process and its forked children; cheaper than asking for the process id."""
    return _count
