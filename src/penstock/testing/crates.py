"""Several kinds of records in one partition, one of which another writer may have written in a form of its own."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from penstock import (
    ANYTHING,
    Count,
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    IndexKey,
    Range,
    Table,
    UtcSeconds,
    attribute,
    camel_case,
    key,
    pattern,
)
from penstock.testing.entities import Colour

CRATES = Table("penstock-suite-crates", partition="PK", sort="SK", tag="kind", expiry="endsAt", naming=camel_case)
PAINTED = CRATES.index("GSI1", partition="GSI1PK", sort="GSI1SK")


class Size(BaseModel):
    """A model within a record."""

    width: int
    height: int = 1


class Crate(Entity, table=CRATES):
    """The one record that a partition is named for."""

    crate: str
    owner: str = "nobody"

    @key("CRATE#{crate}", "CRATE")
    def at(self, *, crate: str) -> None:
        "A crate by its name."


class _ParcelFields(Entity):
    """What is said of a parcel by whoever writes it."""

    crate: str
    number: Annotated[int, Field(ge=0, le=9999)] = attribute(in_key_only=True)
    colour: Colour = Colour.RED
    title: str = "plain"
    weight: int | None = None
    seen: Count = 0
    sent: UtcSeconds | None = None
    size: Size = Size(width=1)
    notes: list[str] = []  # noqa: RUF012 - pydantic copies it
    ends_at: EpochSeconds | None = None


class Parcel(_ParcelFields, table=CRATES, lifetimes=(Expires(at="ends_at"),)):
    """A record with fields of several kinds, which may end."""

    grade: Colour = Colour.GREEN

    @key("CRATE#{crate}", "PARCEL#{number:04d}")
    def at(self, *, crate: str, number: int) -> None:
        "A parcel by its number."

    @pattern(at)
    def of_crate(self, *, crate: str, number: Range[int] = ANYTHING) -> None:
        "The parcels of a crate, by number."

    painted = IndexKey(PAINTED, "{crate}#COLOUR#{colour}", "{title}")

    @pattern(painted)
    def by_colour(self, *, crate: str, colour: Colour, title: Range[str] = ANYTHING) -> None:
        "Parcels of a colour, by title."


class Label(Entity, table=CRATES):
    """Another kind, whose names lie before, between and behind the numbers of parcels."""

    crate: str
    name: str
    colour: Colour = Colour.RED
    printed: UtcSeconds | None = None

    @key("CRATE#{crate}", "{name}#LABEL")
    def at(self, *, crate: str, name: str) -> None:
        "A label by its name."

    @pattern(at)
    def of_crate(self, *, crate: str, name: Range[str] = ANYTHING) -> None:
        "The labels of a crate, by name."

    painted = IndexKey(PAINTED, "{crate}#COLOUR#{colour}", "{name}")

    @pattern(painted)
    def by_colour(self, *, crate: str, colour: Colour, name: Range[str] = ANYTHING) -> None:
        "Labels of a colour, by name."


class ParcelNote(Entity, table=CRATES):
    """The look-alike: its key begins as a parcel's does."""

    crate: str
    number: Annotated[int, Field(ge=0, le=9999)]
    note: Annotated[int, Field(ge=0, le=99)]

    @key("CRATE#{crate}", "PARCEL#{number:04d}#NOTE#{note:02d}")
    def at(self, *, crate: str, number: int, note: int) -> None:
        "A note on a parcel."


STRANGE = Table("penstock-suite-crates", partition="PK", sort="SK", tag="kind", expiry="endsAt", naming=camel_case)
STRANGE_PAINTED = STRANGE.index("GSI1", partition="GSI1PK", sort="GSI1SK")


class StrangeParcel(_ParcelFields, table=STRANGE, tag="parcel", relation="parcel", lifetimes=(Expires(at="ends_at"),)):
    """A parcel as somebody else writes it, who knows of no grades: any text will do."""

    grade: str

    @key("CRATE#{crate}", "PARCEL#{number:04d}")
    def at(self, *, crate: str, number: int) -> None:
        "The same key."

    painted = IndexKey(STRANGE_PAINTED, "{crate}#COLOUR#{colour}", "{title}")


BELLS = Table("penstock-suite-bells", partition="PK", feed=True)
STRANGE_BELLS = Table("penstock-suite-bells", partition="PK", feed=True)


class Bell(Entity, table=BELLS):
    """A record of a table with a feed."""

    name: str
    sound: Colour = Colour.RED

    @key("BELL#{name}")
    def at(self, *, name: str) -> None:
        "A bell by its name."


class StrangeBell(Entity, table=STRANGE_BELLS, relation="bell"):
    """A bell as somebody else writes it."""

    name: str
    sound: str

    @key("BELL#{name}")
    def at(self, *, name: str) -> None:
        "The same key."


DEPOT = Domain("penstock_depot", Crate, Parcel, Label, ParcelNote)
STRANGERS = Domain("penstock_depot", StrangeParcel)
TOWER = Domain("penstock_tower", Bell)
RINGERS = Domain("penstock_tower", StrangeBell)


def parcel(number: int, **values: object) -> Parcel:
    return Parcel(crate="c", number=number, **values)  # type: ignore[arg-type]


def strange(number: int, **values: object) -> StrangeParcel:
    """A parcel that the declaration cannot make sense of."""
    return StrangeParcel(crate="c", number=number, grade="ultraviolet", **values)  # type: ignore[arg-type]
