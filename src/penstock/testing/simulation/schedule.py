"""Schedules: who goes first, and what goes wrong, as the few places where a run differs from the plainest one.

In the plainest run an actor goes on until it has nothing to do, and nothing ever goes wrong. A schedule is a list of
decisions, each about one call of one actor; so it can be told, shortened, and repeated from a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from penstock.errors import InvalidValue


class Happening(Enum):
    """What may happen where an actor is about to make a call."""

    SWITCH = "s"
    CRASH = "c"
    LOST_ANSWER = "a"
    REFUSAL = "u"
    LAG = "l"
    STALL = "z"
    JUMP = "j"
    HELD_OPEN = "h"
    SECOND_PROCESS = "p"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    Happening.SWITCH: "another goes first",
    Happening.CRASH: "its process dies",
    Happening.LOST_ANSWER: "its answer is lost",
    Happening.REFUSAL: "the store cannot be reached",
    Happening.LAG: "the index lags behind",
    Happening.STALL: "its process stands still for long",
    Happening.JUMP: "its clock is set",
    Happening.HELD_OPEN: "its transaction stays open",
    Happening.SECOND_PROCESS: "a second process of it starts",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens where an actor is about to make its so-manieth call."""

    actor: int
    call: int
    happening: Happening
    number: int = 0
    "Who goes first, how many commits are not seen, how many pauses something lasts, by how many hours a clock is set."

    def __str__(self) -> str:
        sign = "m" if self.number < 0 else ""
        return f"{self.actor}.{self.call}{self.happening.value}{sign}{abs(self.number) or ''}"


_DECISION = re.compile(r"(\d+)\.(\d+)([a-z])(m?)(\d*)")
_PREFIX = "penstock-sim-1:"


@dataclass(frozen=True, slots=True)
class Schedule:
    """All that is decided of one run; ``seed`` makes the ids and chances in it."""

    seed: int = 0
    decisions: tuple[Decision, ...] = ()

    def __len__(self) -> int:
        return len(self.decisions)

    def having(self, decisions: Iterable[Decision]) -> Schedule:
        return replace(self, decisions=tuple(decisions))

    @property
    def token(self) -> str:
        """A short text, safe in a URL, from which `schedule_of` makes the schedule again."""
        return _PREFIX + "_".join([str(self.seed), *map(str, self.decisions)])


def schedule_of(token: str) -> Schedule:
    """The schedule of a token; InvalidValue for any other text."""
    seed, *parts = token.strip().removeprefix(_PREFIX).split("_")
    found = [_DECISION.fullmatch(part) for part in parts]
    if not token.strip().startswith(_PREFIX) or not seed.isdecimal() or None in found:
        raise InvalidValue(f"{token[:80]!r} is no token of a simulation; one begins with {_PREFIX}")
    try:
        return Schedule(int(seed), tuple(_decision(*match.groups()) for match in found if match is not None))
    except ValueError:
        raise InvalidValue(f"{token[:80]!r} is of another version; find the schedule anew") from None


def _decision(actor: str, call: str, letter: str, minus: str, number: str) -> Decision:
    value = int(number or 0)
    return Decision(int(actor), int(call), Happening(letter), -value if minus else value)
