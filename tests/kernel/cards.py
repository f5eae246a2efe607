"""Cards: unique, versioned and computed, all in one record, for histories of whatever may become of it."""

from __future__ import annotations

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
    Unique,
    UniqueWithin,
    computed,
    key,
    pattern,
)

TABLE = Table("penstock-worlds-cards", partition="PK", sort="SK", tag="kind", expiry="ends")
BY_TITLE = TABLE.index("GSI1", partition="GSI1PK", sort="GSI1SK")
BY_HEADING = TABLE.index("GSI2", partition="GSI2PK", sort="GSI2SK")
BY_PHASE = TABLE.index("GSI3", partition="GSI3PK", sort="GSI3SK")


class Stage(StrEnum):
    NEW = "new"
    OPEN = "open"
    DONE = "done"


def heading(team: str | None, title: str) -> str | None:
    return None if team is None else f"{team}/{title.casefold()}"


def phase(stage: Stage) -> str:
    return "over" if stage is Stage.DONE else "alive"


class Card(Entity, table=TABLE, version="revision", lifetimes=(Expires(at="ends"),)):
    """Four unique values, one of them computed; a version; three indexes by computed values; a state and an end."""

    project_id: str
    name: str
    stage: Stage = Stage.NEW
    title: str
    team: str | None = None
    seat: Annotated[int | None, UniqueWithin("project_id", "team")] = None
    handle: Annotated[str | None, UniqueWithin("project_id")] = None
    badge: Unique[str] | None = None
    note: str = "x"
    visits: int = 0
    score: Annotated[int, Field(ge=0, le=99999)] | None = None
    ends: EpochSeconds | None = None
    folded: Annotated[str, UniqueWithin("project_id")] = computed(str.casefold, of="title")
    heading: str | None = computed(heading, of=("team", "title"))
    phase: str = computed(phase, of="stage")
    revision: int = 1

    @key("CARDS#{project_id}", "CARD#{name}")
    def at(self, *, project_id: str, name: str) -> None: ...

    titled = IndexKey(BY_TITLE, "TITLES#{project_id}", "{folded}#{name}")

    @pattern(titled)
    def by_title(self, *, project_id: str, folded: Range[str] = ANYTHING) -> None:
        "Cards by their titles, whatever their case."

    headed = IndexKey(BY_HEADING, "HEADINGS#{project_id}", "{heading}")

    @pattern(headed)
    def by_heading(self, *, project_id: str, heading: Range[str] = ANYTHING) -> None:
        "Cards that have a team, by their headings."

    phased = IndexKey(BY_PHASE, "PHASE#{project_id}#{phase}", "{score:05d}#{name}")

    @pattern(phased)
    def by_phase(self, *, project_id: str, phase: str, score: Range[int] = ANYTHING) -> None:
        "Cards of a phase that have a score."

    start = Move(Stage.NEW, to=Stage.OPEN)
    finish = Move(Stage.NEW, Stage.OPEN, to=Stage.DONE)
    reopen = Move(Stage.DONE, to=Stage.OPEN)


class Slip(Entity, table=TABLE):
    """What has nothing of all that, and is written together with cards."""

    project_id: str
    number: Annotated[int, Field(ge=0, le=9)]

    @key("CARDS#{project_id}", "SLIP#{number:01d}")
    def at(self, *, project_id: str, number: int) -> None: ...


CARDS = Domain("penstock_cards", Card, Slip)
