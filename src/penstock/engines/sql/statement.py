"""A statement: a text with its parameters, and what the engine must know to run it among others."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

FAR = 2**31 - 1
"The most rows that a statement may be limited to."
UNLESS_THERE = " on conflict do nothing"
"How an insert ends that touches no row where one stands at its key."


class Statement(Struct, frozen=True):
    """A text with its parameters, and whether touching no row means refusal."""

    text: str
    parameters: tuple[Any, ...]
    must_touch: bool = False
    stands: Statement | None = None
    "Touching no row is a refusal only if this finds a live record; None: in any case."
    rows: int | None = None
    "How many rows it must touch, where that is not one."
    pivot: str | None = None
    "The piece of the text where it can be made to work on many rows; None: it cannot."
    place: tuple[str, tuple[Any, ...]] | None = None
    "The relation and the key of the record that others may write too; None: nobody else can."
    locks: str | None = None
    "What locks that record; None: it cannot be locked by whoever writes it."
