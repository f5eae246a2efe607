"""Records that have histories: of a domain that leaves its lines to the kernel, and of one that documents its own."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from penstock import ANYTHING, Count, Domain, Entity, Expires, IndexKey, Move, Range, Table, key, pattern
from penstock.kernel.audit import AuditLine
from penstock.kernel.outbox import Message, MessageStatus

TABLE = Table("penstock_test_diaries", partition="PK", sort="SK", expiry="ttl")
INDEX = TABLE.index("GSI1", partition="GSI1PK", sort="GSI1SK")


class Mood(StrEnum):
    CALM = "calm"
    CROSS = "cross"


class Door(StrEnum):
    OPEN = "open"
    SHUT = "shut"


class Diary(Entity, table=TABLE):
    """Somebody's, with a number."""

    project_id: str
    owner: str
    number: int
    mood: Mood = Mood.CALM
    note: str | None = None
    visits: Count = 0

    @key("DIARY#{project_id}#{owner}", "{number:06d}")
    def at(self, *, project_id: str, owner: str, number: int) -> None: ...

    anger = Move(Mood.CALM, to=Mood.CROSS)
    soothe = Move(Mood.CROSS, to=Mood.CALM)


class Pair(Entity, table=TABLE):
    """Its key has two texts, which may look like others when they are put one behind the other."""

    first: str
    second: str

    @key("PAIR#{first}", "{second}")
    def at(self, *, first: str, second: str) -> None: ...


class Hermit(Entity, table=TABLE, known_as="Recluse"):
    """It was called otherwise once, and has two states."""

    name: str
    mood: Mood = Mood.CALM
    door: Door = Door.OPEN

    @key("HERMIT#{name}", "HERMIT")
    def at(self, *, name: str) -> None: ...

    anger = Move(Mood.CALM, to=Mood.CROSS)
    shut = Move(Door.OPEN, to=Door.SHUT)


class Ledger(Entity, table=TABLE):
    """Of a domain with lines and messages of its own."""

    project_id: str
    name: str
    mood: Mood = Mood.CALM

    @key("LEDGER#{project_id}", "LEDGER#{name}")
    def at(self, *, project_id: str, name: str) -> None: ...

    anger = Move(Mood.CALM, to=Mood.CROSS)


class LedgerLine(AuditLine, table=TABLE, relation="ledger_lines"):
    """The domain's own kind of line."""

    @key("LINES#{project_id}", "{ts}#{actor}")
    def at(self, *, project_id: str, ts: datetime, actor: str) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str, ts: Range[datetime] = ANYTHING) -> None:
        """What happened in a project, in order."""


class LedgerMessage(Message, table=TABLE, relation="ledger_messages", lifetimes=(Expires("ttl"),)):
    """The domain's own kind of message."""

    @key("MESSAGE#{event_id}", "MESSAGE")
    def at(self, *, event_id: str) -> None: ...

    until_published = IndexKey(
        INDEX, "MESSAGES#{status}", "{ts}", when={"status": (MessageStatus.PENDING, MessageStatus.DEAD)}
    )

    @pattern(until_published)
    def by_status(self, *, status: MessageStatus, ts: Range[datetime] = ANYTHING) -> None:
        """Messages not yet told, oldest first."""


class Namesake(Entity, table=TABLE, known_as="Diary"):
    """What another domain calls a diary."""

    project_id: str
    owner: str
    number: int

    @key("NAMESAKE#{project_id}#{owner}", "{number:06d}")
    def at(self, *, project_id: str, owner: str, number: int) -> None: ...


DIARIES = Domain("diaries", Diary, Pair, Hermit)
LEDGERS = Domain("ledgers", Ledger, LedgerLine, LedgerMessage, audit=LedgerLine, outbox=LedgerMessage)
NAMESAKES = Domain("namesakes", Namesake)
SHAPES: list[Any] = [*DIARIES.shapes, *LEDGERS.shapes, *NAMESAKES.shapes]
