"""A domain whose records hold folders: films in parts, cuts of them within, and what both may share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from pydantic import Field

from penstock import (
    Domain,
    Entity,
    FrozenClock,
    IndexKey,
    ObjectFolder,
    ObjectKey,
    RetainFor,
    Store,
    Table,
    UtcSeconds,
    key,
)
from penstock.files.deletion import delete_with_files
from penstock.files.object_reads import every
from penstock.files.reconcile import Reconciliation
from penstock.files.sweep import Sweep, Swept
from penstock.files.trash import Trash
from penstock.ports.object_store import ObjectStore
from penstock.schema.file_pattern import FilePattern

STREAMS = Table("Streams", partition="PK", sort="SK")
BY_STATE = STREAMS.index("by_state", partition="GSI1PK", sort="GSI1SK")
STREAM, POSTER = FilePattern("films/{film}/stream/"), FilePattern("films/{film}/poster.png")
SHARED, STILL = FilePattern("shared/{state}/**"), FilePattern("films/{movie}/stream/cuts/{cut}/still.png")
CUT, COVER = FilePattern("films/{movie}/stream/cuts/{cut}/"), FilePattern("films/{film}/stream/cover/*.png")


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

    movie: str
    cut: str
    kind: State = State.NEW
    folder: ObjectFolder | None = None
    still: ObjectKey | None = None

    @key("CUT#{movie}#{cut}", "CUT")
    def at(self, *, movie: str, cut: str) -> None: ...


class Reel(Entity, table=STREAMS, lifetimes=(RetainFor(timedelta(days=30), since="made_at", files=True),)):
    """It goes to the archive with all that lies in its folder."""

    reel: str
    state: State = State.NEW
    made_at: UtcSeconds
    label: ObjectKey | None = None
    folder: ObjectFolder | None = None

    @key("REEL#{reel}", "REEL")
    def at(self, *, reel: str) -> None: ...

    by_moment = IndexKey(BY_STATE, "REELS#{state}", "{made_at}")


class Take(Entity, table=STREAMS):
    """Its records are found by their reel."""

    reel: str
    take: int
    folder: ObjectFolder | None = None

    @key("TAKES#{reel}", "{take:03d}")
    def at(self, *, reel: str, take: int) -> None: ...


REELS = ("reels/{reel}/", "reels/{reel}/*.txt", "reels/{reel}/takes/*/")
DOMAIN = Domain("streams", Film, Cut, Reel, Take, files=(STREAM, POSTER, SHARED, STILL, CUT, COVER, *REELS))


@dataclass
class StreamWorld:
    """Films and their folders in an object store."""

    store: Store
    objects: ObjectStore
    clock: FrozenClock

    @property
    def trash(self) -> Trash:
        return Trash(self.objects, self.clock)

    @property
    def reconciliation(self) -> Reconciliation:
        return Reconciliation(self.store, self.objects, self.trash, [DOMAIN])

    def sweep(self) -> Swept:
        swept = Sweep(self.store, self.objects, [DOMAIN], owner="sweeper").run()
        assert swept is not None
        return swept

    def put(self, keys: Iterable[str]) -> list[str]:
        """Files whose bytes are their keys."""
        put = list(keys)
        for each in put:
            self.objects.put(each, each.encode())
        return put

    def delete(self, record: Entity) -> None:
        """As whoever deletes a record does, a while after its files came."""
        self.clock.advance(timedelta(minutes=5))
        with self.store.change(by="editor") as change:
            delete_with_files(self.store, change, change.get(record.ref))

    def lying(self) -> list[str]:
        """Every file that is in its place."""
        return sorted(found.key for found in every(self.objects) if not found.key.startswith("trash/"))

    def trashed(self) -> list[str]:
        """Every file that is in the trash, by the key that it had; each has the bytes that it had."""
        there = sorted(self.trash.files(), key=lambda each: each[0])
        for was, found in there:
            assert self.objects.get(found.key).read() == was.encode()
        return [was for was, _ in there]
