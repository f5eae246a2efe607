"""A contender in a process of its own, so that what it does while others are measured does not count as theirs."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import process_time

from bench.measure import Work

Opener = Callable[[str], AbstractContextManager[Work]]
"Opens a contender on the database of a URL; it ends with the block."

_FAREWELL = 30.0
"Seconds in which a contender must end."


class ContenderFailed(RuntimeError):
    """A contender in a process of its own has raised something, or has ended."""


class Apart:
    """Work that another process does, and the CPU it has used for that."""

    def __init__(self, opener: Opener, url: str) -> None:
        context = get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(opener, url, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._seconds = 0.0

    def work(self, times: int) -> None:
        """Have it done, and wait until it is."""
        with suppress(BrokenPipeError):  # it has failed already, and said why
            self._line.send(times)
        try:
            answer = self._line.recv()
        except EOFError:
            self._process.join(_FAREWELL)
            raise ContenderFailed(f"a contender's process has ended with {self._process.exitcode}") from None
        if isinstance(answer, str):
            failed = ContenderFailed(f"a contender failed: {answer.strip().splitlines()[-1]}")
            failed.add_note(answer)
            raise failed
        self._seconds += answer

    @property
    def process(self) -> int:
        """The other process."""
        assert self._process.pid is not None
        return self._process.pid

    def seconds(self) -> float:
        """CPU time so far, of work alone, all threads; or what the work has told as its time."""
        return self._seconds

    def close(self) -> None:
        self._line.close()
        self._process.join(_FAREWELL)
        self._process.kill()


def _serve(opener: Opener, url: str, line: Connection) -> None:
    try:
        with opener(url) as work:
            while (times := _asked(line)) is not None:
                line.send(_seconds(work, times))
    except Exception:
        line.send(traceback.format_exc())


def _asked(line: Connection) -> int | None:
    try:
        return int(line.recv())
    except EOFError:
        return None


def _seconds(work: Work, times: int) -> float:
    """CPU time of the work, unless it has told its time itself."""
    gc.collect()
    gc.disable()
    try:
        start = process_time()
        told = work(times)
        return told if isinstance(told, float) else process_time() - start
    finally:
        gc.enable()
