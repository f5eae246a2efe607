"""Determinism: while a run is on, chance and time are its own, so that it can be repeated exactly."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.ports import ids


@contextmanager
def determined(
    *, seed: int, chance: Callable[[], random.Random], passed: Callable[[], float], sleep: Callable[[float], None]
) -> Iterator[None]:
    """Let ids and pauses be made of what the run gives. Nothing else in the process should run meanwhile."""
    kept, secret = (os.urandom, time.monotonic, time.sleep), random._urandom  # type: ignore[attr-defined]
    commits, process, state = ids._commits, ids._process, random.getstate()
    ids._commits, ids._process = _Commits(chance), ""  # type: ignore[assignment] # of which only the next is asked
    os.urandom = random._urandom = lambda size: chance().randbytes(size)  # type: ignore[attr-defined]
    time.monotonic, time.sleep = passed, sleep  # type: ignore[assignment]
    random.seed(seed)
    try:
        yield
    finally:
        os.urandom, time.monotonic, time.sleep = kept
        random._urandom = secret  # type: ignore[attr-defined] # where `secrets` has its chances from
        ids._commits, ids._process = commits, process
        random.setstate(state)


class _Commits:
    """Numbers of commits, as whoever acts makes them: who else has committed before makes no difference."""

    def __init__(self, chance: Callable[[], random.Random]) -> None:
        self._chance = chance

    def __next__(self) -> int:
        return self._chance().getrandbits(96)
