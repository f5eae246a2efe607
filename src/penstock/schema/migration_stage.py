"""The stages of a migration: how far a store is from one layout to the next."""

from __future__ import annotations

from enum import StrEnum


class MigrationStage(StrEnum):
    """What everybody does who knows of it; nobody begins with one before all have left the one before the last."""

    PROPOSED = "proposed"
    "Nothing is done otherwise yet: everybody tells by which declaration it goes."
    ANNOUNCED = "announced"
    "Everything is read and written as it was; but an index whose keys will be others is asked by nobody any more."
    FILLING = "filling"
    "Records are read as they were, and written both ways; those that stand are brought along."
    CLOSED = "closed"
    "The same, and declarations that cannot write what is to follow are shut out."
    SWITCHED = "switched"
    "Records are read as they will be, and still written both ways."
    LEAVING = "leaving"
    "They are written as they will be, and those that stand at a former key are removed."
    DROPPING = "dropping"
    "They are read and written without what is no longer declared, which is dropped."


DROPS = (MigrationStage.PROPOSED, MigrationStage.DROPPING)
"The stages in which leftovers are dropped, which is no migration."
BEING_DROPPED = "its leftovers are just being dropped; go on with `penstock migrate --drop-leftovers`"
"What is said of an entity to whoever would change it meanwhile."
