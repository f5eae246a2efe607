"""A domain whose records hold folders: films in parts, cuts of them within, and what both may share."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from penstock import Domain, Entity, IndexKey, ObjectFolder, ObjectKey, Table, key
from penstock.schema.file_pattern import FilePattern

STREAMS = Table("Streams", partition="PK", sort="SK")
BY_STATE = STREAMS.index("by_state", partition="GSI1PK", sort="GSI1SK")
STREAM, POSTER = FilePattern("films/{film}/stream/"), FilePattern("films/{film}/poster.png")
SHARED, STILL = FilePattern("shared/**"), FilePattern("films/{film}/stream/cuts/{cut}/still.png")
CUT, COVER = FilePattern("films/{film}/stream/cuts/{cut}/"), FilePattern("films/{film}/stream/cover/*.png")


class State(StrEnum):
    NEW = "new"


class Film(Entity, table=STREAMS):
    """All of its records can be found."""

    film: str
    state: State = State.NEW
    stream: ObjectFolder | None = None
    more: list[ObjectFolder] = Field(default_factory=list)
    named: dict[str, ObjectFolder] | None = None
    poster: ObjectKey | None = None

    @key("FILM#{film}", "FILM")
    def at(self, *, film: str) -> None: ...

    by_state = IndexKey(BY_STATE, "STATE#{state}", "{film}")


class Cut(Entity, table=STREAMS):
    """Its records cannot all be found; where their files lie tells which they are."""

    film: str
    cut: str
    folder: ObjectFolder | None = None
    still: ObjectKey | None = None

    @key("CUT#{film}#{cut}", "CUT")
    def at(self, *, film: str, cut: str) -> None: ...


DOMAIN = Domain("streams", Film, Cut, files=(STREAM, POSTER, SHARED, STILL, CUT, COVER))
