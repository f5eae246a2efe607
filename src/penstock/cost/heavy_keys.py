"""The keys that take the most, found without remembering all of them."""

from __future__ import annotations

from collections.abc import Iterator

REMEMBERED = 50
LONGEST = 120
"Characters of a key that are remembered."


class HeavyKeys:
    """Units by key, of the keys that took the most. Whoever takes much again and again is surely among them.

    When there is no room for a key, it takes the place of the lightest and its units with it, so that what is told of
    a key is never too little (it is the algorithm called Space-Saving).
    """

    __slots__ = ("_most", "_units")

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._units: dict[str, float] = {}

    def add(self, key: str, units: float) -> None:
        """Count units of a key."""
        key = key[:LONGEST]
        known = self._units.get(key)
        if known is None and len(self._units) >= self._most:
            lightest = min(self._units, key=self._units.__getitem__)
            known = self._units.pop(lightest)
        self._units[key] = (known or 0.0) + units

    def __iter__(self) -> Iterator[tuple[str, float]]:
        """Each key with its units, the heaviest first."""
        return iter(sorted(self._units.items(), key=lambda each: -each[1]))
