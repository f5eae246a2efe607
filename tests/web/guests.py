"""A small domain about people: what they say is personal in every way a field can be."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from penstock import ANYTHING, Domain, Entity, IndexKey, Move, Personal, Range, SeenBy, Table, UtcSeconds, key, pattern
from penstock.declare import move
from penstock.errors import IllegalMove
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role

TABLE = Table("WebGuests", partition="PK", sort="SK", feed=True)
BY_ADDRESS = TABLE.index("by-address", partition="GSI1PK", sort="GSI1SK")
BY_STATUS = TABLE.index("by-status", partition="GSI2PK", sort="GSI2SK")


class Mood(StrEnum):
    QUIET = "quiet"
    LOUD = "loud"


class Guest(Entity, table=TABLE, relation="guests"):
    """Somebody who has said something."""

    project_id: str
    guest_id: str
    mood: Mood = Mood.QUIET
    words: Personal[str]
    address: Personal[str | None] = None
    friends: Personal[frozenset[str] | None] = None
    notes: Personal[dict[str, Any]] = Field(default_factory=dict)
    picture: Personal[bytes | None] = None
    nickname: Annotated[str | None, SeenBy(Role.EDITOR)] = None
    said_at: UtcSeconds = Field(frozen=True)

    @key("PROJECT#{project_id}", "GUEST#{guest_id}")
    def at(self, *, project_id: str, guest_id: str) -> None: ...

    where_from = IndexKey(BY_ADDRESS, "ADDRESS#{address}", "{said_at}")
    in_mood = IndexKey(BY_STATUS, "MOOD#{mood}", "{said_at}")

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """A project's guests."""

    @pattern(where_from)
    def by_address(self, *, address: str, said_at: Range[datetime] = ANYTHING) -> None:
        """Whoever came from an address."""

    @pattern(in_mood)
    def by_mood(self, *, mood: Mood, said_at: Range[datetime] = ANYTHING) -> None:
        """Guests in a mood."""

    calm = Move(Mood.LOUD, to=Mood.QUIET)

    @move(Mood.QUIET, to=Mood.LOUD)
    def shout(self, *, words: str) -> None:
        """They say something else, aloud."""
        self.words = words

    @move(Mood.QUIET, Mood.LOUD, to=Mood.LOUD)
    def repeat(self) -> None:
        """They are not understood."""
        raise IllegalMove(f"nobody understands {self.words!r} of {self.address}")


class Complaint(Entity, table=TABLE, relation="complaints", seen_by=Role.EDITOR):
    """What a guest does not like: nothing of it is for everybody."""

    project_id: str
    number: int

    @key("PROJECT#{project_id}", "COMPLAINT#{number:03d}")
    def at(self, *, project_id: str, number: int) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """A project's complaints."""


DOMAIN = Domain("guestbook", Guest, Complaint)
INSTALLED = DomainPlugin(DOMAIN)
