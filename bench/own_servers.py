"""The PostgreSQL servers of contenders that are measured with their server."""

from __future__ import annotations

from contextlib import ExitStack

from bench.measure import Effort
from tests.servers import Postgres


class OwnServers:
    """A server for each contender, as shipped, so that no other work is counted as its own; on a trial one for all."""

    def __init__(self, stack: ExitStack, effort: Effort) -> None:
        self._stack, self._together = stack, effort.together
        self._started: list[Postgres] = []

    def another(self) -> Postgres:
        """The server of the next contender, up until the stack ends."""
        if not (self._together and self._started):
            self._started.append(self._stack.enter_context(Postgres(as_shipped=True)))
        return self._started[-1]
