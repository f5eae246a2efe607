"""The table that all records of assets are in, as the documents lay it out, and its indexes."""

from __future__ import annotations

from uuid import UUID, uuid4

from pydantic import Field

from penstock.declare import Entity, Table

TABLE = Table("asset_creator", partition="PK", sort="SK", expiry="ttl", feed=True)
GSI1 = TABLE.index("GSI1", partition="GSI1PK", sort="GSI1SK")
GSI2 = TABLE.index("GSI2", partition="GSI2PK", sort="GSI2SK")
GSI3 = TABLE.index("GSI3", partition="GSI3PK", sort="GSI3SK")
# Beyond the documents: their indexes hold the records of all projects together; this one finds a project's own.
GSI4 = TABLE.index("GSI4", partition="GSI4PK", sort="GSI4SK")


class Numbered(Entity):
    """What SQL's tables call by an id of its own, besides the key it is found by."""

    id: UUID = Field(default_factory=uuid4, frozen=True)
