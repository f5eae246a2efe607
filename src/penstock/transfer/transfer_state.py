"""How far a transfer into a store has come: kept there, so that whoever takes it up goes on where it ended."""

from __future__ import annotations

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.units import UtcSeconds
from penstock.kernel.system import SYSTEM


class TransferState(Entity, table=SYSTEM, relation="transfers"):
    """One transfer into this store, an import or a copy."""

    __moved_by_work__ = True

    name: str
    "import or copy."
    origin: str
    "Where from: the checksum of a manifest, or the address of a store without its secrets."
    begun_at: UtcSeconds
    position: str | None = None
    "Of a copy: up to where the changes of the store that is left were carried over."
    places: dict[str, str | None] = Field(default_factory=dict)
    "Of each entity, behind which record the bulk goes on; of one that is complete, nothing."
    records: dict[str, int] = Field(default_factory=dict)
    "How many of each entity were carried over in bulk."
    ended_at: UtcSeconds | None = None

    @key("TRANSFER#{name}", "STATE")
    def at(self, *, name: str) -> None: ...
