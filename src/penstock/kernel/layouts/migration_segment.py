"""How far a migration is: one record for each of its segments, with which whoever goes on begins where it ended."""

from __future__ import annotations

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.declare.units import Count
from penstock.kernel.system import SYSTEM
from penstock.schema.role import Role
from penstock.schema.shape import OPERATORS


class MigrationSegment(Entity, table=SYSTEM, relation="migration_segments"):
    """One part of the records of an entity that is being migrated."""

    __rights__ = OPERATORS
    __seen_by__ = Role.ADMIN
    __traced__ = False
    __moved_by_work__ = True

    label: str
    number: int
    place: str | None = None
    "Where its walk goes on, as the engine calls it."
    looked_at: Count = 0
    written: Count = 0
    unreadable: Count = 0
    is_done: bool = False

    @key("MIGRATION#{label}", "{number:04d}")
    def at(self, *, label: str, number: int) -> None: ...

    @pattern(at)
    def of_migration(self, *, label: str) -> None:
        """The segments of one entity's migration."""
