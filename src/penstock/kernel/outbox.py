"""The outbox: messages that become true with the data they tell of, and are told to others later.

A message commits in the same change as the data. It can be found while it is pending, is delivered at least once, in
order with the others about the same thing, and carries an id to recognise it by. One that cannot be delivered becomes a
dead letter, and holds back the later ones about the same thing until somebody sends it again or dismisses it; one that
was published is forgotten after a while.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec
from pydantic import Field, ValidationError

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds, UtcMicros
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.handle import StoreHandle
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.operations.conditions import Missing
from penstock.operations.reads import ANYTHING, Range
from penstock.operations.validation import is_simple, is_simple_json, is_simple_name, prepare
from penstock.operations.writes import Put, Write
from penstock.ports.ids import sortable_text
from penstock.schema.documents import is_flat, plain
from penstock.schema.role import Role
from penstock.schema.shape import Rights

_DISMISSED_KEPT = timedelta(days=30)
"So long after it was emitted a message is remembered that somebody has dismissed."


class MessageStatus(StrEnum):
    PENDING = "pending"
    PUBLISHED = "published"
    DEAD = "dead"
    HELD = "held"
    "An earlier one about the same thing is dead: it waits until somebody decides about that."
    DISMISSED = "dismissed"
    "It was dead, and somebody has decided that it need not be told."


class Message(Entity):
    """Something that became true, or work that is to be done."""

    __rights__ = Rights(remove=False)
    __seen_by__ = Role.ADMIN
    __moved_by_work__ = True
    __wakes__ = True

    event_id: str
    type: str
    aggregate: str
    "What it is about: messages about the same thing are told in order."
    project_id: str | None = None
    payload: dict[str, Any]
    status: MessageStatus = MessageStatus.PENDING
    ts: UtcMicros = Field(frozen=True)
    attempts: Count = 0
    retry_at: UtcMicros | None = None
    error: str | None = None
    ttl: EpochSeconds | None = None

    @move(MessageStatus.PENDING, to=MessageStatus.PUBLISHED)
    def publish(self, *, forget_at: datetime) -> None:
        """It has been told."""
        self.ttl, self.retry_at, self.error = int(forget_at.timestamp()), None, None

    @move(MessageStatus.PENDING, to=MessageStatus.PENDING)
    def postpone(self, *, until: datetime, error: str) -> None:
        """It could not be told now."""
        self.attempts, self.retry_at, self.error = self.attempts + 1, until, error

    @move(MessageStatus.PENDING, to=MessageStatus.DEAD)
    def bury(self, *, error: str) -> None:
        """It could not be told at all."""
        self.attempts, self.retry_at, self.error = self.attempts + 1, None, error

    @move(MessageStatus.DEAD, to=MessageStatus.PENDING, by=Role.ADMIN)
    def revive(self) -> None:
        """Try again, from the beginning; what else is to be told of the same thing follows it."""
        self.attempts, self.retry_at = 0, None

    @move(MessageStatus.DEAD, to=MessageStatus.DISMISSED, by=Role.ADMIN)
    def dismiss(self) -> None:
        """It need not be told; what else is to be told of the same thing goes on without it."""
        self.ttl = int((self.ts + _DISMISSED_KEPT).timestamp())

    @move(MessageStatus.PENDING, to=MessageStatus.HELD)
    def hold_back(self) -> None:
        """An earlier one about the same thing is dead."""

    @move(MessageStatus.HELD, to=MessageStatus.PENDING)
    def go_on(self) -> None:
        """The earlier one is decided about."""


class SystemMessage(Message, table=SYSTEM, relation="outbox", collection="messages", lifetimes=(Expires("ttl"),)):
    """The kernel's own, for domains that do not document theirs."""

    @key("OUTBOX#{event_id}", "OUTBOX#{event_id}")
    def at(self, *, event_id: str) -> None: ...

    until_published = IndexKey(
        BY_STATUS,
        "OUTBOX_STATUS#{status}",
        "{ts}",
        when={"status": (MessageStatus.PENDING, MessageStatus.DEAD)},
    )

    @pattern(until_published)
    def by_status(self, *, status: MessageStatus, ts: Range[datetime] = ANYTHING) -> None:
        """Messages not yet told, or dead letters, oldest first."""


class Messages(list[Put]):
    """The messages of a change, with which they take part in its commit. Their ids are new: none is ever refused."""

    __slots__ = ()

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        return [*writes, *self]

    def was_refused(self, write: Write, refused: Conflict) -> bool:
        return False


def announcement(
    outbox: type[Message], *, type: str, aggregate: str, project_id: str | None, payload: dict[str, Any], ts: datetime
) -> Put:
    """The write of a new message. Its id is new, so finding it proves that its commit was applied."""
    values = {
        "event_id": sortable_text(ts),
        "type": type,
        "aggregate": aggregate,
        "project_id": project_id,
        "payload": payload if is_flat(payload) else plain(payload),
        "status": MessageStatus.PENDING,
        "ts": ts,
        "attempts": 0,
    }
    shape = outbox.__shape__
    told = is_simple_name(type) and is_simple(aggregate) and (project_id is None or is_simple_name(project_id))
    if outbox is SystemMessage and told and is_simple_json(_encode(values["payload"])):
        return Put(shape, values, _NEW, True)
    # A domain's own message may keep parts of what it tells in fields.
    own = {name: payload[name] for name in shape.fields if name in payload}
    try:
        message = outbox.model_validate(own | values)
    except ValidationError as error:
        raise InvalidValue(f"a message of {shape.label} cannot be made: {error.errors()[0]['msg']}") from None
    return Put(shape, prepare(shape, message.__dict__), _NEW, witness=True)


_encode = msgspec.json.Encoder().encode
_NEW = Missing()
