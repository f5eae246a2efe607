"""Work beside other work: pages are read before they are needed, and written while the next ones are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_END = object()


def read_ahead(items: Iterator[T], *, beside: bool = True) -> Iterator[T]:
    """The same items in their order, each begun to be made while the one before it is looked at."""
    if not beside:
        yield from items
        return
    with ThreadPoolExecutor(1, thread_name_prefix="penstock-ahead") as reader:
        coming = reader.submit(next, items, _END)
        while (item := coming.result()) is not _END:
            coming = reader.submit(next, items, _END)
            yield item  # type: ignore[misc]


class Behind:
    """Does things in other threads, some at once, and says of each that it is done in the order they were given.

    Without workers everything is done at once, by whoever gives it.
    """

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="penstock-behind") if workers else None
        self._workers = workers
        self._open: deque[tuple[Future[object], Callable[[], object]]] = deque()

    def do(self, work: Callable[[], object], then: Callable[[], object]) -> None:
        """Begin something; ``then`` is called once it and all before it are done. Waits while too many are open."""
        if self._pool is None:
            work()
            then()
            return
        self._open.append((self._pool.submit(work), then))
        while len(self._open) > self._workers or (self._open and self._open[0][0].done()):
            self._settle()

    def wait(self) -> None:
        """Until all is done."""
        while self._open:
            self._settle()

    def close(self) -> None:
        """End the threads, whatever is still open."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _settle(self) -> None:
        first, then = self._open.popleft()
        first.result()
        then()
