"""New databases for the contenders of a group, one for each: files of SQLite, or databases of one PostgreSQL."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.servers import Postgres


class Databases:
    """Gives out databases that live as long as the stack; which product they are of is said by the group's name."""

    def __init__(self, group: str, stack: ExitStack, *, as_shipped: bool = False) -> None:
        self._directory = Path(stack.enter_context(TemporaryDirectory()))
        self._server: Postgres | None = None
        if group.startswith("postgresql"):
            self._server = stack.enter_context(Postgres(as_shipped=as_shipped))
        self._count = 0

    @property
    def are_files(self) -> bool:
        return self._server is None

    def new_url(self) -> str:
        """Where the next one is."""
        self._count += 1
        if self._server is None:
            return f"sqlite:///{self._directory}/{self._count}.db"
        return self._server.create_database(f"b{self._count}")
