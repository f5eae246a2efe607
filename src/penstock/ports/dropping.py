"""Dropping what is left of former layouts: the one way in which a store loses anything of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from penstock.operations.leftover import DroppedPage, Leftover
from penstock.schema.former_places import FormerPlaces
from penstock.schema.shape import EntityShape


@runtime_checkable
class DroppingEngine(Protocol):
    """An engine that can tell what stands of former layouts, and drop it."""

    def leftovers(
        self, shape: EntityShape, places: FormerPlaces, left: Mapping[str, EntityShape], *, counted: bool
    ) -> list[Leftover]:
        """Those of the places that stand, in the order in which they are dropped.

        What has to stay is among them, with the reason. ``left`` is the entity as it was in tables that it has left;
        ``counted``: with the number of records that have something there.
        """
        ...

    def drop(
        self, shape: EntityShape, leftovers: Sequence[Leftover], *, after: str | None = None, limit: int = 100
    ) -> DroppedPage:
        """Drop some of one kind, or a page of them; what is gone already is no error.

        Of a table that was left, ``shape`` is the entity as it was there.
        """
        ...
