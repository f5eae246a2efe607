"""Knowers: which processes write to this store, and by which edition of its layouts each of them goes.

A process tells so before it writes, and again while it goes on; what it told holds for `HELD` seconds by its own
monotonic clock. Whoever changes a layout waits until no knower goes by an earlier edition. One that tells nothing more
is over when its record has stood unchanged for so long, and for as long as its last request could have taken, by the
clock of whoever watches: no two clocks are compared.
"""

from __future__ import annotations

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds
from penstock.kernel.system import SYSTEM
from penstock.schema.role import Role
from penstock.schema.shape import OPERATORS

FRESH = 5.0
"So many seconds what is known of layouts is gone by without asking again,"
HELD = 15.0
"and so many at most, while the store cannot be asked."
LONGEST_REQUEST = 45.0
"A request that was sent has been carried out after so many seconds, or never will be."


class Knower(Entity, table=SYSTEM, relation="layout_knowers", lifetimes=(Expires("ttl"),)):
    """One process that writes, and what it knows."""

    __rights__ = OPERATORS
    __seen_by__ = Role.ADMIN
    __traced__ = False
    __moved_by_work__ = True

    process: str
    edition: Count
    "The earliest by which anything goes that it has not ended yet."
    renewed: Count
    "Grows whenever it tells so again."
    place: str
    "Its machine and its number there, for people."
    declares: dict[str, str]
    "The digests of its declarations that are not the layouts which the store has."
    ttl: EpochSeconds

    @key("KNOWERS", "{process}")
    def at(self, *, process: str) -> None: ...

    @pattern(at)
    def everywhere(self) -> None:
        """All of them."""
