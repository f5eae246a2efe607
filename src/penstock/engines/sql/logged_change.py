"""What the logs of both dialects tell of a change, and of changes that they keep no longer."""

from __future__ import annotations

from typing import Any

from penstock.errors import FeedTrimmed, InvalidCursor
from penstock.operations.feed_entry import FeedEntry
from penstock.schema.shape import EntityShape

STEP = 1000
"So many changes are forgotten at once: whoever writes meanwhile is not kept waiting for more."


def entry_of(
    shape: EntityShape,
    kind: str,
    images: tuple[Any, Any],
    *,
    cause: str,
    position: str,
    id: str,
    project: str | None,
) -> FeedEntry:
    """A change as the feed tells it, from the record as it was and as it is."""
    old, new = images
    present = (new if new is not None else old).__dict__
    key = {n: present[n] for n in shape.key.fields}
    return FeedEntry(shape, kind, key, old, new, cause, position, id, project)


def trimmed() -> FeedTrimmed:
    """What is told to whoever comes too late."""
    return FeedTrimmed(
        "changes behind this position of the feed are kept no longer; read anew what you follow, and go on without a "
        "position, which is with the oldest that is kept"
    )


def no_position() -> InvalidCursor:
    """What is told to whoever gives something else for a position."""
    return InvalidCursor("this is not a position of the feed; pass back the position of an entry")
