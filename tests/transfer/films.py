"""A small system whose records move: with a feed and without, with files, personal fields, and an end."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from penstock import Domain, Entity, IndexKey, Store, Table, key, pattern
from penstock.declare.lifetime import Expires
from penstock.declare.personal import Personal
from penstock.declare.units import EpochSeconds, UtcMicros
from penstock.schema.object_key import ObjectKey

FILMS = Table("transfer-films", partition="PK", sort="SK", feed=True)
SHELVES = Table("transfer-shelves", partition="PK", expiry="ttl")
BY_STATUS = FILMS.index("GSI1", partition="GSI1PK", sort="GSI1SK")


class FilmStatus(StrEnum):
    NEW = "new"
    SHOWN = "shown"


class Reel(Entity, table=FILMS):
    """A film of a project."""

    project_id: str
    number: int
    title: str
    status: FilmStatus = FilmStatus.NEW
    director: Personal[str | None] = None
    price: Decimal | None = None
    length: float | None = None
    tags: frozenset[str] | None = None
    notes: dict[str, str | int] | None = None
    made_at: UtcMicros | None = None
    thumbnail: bytes | None = None
    clip: ObjectKey | None = None

    @key("PROJECT#{project_id}", "REEL#{number:06d}")
    def at(self, *, project_id: str, number: int) -> None: ...

    in_status = IndexKey(BY_STATUS, "STATUS#{status}", "{project_id}#{number:06d}")

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """The films of a project."""


class Shelf(Entity, table=SHELVES, lifetimes=(Expires("ttl"),)):
    """Where films stand; of no project, without a feed."""

    name: str
    count: int = 0
    ttl: EpochSeconds | None = None

    @key("SHELF#{name}")
    def at(self, *, name: str) -> None: ...


DOMAIN = Domain("reels", Reel, Shelf, files=["films/{project_id}/{number:03d}.bin"])


def fill(store: Store, *, reels: int = 25, at: datetime) -> None:
    """Some of everything."""
    store.put_many(reel(number, at=at) for number in range(1, reels + 1))
    store.put_many(Shelf(name=f"shelf {number}", count=number) for number in range(7))
    store.put(Shelf(name="gone", ttl=int(at.timestamp()) - 60))
    with store.change(by="ann", why="a test", project="p1") as change:
        change.save(change.get(Reel.at(project_id="p1", number=1)))
        change.emit("reel.seen", change.get(Reel.at(project_id="p1", number=1)))


def reel(number: int, *, at: datetime, title: str | None = None) -> Reel:
    return Reel(
        project_id=f"p{number % 3 + 1}" if number > 1 else "p1",
        number=number,
        title=title or f"Reel № {number}",
        director=f"director {number}",
        price=Decimal("1.10") * number,
        length=number / 7,
        tags=frozenset({"a", f"t{number}"}),
        notes={"said": "“so”", "n": number},
        made_at=at,
        thumbnail=bytes([number % 256, 0, 255]),
        clip=f"films/p{number % 3 + 1}/{number:03d}.bin" if number > 1 else None,
    )
