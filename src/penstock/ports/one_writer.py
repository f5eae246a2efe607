"""One writer: in some stores whoever writes has all others wait, so that one who writes much must leave them time."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class OneWriter(Protocol):
    """An engine that knows whether others write to its store."""

    def others_wrote(self) -> bool:
        """Has anybody else written since this thread asked last, who had to wait if this one was just writing?"""
        ...
