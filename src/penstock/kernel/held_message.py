"""Held messages: which messages wait for somebody to decide about an earlier one of the same thing, that is dead.

A message that is held is in no index of its outbox, so that however many there are, none is in the way of others. What
is noted here finds those of one thing, in their order.
"""

from __future__ import annotations

from datetime import datetime

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.declare.units import UtcMicros
from penstock.kernel.system import SYSTEM
from penstock.schema.role import Role
from penstock.schema.shape import Rights


class HeldMessage(Entity, table=SYSTEM, relation="held_messages"):
    """A message that waits for somebody to decide about an earlier one."""

    __rights__ = Rights(remove=False)
    __seen_by__ = Role.ADMIN
    __moved_by_work__ = True

    outbox: str
    thing: str
    "What it is about, as a hash: keys have a length."
    ts: UtcMicros
    event_id: str
    aggregate: str
    project_id: str | None = None

    @key("HELD#{outbox}", "{thing}#{ts}#{event_id}")
    def at(self, *, outbox: str, thing: str, ts: datetime, event_id: str) -> None: ...

    @pattern(at)
    def of_outbox(self, *, outbox: str) -> None:
        """All that wait, thing by thing."""

    @pattern(at)
    def of_thing(self, *, outbox: str, thing: str) -> None:
        """Those about one thing, oldest first."""
