"""A small domain, for the type checker to look at."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from penstock import (
    ANYTHING,
    Count,
    Entity,
    IndexKey,
    Move,
    Personal,
    Range,
    Table,
    UtcSeconds,
    attribute,
    key,
    move,
    pattern,
)

TABLE = Table("penstock-typing", partition="PK", sort="SK")
BY_STATUS = TABLE.index("by-status", partition="GSI1PK", sort="GSI1SK")


class Status(StrEnum):
    PENDING = "pending"
    DONE = "done"


class Scene(Entity, table=TABLE):
    project_id: UUID
    sequence: int
    status: Status = Status.PENDING
    prompt: str
    created_at: UtcSeconds
    clip: str | None = attribute("clipKey", default=None)
    labels: frozenset[str] | None = None
    notes: list[str] | None = None
    retries: Count = 0
    author: Personal[str | None] = None
    remark: Personal[str] = ""

    @key("PROJECT#{project_id}", "SCENE#{sequence:03d}")
    def at(self, *, project_id: UUID, sequence: int) -> None:
        "A scene by its number."

    @pattern(at)
    def by_project(self, *, project_id: UUID, sequence: Range[int] = ANYTHING) -> None:
        "Scenes of a project."

    in_order = IndexKey(BY_STATUS, "{status}", "{created_at}")

    @pattern(in_order)
    def by_status(self, *, status: Status, created_at: Range[datetime] = ANYTHING) -> None:
        "Scenes in a state."

    reopen = Move(Status.DONE, to=Status.PENDING)

    @move(Status.PENDING, to=Status.DONE)
    def finish(self, *, clip: str) -> None:
        "The clip is there."
        self.clip = clip


class Cut(Entity, table=TABLE):
    project_id: UUID
    length: int = 0

    @key("PROJECT#{project_id}", "CUT")
    def at(self, *, project_id: UUID) -> None:
        "The cut of a project."
