"""Batch size: how many records are written at once, so that nobody waits for long, however large they are."""

from __future__ import annotations

_LONGEST = 0.005
"So many seconds a batch may take: others may have to wait for it."
_FEWEST = 10


class BatchSize:
    """As many as possible that take a moment; it goes by how long the last ones took."""

    def __init__(self, most: int) -> None:
        self.number = self._most = most

    def took(self, seconds: float) -> None:
        """So long the last batch took."""
        if seconds > _LONGEST:
            self.number = min(max(self.number // 2, _FEWEST), self._most)
        elif seconds < _LONGEST / 4:
            self.number = min(self.number * 2, self._most)
