"""Threads for what waits: a function is called in one of them, in the context of whoever awaits it.

The one that was last busy is taken first, as what it needs is still at hand; one that is idle for long ends, and what
it had open with it. There are as many as are busy at once, so whoever uses them bounds that, as a pool does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from penstock.net.per_process import watch

T = TypeVar("T")

_PATIENCE = timedelta(seconds=10)
"How long a thread waits to be used again."


class Threads:
    """Any number of event loops may share them."""

    def __init__(self, *, patience: timedelta = _PATIENCE) -> None:
        self._idle: list[_Thread] = []
        self._patience = patience.total_seconds()
        watch(self)

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in a thread. Whoever is cancelled meanwhile goes on when it is over: it cannot be stopped."""
        call = _Call(function, arguments)
        try:
            thread = self._idle.pop()
        except IndexError:
            thread = _Thread(self._idle, self._patience)
        thread.calls.put(call)
        try:
            return await call.answer
        except asyncio.CancelledError:
            await call.end()
            raise

    def forked(self) -> None:
        self._idle = []  # those of the parent are not here


class _Call(Generic[T]):
    """A function on its way through a thread, and back to the loop that it came from."""

    __slots__ = ("_arguments", "_context", "_function", "_is_over", "_leaving", "_loop", "answer")

    def __init__(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> None:
        self._function, self._arguments, self._context = function, arguments, copy_context()
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[T] = self._loop.create_future()
        self._is_over = False
        self._leaving: asyncio.Future[None] | None = None

    def carry_out(self) -> Callable[[], None]:
        """What is to be said on the loop, once the function has returned or raised."""
        try:
            told = self._context.run(self._function, *self._arguments)
        except BaseException as raised:
            error = raised
            return lambda: self._tell(self.answer.set_exception, error)
        return lambda: self._tell(self.answer.set_result, told)

    def tell(self, say: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended, and whoever waited with it
            self._loop.call_soon_threadsafe(say)

    def _tell(self, say: Callable[[Any], None], told: Any) -> None:
        self._is_over = True
        if not self.answer.done():
            say(told)
        if self._leaving is not None and not self._leaving.done():
            self._leaving.set_result(None)

    async def end(self) -> None:
        """Wait until the thread is done with it."""
        while not self._is_over:
            self._leaving = self._loop.create_future()
            with suppress(asyncio.CancelledError):  # said once is enough
                await self._leaving


class _Thread(threading.Thread):
    """Does one thing after the other, and is idle in between."""

    def __init__(self, idle: list[_Thread], patience: float) -> None:
        super().__init__(name="penstock thread", daemon=True)
        self.calls: SimpleQueue[_Call[Any]] = SimpleQueue()
        self._idle_ones, self._patience = idle, patience
        self.start()

    def run(self) -> None:
        while (call := self._next()) is not None:
            say = call.carry_out()
            self._idle_ones.append(self)  # before anybody hears of it, and asks for the next
            call.tell(say)
            del call, say  # what they hold is not kept while nothing happens

    def _next(self) -> _Call[Any] | None:
        """What is to be done; None once there was nothing for long."""
        try:
            return self.calls.get(timeout=self._patience)
        except Empty:
            try:
                self._idle_ones.remove(self)
            except ValueError:
                return self.calls.get()  # somebody has just taken it
            return None
