"""Files that a deleted record has left: they are announced with the deletion, and go to the trash soon after."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.units import EpochSeconds, UtcMicros
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.object_key import ObjectFolder, ObjectKey
from penstock.schema.shape import KEPT


class ReleasedStatus(StrEnum):
    WAITING = "waiting"
    GONE = "gone"


class Released(Entity, table=SYSTEM, relation="released_files", lifetimes=(Expires("ttl"),)):
    """The files of one deleted record."""

    __moved_by_work__ = True
    __rights__ = KEPT

    release_id: str
    project_id: str | None = None
    subject: str = Field(frozen=True)
    "The record that was deleted, for people."
    files: list[ObjectKey] = Field(frozen=True)
    folders: list[ObjectFolder] | None = Field(default=None, frozen=True)
    "All that lay in them goes."
    released_at: UtcMicros = Field(frozen=True)
    status: ReleasedStatus = ReleasedStatus.WAITING
    ttl: EpochSeconds | None = None

    @key("RELEASED#{release_id}", "RELEASED")
    def at(self, *, release_id: str) -> None: ...

    while_waiting = IndexKey(
        BY_STATUS, "RELEASED_STATUS#{status}", "{released_at}", when={"status": ReleasedStatus.WAITING}
    )

    @pattern(while_waiting)
    def by_status(self, *, status: ReleasedStatus, released_at: Range[datetime] = ANYTHING) -> None:
        """Files that wait to be removed, longest first."""

    @move(ReleasedStatus.WAITING, to=ReleasedStatus.GONE)
    def settle(self, *, forget_at: datetime) -> None:
        """They are in the trash, or were replaced by others."""
        self.ttl = int(forget_at.timestamp())
