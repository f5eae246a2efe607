"""How statements reach one database: what the SQL engine needs of a driver."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import sqlalchemy as sa

from penstock.engines.sql.dialect import Dialect
from penstock.engines.sql.statement import Statement
from penstock.operations.writes import Put
from penstock.ports.engine import Waiter

GROWN = "a number would grow beyond what every engine can hold: 64 bits, or 38 digits of a Decimal"

HELD = "penstock-held: "
"How a trigger begins that tells why nothing is written any more."
HELD_STATE = "PSHLD"
"The same, as the state that PostgreSQL tells."


class Refused(Exception):
    """A statement of a commit touched no row; nothing was written this time.

    ``repeated`` tells that the commit had been sent before and its answer lost, so that it may have refused itself.
    """

    def __init__(self, position: int, *, repeated: bool = False) -> None:
        super().__init__(position)
        self.position, self.repeated = position, repeated


class HeldByOthers(Exception):
    """A table could not be changed within a moment, as others are using it; nothing was done."""


class Connector(Protocol):
    """How statements reach one database."""

    dialect: Dialect
    loses_answers: bool
    "Is there a wire on which an answer can be lost, so that a commit may have to be sent again?"

    def sleep(self, seconds: float) -> None:
        """Wait before one tries again."""
        ...

    def rows(self, text: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Run one reading statement."""
        ...

    def run(self, text: str, parameters: tuple[Any, ...], *, token: str | None = None) -> list[tuple[Any, ...]] | None:
        """Run one writing statement by itself; the rows it returns, None when the token says that it ran before.

        One that returns no rows has done nothing, and its token is not remembered.
        """
        ...

    def together(self, statements: Sequence[Statement], *, token: str | None, wake: Sequence[Put] = ()) -> None:
        """All statements or none; Refused when one that must touch a row does not.

        With a token, a repetition is applied once; ``wake`` those who listen with news of these records.
        """
        ...

    def many(self, text: str, rows: list[tuple[Any, ...]], *, pivot: str | None = None) -> None:
        """Run one statement with many parameter rows, in one transaction.

        ``pivot`` is the piece of the text where it can be made to work on all of them at once.
        """
        ...

    def expire(self, text: str, parameters: tuple[Any, ...], *, watched: bool) -> int:
        """Run a delete of expired rows, telling the feed the cause; how many there were."""
        ...

    def administration(self, *, reading: bool = False, alone: bool = False) -> AbstractContextManager[sa.Connection]:
        """A SQLAlchemy connection in one transaction, for creating tables or only for looking what is there.

        ``alone``: in none, for statements that a database carries out by themselves.

        HeldByOthers where somebody has to be waited for.
        """
        ...

    def others_wrote(self) -> bool:
        """Has anybody else written since this thread asked last, for whom there is no room while one writes?"""
        ...

    def listen(self) -> Waiter:
        """What wakes when something is written."""
        ...

    def bound(self, project: str) -> Connector:
        """The same database through sessions that see one project; itself where there is no such thing."""
        ...

    def close(self) -> None: ...
