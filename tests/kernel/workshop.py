"""A small workshop: what the kernel's properties are shown on.

Pieces move from state to state, counted in the hall of their project. Every deed that was done to a piece is a record
of its own, so that it can be told afterwards what was really written. Slips expire.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from penstock import (
    ANYTHING,
    Count,
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    IndexKey,
    Move,
    Range,
    Table,
    key,
    pattern,
)
from penstock.kernel.lease import Leased

TABLE = Table("penstock_workshop", partition="PK", sort="SK", expiry="ends")
FIRST = TABLE.index("GSI1", partition="GSI1PK", sort="GSI1SK")


class State(StrEnum):
    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"


class Hall(Entity, table=TABLE):
    """How many pieces of a project are in each state, and how many deeds were done."""

    project_id: str
    waiting: int = 0
    working: int = 0
    done: int = 0
    deeds: Count = 0

    @key("PROJECT#{project_id}", "HALL")
    def at(self, *, project_id: str) -> None: ...


class Piece(Leased, table=TABLE):
    """Something that is worked on. Many weigh the same, so that the order of an index has ties."""

    world: str
    project_id: str
    number: Annotated[int, Field(ge=0, le=99)]
    state: State = State.WAITING
    weight: Annotated[int, Field(ge=0, le=9)] = 0

    @key("PROJECT#{project_id}", "PIECE#{number:02d}")
    def at(self, *, project_id: str, number: int) -> None: ...

    stated = IndexKey(FIRST, "{world}#STATE#{state}", "{weight:01d}")

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """The pieces of a project."""

    @pattern(stated)
    def by_state(self, *, world: str, state: State, weight: Range[int] = ANYTHING) -> None:
        """The pieces in a state, of all projects, the lightest first."""

    start = Move(State.WAITING, to=State.WORKING)
    finish = Move(State.WORKING, to=State.DONE)
    give_up = Move(State.WORKING, to=State.WAITING)
    repeat = Move(State.DONE, to=State.WAITING)


MOVES = {
    "start": (State.WAITING, State.WORKING),
    "finish": (State.WORKING, State.DONE),
    "give_up": (State.WORKING, State.WAITING),
    "repeat": (State.DONE, State.WAITING),
}


class Deed(Entity, table=TABLE):
    """That something was done to a piece."""

    project_id: str
    deed_id: str
    number: int

    @key("PROJECT#{project_id}", "DEED#{deed_id}")
    def at(self, *, project_id: str, deed_id: str) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """The deeds of a project."""


class Slip(Entity, table=TABLE, lifetimes=(Expires(at="ends"),)):
    """A record that ends."""

    world: str
    project_id: str
    slip_id: str
    ends: EpochSeconds
    writer: str

    @key("PROJECT#{project_id}", "SLIP#{slip_id}")
    def at(self, *, project_id: str, slip_id: str) -> None: ...

    kept = IndexKey(FIRST, "{world}#SLIPS", "{slip_id}")

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """The slips of a project."""

    @pattern(kept)
    def of_world(self, *, world: str, slip_id: Range[str] = ANYTHING) -> None:
        """The slips of all projects."""


WORKSHOP = Domain("penstock_workshop", Hall, Piece, Deed, Slip)
