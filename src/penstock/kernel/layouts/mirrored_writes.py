"""Mirrored writes: while records move to another key or table, whatever is written at one place is written at both.

The first place judges; the mirror follows in the same commit. A record whose mirror does not stand yet is patched on
the condition that it still does not: whoever migrates brings it along then, as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from penstock.operations.conditions import Missing
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.schema.shape import EntityShape

MirrorOf = Callable[[EntityShape], EntityShape | None]
"The other place of a shape's records, while there is one."


class MirroredWrites:
    """The writes of one commit, and those of their mirrors behind them."""

    def __init__(self, writes: Sequence[Write], mirror_of: MirrorOf, absent: set[int]) -> None:
        """``absent`` are the positions of patches whose mirrors were found not to stand."""
        self._own = len(writes)
        self._absent = absent
        self._positions: list[int] = []
        "Whose mirror each further write is of."
        self.writes = list(writes)
        for position, write in enumerate(writes):
            mirror = mirror_of(write.shape)
            if mirror is not None and not isinstance(write, Check):
                self._positions.append(position)
                self.writes.append(_mirrored(write, mirror, is_absent=position in absent))

    def is_mirror(self, refused: int) -> bool:
        """Was it a mirror that a commit was refused for? Then it stands, or does not, as nobody expected."""
        if refused < self._own:
            return False
        self._absent ^= {self._positions[refused - self._own]}
        return True


def _mirrored(write: Put | Patch | Delete, mirror: EntityShape, *, is_absent: bool) -> Write:
    match write:
        case Put():
            return Put(mirror, write.values)
        case Patch() if is_absent:
            return Check(mirror, write.key, Missing())
        case Patch():
            return replace(write, shape=mirror, when=None)
        case Delete():
            return Delete(mirror, write.key)
