"""CPU time of a process and of all it has started."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bench.measure import Clock


def clock(process: int) -> Clock:
    """Seconds of CPU that a process and those it has started have used so far, as long as none of them ends."""
    return lambda: sum(map(_seconds, _family(process)))


def _seconds(process: int) -> float:
    # The number of the clock that the kernel keeps for a process, all its threads together.
    with suppress(OSError):  # it has just ended
        return time.clock_gettime(~process << 3 | 2)
    return 0.0


def _family(process: int) -> Iterator[int]:
    yield process
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            for child in children.read_text().split():
                yield from _family(int(child))
