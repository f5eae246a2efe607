"""The entities the suite writes and reads: every kind of field, and every form of key and index."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

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
    UtcMicros,
    UtcMillis,
    UtcSeconds,
    attribute,
    camel_case,
    key,
    move,
    number,
    pattern,
)


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"
    BLUE = "deep blue"


class Status(StrEnum):
    NEW = "new"
    OPEN = "open"
    DONE = "done"


class Measure(BaseModel):
    """A model within a record."""

    width: int
    height: float
    unit: str = "mm"
    taken: datetime | None = None


class Everything(Entity):
    """One field of every kind, none of which need have a value."""

    text: str | None = None
    colour: Colour | None = None
    identifier: UUID | None = None
    count: int | None = None
    ratio: float | None = None
    price: Decimal | None = None
    flag: bool | None = None
    blob: bytes | None = None
    second: UtcSeconds | None = None
    milli: UtcMillis | None = None
    micro: UtcMicros | None = None
    day: date | None = None
    labels: frozenset[str] | None = None
    notes: list[str] | None = None
    extra: dict[str, Any] | None = None
    measure: Measure | None = None
    measures: list[Measure] | None = None


# Reserved words, other spellings and several entities: a table as the documents have them.
SHELVES = Table(
    "penstock-suite-shelves", partition="PK", sort="SK", tag="entity", expiry="endsAt", feed=False, naming=camel_case
)
FIRST = SHELVES.index("GSI1", partition="GSI1PK", sort="GSI1SK")
SECOND = SHELVES.index("GSI2", partition="GSI2PK", sort="GSI2SK")
THIRD = SHELVES.index("GSI3", partition="GSI3PK", sort="GSI3SK")


class Specimen(Everything, table=SHELVES):
    """Every kind of field, in one record."""

    shelf: str
    label: str
    title: str = "untitled"
    seen: Count = 0

    @key("SHELF#{shelf}", "SPECIMEN#{label}")
    def at(self, *, shelf: str, label: str) -> None:
        "A specimen by its label."

    @pattern(at)
    def by_shelf(self, *, shelf: str, label: Range[str] = ANYTHING) -> None:
        "Specimens of a shelf, by label."


class Task(Entity, table=SHELVES):
    """A key of several parts, among them one of variable width that others follow."""

    job: str
    name: str
    at: UtcMicros
    attempt: Annotated[int, Field(ge=0)] = 0
    note: str = ""

    @key("JOB#{job}", "TASK#{name}#{at}#{attempt:03d}")
    def placed(self, *, job: str, name: str, at: datetime, attempt: int) -> None:
        "One attempt of a task."

    @pattern(placed)
    def by_job(self, *, job: str) -> None:
        "All tasks of a job, by name, time and attempt."

    @pattern(placed)
    def by_name(self, *, job: str, name: Range[str] = ANYTHING) -> None:
        "Tasks of a job whose names lie in a range."

    @pattern(placed)
    def by_time(self, *, job: str, name: str, at: Range[datetime] = ANYTHING) -> None:
        "Tasks of one name, within a time."

    @pattern(placed)
    def by_attempt(self, *, job: str, name: str, at: datetime, attempt: Range[int] = ANYTHING) -> None:
        "Attempts made at one moment."

    @pattern(placed, backwards=True)
    def latest(self, *, job: str, name: str | None = None) -> None:
        "Tasks, last first, of one name if it is given."


class Ticket(Entity, table=SHELVES):
    """Three index keys: one always there, one sparse, one held by the states."""

    queue: str
    ticket_id: str
    status: Status = Status.NEW
    created_at: UtcSeconds
    owner: str | None = None
    due: UtcSeconds | None = None
    priority: Annotated[int, Field(ge=0, le=99999)] = 0
    outcome: str | None = None
    touched: Count = 0

    @key("QUEUE#{queue}", "TICKET#{ticket_id}")
    def at(self, *, queue: str, ticket_id: str) -> None:
        "A ticket by its number."

    @pattern(at)
    def by_queue(self, *, queue: str, ticket_id: Range[str] = ANYTHING) -> None:
        "Tickets of a queue."

    created = IndexKey(FIRST, "STATUS#{status}", "{created_at}")

    @pattern(created)
    def by_status(self, *, status: Status, created_at: Range[datetime] = ANYTHING) -> None:
        "Tickets in a state, oldest first; many share a moment."

    owned = IndexKey(SECOND, "OWNER#{owner}", "{due}#{queue}")

    @pattern(owned)
    def by_owner(self, *, owner: str, due: Range[datetime] = ANYTHING) -> None:
        "Tickets of an owner that have a due date, soonest first."

    waiting = IndexKey(THIRD, "WAITING#{queue}", "{priority:05d}", when={"status": (Status.NEW, Status.OPEN)})

    @pattern(waiting, backwards=True)
    def by_priority(self, *, queue: str, priority: Range[int] = ANYTHING) -> None:
        "Tickets of a queue that wait, the most urgent first."

    start = Move(Status.NEW, to=Status.OPEN)

    @move(Status.OPEN, Status.NEW, to=Status.DONE)
    def finish(self, *, outcome: str) -> None:
        "The ticket is done."
        self.outcome = outcome

    reopen = Move(Status.DONE, to=Status.OPEN)


class Session(Entity, table=SHELVES, lifetimes=(Expires(at="ends_at"),)):
    """A record that ends."""

    user: str
    session_id: str
    visits: Count = 0
    device: str | None = None
    ends_at: EpochSeconds | None = None

    @key("USER#{user}", "SESSION#{session_id}")
    def at(self, *, user: str, session_id: str) -> None:
        "A session by its id."

    @pattern(at)
    def by_user(self, *, user: str, session_id: Range[str] = ANYTHING) -> None:
        "Sessions of a user."

    on_device = IndexKey(FIRST, "DEVICE#{device}", "{session_id}")

    @pattern(on_device)
    def by_device(self, *, device: str, session_id: Range[str] = ANYTHING) -> None:
        "Sessions on a device."


class Lamp(Entity, table=SHELVES):
    """An index held by a flag, under a constant partition."""

    room: str
    lit: bool = False

    @key("ROOM#{room}", "LAMP")
    def at(self, *, room: str) -> None:
        "The lamp of a room."

    shining = IndexKey(THIRD, "SHINING", "{room}", when={"lit": True})

    @pattern(shining)
    def by_light(self, *, room: Range[str] = ANYTHING) -> None:
        "Lamps that are lit."


# Without a tag attribute only the form of a key tells whose an item is.
REELS = Table("penstock-suite-reels", partition="PK", sort="SK")
GRADED = REELS.index("by-grade", partition="GSI1PK", sort="GSI1SK")


class Scene(Entity, table=REELS):
    """Its keys are the beginning of another entity's keys, and it shares an index with that entity."""

    reel: UUID
    sequence: Annotated[int, Field(ge=1)] = attribute(in_key_only=True)
    grade: str = "good"
    title: str = ""

    @key("REEL#{reel}", "SCENE#{sequence:03d}")
    def at(self, *, reel: UUID, sequence: int) -> None:
        "A scene by its number."

    @pattern(at)
    def by_reel(self, *, reel: UUID, sequence: Range[int] = ANYTHING) -> None:
        "Scenes of a reel, in order."

    graded = IndexKey(GRADED, "GRADE#{grade}", "{sequence:03d}")

    @pattern(graded)
    def by_grade(self, *, grade: str, sequence: Range[int] = ANYTHING) -> None:
        "Scenes of a grade."


class SceneVersion(Entity, table=REELS):
    """The look-alike: `SCENE#001#VERSION#001` begins as a scene's key does."""

    reel: UUID
    sequence: Annotated[int, Field(ge=1)]
    version: Annotated[int, Field(ge=1)]
    grade: str = "good"

    @key("REEL#{reel}", "SCENE#{sequence:03d}#VERSION#{version:03d}")
    def at(self, *, reel: UUID, sequence: int, version: int) -> None:
        "A version of a scene."

    @pattern(at)
    def by_scene(self, *, reel: UUID, sequence: int, version: Range[int] = ANYTHING) -> None:
        "Versions of a scene."

    graded = IndexKey(GRADED, "GRADE#{grade}", "{sequence:03d}")

    @pattern(graded)
    def by_grade(self, *, grade: str) -> None:
        "Versions of a grade."


# Fields that are the key themselves, with a number to sort by; the index likewise.
READINGS = Table("penstock-suite-readings", partition="sensor", sort=number("taken"))
METERED = READINGS.index("by-meter", partition="meter", sort=number("value"))


class Reading(Entity, table=READINGS):
    """Native keys: a string and a number."""

    sensor: str
    taken: EpochSeconds
    meter: str | None = None
    value: Count | None = None
    text: str = ""

    @key("{sensor}", "{taken}")
    def at(self, *, sensor: str, taken: int) -> None:
        "What a sensor said at a second."

    @pattern(at)
    def by_sensor(self, *, sensor: str, taken: Range[int] = ANYTHING) -> None:
        "Readings of a sensor, oldest first."

    measured = IndexKey(METERED, "{meter}", "{value}")

    @pattern(measured)
    def by_meter(self, *, meter: str, value: Range[int] = ANYTHING) -> None:
        "Readings of a meter, smallest first."


COUNTERS = Table("penstock-suite-counters", partition="name")


class Counter(Entity, table=COUNTERS):
    """A table without a sort key."""

    name: str
    total: Count = 0
    balance: Decimal = Decimal(0)

    @key("{name}")
    def at(self, *, name: str) -> None:
        "A counter by its name."


class Floor(Entity, table=REELS):
    """Numbers below zero in its key, and in that of an index."""

    house: str
    height: int
    room: str
    degrees: int | None = None

    @key("HOUSE#{house}", "FLOOR#{height:+04d}#{room}")
    def at(self, *, house: str, height: int, room: str) -> None:
        "A room by its floor."

    @pattern(at)
    def by_house(self, *, house: str, height: Range[int] = ANYTHING) -> None:
        "Rooms of a house, the deepest first."

    @pattern(at)
    def by_floor(self, *, house: str, height: int, room: Range[str] = ANYTHING) -> None:
        "Rooms of a floor."

    warmed = IndexKey(GRADED, "WARMED#{house}", "{degrees:+03d}")

    @pattern(warmed, backwards=True)
    def by_warmth(self, *, house: str, degrees: Range[int] = ANYTHING) -> None:
        "Rooms of a house, the warmest first."


class Gauge(Entity, table=REELS):
    """Numbers with bounds, one of which may be missing."""

    name: str
    level: Annotated[int, Field(ge=-5, le=5)] = 0
    depth: Annotated[int, Field(gt=1, lt=9)] | None = None
    flow: Annotated[Decimal, Field(gt=0, le=2)] = Decimal("1.5")

    @key("GAUGE#{name}", "GAUGE")
    def at(self, *, name: str) -> None:
        "A gauge by its name."


WATCHED = Table("penstock-suite-watched", partition="PK", sort="SK", tag="entity", expiry="ends_at", feed=True)


class Watched(Everything, table=WATCHED, lifetimes=(Expires(at="ends_at"),)):
    """Every kind of field, in a table with a feed."""

    shelf: str
    label: str
    seen: Count = 0
    ends_at: EpochSeconds | None = None

    @key("SHELF#{shelf}", "WATCHED#{label}")
    def at(self, *, shelf: str, label: str) -> None:
        "A watched record by its label."


class Alarm(Entity, table=WATCHED):
    """Another entity of the table with a feed."""

    shelf: str
    bell: str

    @key("SHELF#{shelf}", "ALARM#{bell}")
    def at(self, *, shelf: str, bell: str) -> None:
        "An alarm by its bell."


SUITE = Domain(
    "penstock_suite",
    Specimen,
    Task,
    Ticket,
    Session,
    Lamp,
    Scene,
    SceneVersion,
    Reading,
    Counter,
    Floor,
    Gauge,
    Watched,
    Alarm,
)

MOMENT = datetime(2037, 1, 1, 12, 30, 45, 123456, tzinfo=UTC)
"A moment with every digit."


def specimen(shelf: str = "top", label: str = "one", **values: Any) -> Specimen:
    """A specimen without a value more than it needs."""
    return Specimen(shelf=shelf, label=label, **values)


def full_values() -> dict[str, Any]:
    """A value for each field of `Everything`."""
    return {
        "text": "naïve 🐟 % # text",
        "colour": Colour.BLUE,
        "identifier": UUID("12345678-1234-5678-9abc-123456789abc"),
        "count": -42,
        "ratio": 0.1 + 0.2,
        "price": Decimal("12345678901234567890.12"),
        "flag": False,
        "blob": bytes(range(256)),
        "second": MOMENT,
        "milli": MOMENT,
        "micro": MOMENT,
        "day": date(2037, 2, 28),
        "labels": frozenset({"b", "a", "ü"}),
        "notes": ["second", "first", ""],
        "extra": {"a": [1, 2.5, None, True, {"b": "c"}], "ключ": {}, "e": []},
        "measure": Measure(width=3, height=4.5, taken=MOMENT),
        "measures": [Measure(width=1, height=2.0), Measure(width=2, height=0.25, unit="cm")],
    }
