"""How an animal on four legs is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Beast:
    """How an animal is built; lengths are in parts of a body that is 60 long."""

    words: str
    inks: Mapping[str, str] = field(default_factory=dict)
    long: float = 60.0
    deep: float = 26.0
    leg: float = 26.0
    thick: float = 9.0
    neck: tuple[float, float] = (6.0, -14.0)
    "From the shoulder to the head."
    head: float = 15.0
    snout: tuple[float, float] = (11.0, 8.0)
    "Length and height."
    ears: str = "pointed"
    tail: str = "bushy"
    feet: str = "paw"
    more: tuple[str, ...] = ()
