"""Changes that are brought: some stores call a function with what has changed, instead of being asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from penstock.operations.feed_entry import FeedEntry
from penstock.schema.shape import EntityShape


class BroughtChange(Struct, frozen=True):
    """One change that was brought."""

    receipt: str
    "What whoever brings it calls it; empty where that cannot be told, so that it cannot be asked for again."
    entry: FeedEntry | None = None
    "The change; None where it is nothing that is followed, or cannot be read."
    trouble: str = ""
    "Why nobody can read it: trying again does not mend that."
    digest: str = ""
    "What tells such a one from others."
    later: bool = False
    "Nobody can tell yet how to read it, as the store is away: it is to be brought again."


@runtime_checkable
class DeliveringEngine(Protocol):
    """An engine whose store can bring changes."""

    def delivered(self, shapes: Sequence[EntityShape], event: Mapping[str, Any]) -> list[BroughtChange]:
        """The changes of these entities in an event, in its order; InvalidValue for what is no event of this store."""
        ...
