"""How a run went: what was done, step by step, and what was wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.testing.simulation.engine import Touched
from penstock.testing.simulation.process import Call
from penstock.testing.simulation.schedule import Schedule


class Step(NamedTuple):
    """What was done, for the story."""

    time: float
    who: str
    what: Call | None
    happening: str
    touched: tuple[Touched, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """What was wrong."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}" if self.why else self.what


@dataclass
class Outcome:
    """How a run went."""

    schedule: Schedule
    "What was decided in it."
    steps: list[Step] = field(default_factory=list)
    broken: Broken | None = None
    abandoned: bool = False
