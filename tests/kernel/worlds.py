"""What the histories write: two entities in one table with three indexes, and one with native number keys.

Each history lives in a world of its own, whose name is part of every key, so that nothing need be wiped.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from penstock import (
    ANYTHING,
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    IndexKey,
    Move,
    Range,
    Table,
    UtcSeconds,
    camel_case,
    key,
    move,
    number,
    pattern,
)

WORLDS = Table("penstock-worlds", partition="PK", sort="SK", tag="kind", expiry="ends", naming=camel_case)
FIRST = WORLDS.index("GSI1", partition="GSI1PK", sort="GSI1SK")
SECOND = WORLDS.index("GSI2", partition="GSI2PK", sort="GSI2SK")
THIRD = WORLDS.index("GSI3", partition="GSI3PK", sort="GSI3SK")

Score = Annotated[int, Field(ge=0, le=99999)]


class State(StrEnum):
    NEW = "new"
    OPEN = "open"
    DONE = "done"


class Thing(Entity, table=WORLDS, lifetimes=(Expires(at="ends"),)):
    """Two parts of variable width in its key, three indexes, a state and an end."""

    world: str
    group: str
    rank: Annotated[int, Field(ge=0, le=999)]
    name: str
    state: State = State.NEW
    owner: str | None = None
    due: UtcSeconds | None = None
    score: Score | None = None
    count: int | None = None
    price: Decimal | None = None
    labels: frozenset[str] | None = None
    notes: list[str] | None = None
    text: str | None = None
    ends: EpochSeconds | None = None

    @key("WORLD#{world}", "THING#{group}#{rank:03d}#{name}")
    def at(self, *, world: str, group: str, rank: int, name: str) -> None:
        "A thing."

    @pattern(at)
    def by_group(self, *, world: str, group: Range[str] = ANYTHING) -> None:
        "Things whose groups lie in a range."

    @pattern(at, backwards=True)
    def by_rank(self, *, world: str, group: str, rank: Range[int] = ANYTHING) -> None:
        "Things of a group whose ranks lie in a range, highest first."

    @pattern(at)
    def by_name(self, *, world: str, group: str, rank: int, name: Range[str] = ANYTHING) -> None:
        "Things of a rank whose names lie in a range."

    stated = IndexKey(FIRST, "{world}#STATE#{state}", "{due}")

    @pattern(stated)
    def by_state(self, *, world: str, state: State, due: Range[datetime] = ANYTHING) -> None:
        "Things in a state that are due."

    owned = IndexKey(SECOND, "OWNER#{world}#{owner}", "{score:05d}#{name}")

    @pattern(owned)
    def by_owner(self, *, world: str, owner: str, score: Range[int] = ANYTHING) -> None:
        "Things of an owner that have a score."

    @pattern(owned)
    def by_score(self, *, world: str, owner: str, score: int, name: Range[str] = ANYTHING) -> None:
        "Things of an owner with one score."

    waiting = IndexKey(THIRD, "WAITING#{world}", "{owner}#{score:05d}", when={"state": (State.NEW, State.OPEN)})

    @pattern(waiting)
    def by_waiting(self, *, world: str, owner: Range[str] = ANYTHING) -> None:
        "Things that wait, by owner and score."

    start = Move(State.NEW, to=State.OPEN)

    @move(State.NEW, State.OPEN, to=State.DONE)
    def finish(self, *, text: str | None) -> None:
        self.text = text

    reopen = Move(State.DONE, to=State.OPEN)


class Echo(Entity, table=WORLDS):
    """The look-alike: its key begins as a thing's does, and it shares the first index."""

    world: str
    number: Annotated[int, Field(ge=0, le=99999)]
    state: State = State.NEW
    due: UtcSeconds | None = None
    count: int | None = None

    @key("WORLD#{world}", "THING#{number:05d}")
    def at(self, *, world: str, number: int) -> None:
        "An echo."

    @pattern(at)
    def by_number(self, *, world: str, number: Range[int] = ANYTHING) -> None:
        "Echoes of a world."

    stated = IndexKey(FIRST, "{world}#STATE#{state}", "{due}")

    @pattern(stated)
    def by_state(self, *, world: str, state: State, due: Range[datetime] = ANYTHING) -> None:
        "Echoes in a state that are due."


TICKS = Table("penstock-worlds-ticks", partition="series", sort=number("tick"))
METERED = TICKS.index("by-meter", partition="meter", sort=number("value"))


class Tick(Entity, table=TICKS):
    """Fields that are the keys themselves."""

    series: str
    tick: EpochSeconds
    meter: str | None = None
    value: Score | None = None

    @key("{series}", "{tick}")
    def at(self, *, series: str, tick: int) -> None:
        "A tick."

    @pattern(at)
    def by_series(self, *, series: str, tick: Range[int] = ANYTHING) -> None:
        "Ticks of a series."

    measured = IndexKey(METERED, "{meter}", "{value}")

    @pattern(measured)
    def by_meter(self, *, meter: str, value: Range[int] = ANYTHING) -> None:
        "Ticks of a meter."


DOMAIN = Domain("penstock_worlds", Thing, Echo, Tick)
