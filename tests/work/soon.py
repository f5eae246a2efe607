"""Waiting for what real processes and threads do, for a time that is bounded."""

from __future__ import annotations

import time
from collections.abc import Callable

LONG = 60.0


def soon(holds: Callable[[], bool], *, seconds: float = LONG) -> None:
    """Return once it holds; fail if that takes too long."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it did not come true within {seconds:g} s"
        time.sleep(0.005)
