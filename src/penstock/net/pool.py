"""A pool: so many things of one kind at once and a short queue before it, so that no kind can stop the others.

    async with pool.place(client):
        ...

Whoever finds no place waits a moment and is then refused with Busy, as whoever finds the queue full is at once. One
client has no more than its share, in the pool and in the queue. Any number of event loops may use the same pool.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from penstock.errors import Busy
from penstock.net.threads import Threads

T = TypeVar("T")

THREADS = Threads()
"Those of this process, for all of its pools."
PATIENCE = timedelta(seconds=2)
"Long enough for a rush to pass, and short enough that a client still waits for its answer."


@dataclass(eq=False, slots=True)
class _Waiting:
    client: str
    turn: asyncio.Future[None]


class Pool:
    """Places for one kind of work, which ``about`` names for whoever is refused."""

    def __init__(
        self, about: str, places: int, *, queue: int, share: int | None = None, patience: timedelta = PATIENCE
    ) -> None:
        self.about, self.places, self.share = about, places, share
        self._longest, self._patience = queue, patience.total_seconds()
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()
        self._total = 0
        self._queue: list[_Waiting] = []

    @asynccontextmanager
    async def place(self, client: str = "") -> AsyncIterator[None]:
        """Hold a place; Busy when there is none for this client within the time it can wait."""
        await self._enter(client)
        try:
            yield
        finally:
            self.leave(client)

    async def run(self, function: Callable[..., T], *arguments: Any, client: str = "") -> T:
        """Call a function in a thread that holds a place until it is done, also if nobody waits for it any more."""
        await self._enter(client)
        return await THREADS.run(self._carry_out, client, function, arguments)

    def take(self, client: str = "") -> bool:
        """Take a place if there is one now; whoever has it leaves it."""
        with self._lock:
            if admitted := self._admits(client):
                self._take(client)
            return admitted

    def _carry_out(self, client: str, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        try:
            return function(*arguments)
        finally:
            self.leave(client)

    async def _enter(self, client: str) -> None:
        with self._lock:
            if self._admits(client):
                return self._take(client)
            if len(self._queue) >= self._longest or self._waits_enough(client):
                raise self._busy()
            waiting = _Waiting(client, asyncio.get_running_loop().create_future())
            self._queue.append(waiting)
        try:
            async with asyncio.timeout(self._patience):
                await waiting.turn
        except TimeoutError:
            if self._withdraws(waiting):
                raise self._busy() from None
        except BaseException:
            if not self._withdraws(waiting):
                self.leave(client)  # it was called in the very moment in which nobody waited any more
            raise

    def _admits(self, client: str) -> bool:
        return self._total < self.places and (self.share is None or self._taken[client] < self.share)

    def _waits_enough(self, client: str) -> bool:
        if self.share is None:
            return False
        return sum(w.client == client for w in self._queue) >= max(1, self._longest // 4)

    def _take(self, client: str) -> None:
        self._total += 1
        if self.share is not None:
            self._taken[client] += 1

    def leave(self, client: str = "") -> None:
        """Leave a place to whoever waits for one."""
        with self._lock:
            self._total -= 1
            if self.share is not None:
                self._taken[client] -= 1
                if not self._taken[client]:
                    del self._taken[client]
            called = next((w for w in self._queue if self._admits(w.client)), None)
            if called is None:
                return
            self._queue.remove(called)
            self._take(called.client)
        with suppress(RuntimeError):  # its loop has ended, and it with it
            called.turn.get_loop().call_soon_threadsafe(_call, called.turn)

    def _withdraws(self, waiting: _Waiting) -> bool:
        """Leave the queue; False for whoever was called from it already."""
        with self._lock:
            if waiting not in self._queue:
                return False
            self._queue.remove(waiting)
            return True

    def _busy(self) -> Busy:
        return Busy(f"this process does as much at once of what you ask for as it can: {self.about}")


def _call(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
