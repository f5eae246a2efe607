"""CPU time of a whole PostgreSQL: the postmaster, every session, and those who write and clean up behind them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bench.measure import Clock
from tests.servers import Postgres

_TICKS = os.sysconf("SC_CLK_TCK")
_ENDED = slice(13, 15)
"Where /proc/<pid>/stat, behind the name, tells the time of children that have ended."


def clock(server: Postgres) -> Clock:
    """Seconds of CPU that a running server has used so far."""
    postmaster = int((server.home / "data" / "postmaster.pid").read_text().split()[0])
    return lambda: sum(_alive(postmaster)) / 1e9 + _ended(postmaster)


def _alive(postmaster: int) -> Iterator[int]:
    """Nanoseconds of each process that runs."""
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for process in (postmaster, *children):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            yield int(Path(f"/proc/{process}/schedstat").read_text().split()[0])


def _ended(postmaster: int) -> float:
    told = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, told[_ENDED])) / _TICKS
