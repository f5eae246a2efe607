"""What the logs of both dialects tell of changes that they keep no longer."""

from __future__ import annotations

from penstock.errors import FeedTrimmed, InvalidCursor

STEP = 1000
"So many changes are forgotten at once: whoever writes meanwhile is not kept waiting for more."


def trimmed() -> FeedTrimmed:
    """What is told to whoever comes too late."""
    return FeedTrimmed(
        "changes behind this position of the feed are kept no longer; read anew what you follow, and go on without a "
        "position, which is with the oldest that is kept"
    )


def no_position() -> InvalidCursor:
    """What is told to whoever gives something else for a position."""
    return InvalidCursor("this is not a position of the feed; pass back the position of an entry")
