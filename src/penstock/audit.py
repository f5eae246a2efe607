"""The audit trail: one line a change, only ever added, each with a hash of what it says.

The hash is of values, not of bytes, so it is the same whichever engine a line is read from: names are sorted, because
PostgreSQL's jsonb forgets their order, and a number has one form, because engines disagree on 1.0, 1e19 and 2.0**60.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from pydantic import Field, field_validator

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.declare.units import UtcMicros
from penstock.errors import InvalidValue
from penstock.kinds import INTEGER_LIMIT, instant_text
from penstock.ops import ANYTHING, Range
from penstock.system import SYSTEM

EVERYWHERE = "-"
"The project of what belongs to none."


class AuditLine(Entity):
    """Who did what, when and why. Lines are only added."""

    project_id: str
    ts: UtcMicros
    actor: str
    action: str
    details: dict[str, Any] = Field(default_factory=dict)
    hash: str | None = None

    @field_validator("details")
    @classmethod
    def _settle(cls, details: dict[str, Any]) -> dict[str, Any]:
        # PostgreSQL gives 2.0**60 back as the integer 1152921504606847000, which is another number; as an integer it
        # is exact everywhere.
        settled: dict[str, Any] = _with_numbers(details, _whole)
        return settled

    def sealed(self) -> str:
        """The hash of everything the line says."""
        details = _with_numbers(self.details, _canonical)
        said = [self.project_id, instant_text(self.ts, 6), self.actor, self.action, details]
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), default=_refuse)
        return hashlib.sha256(text.encode()).hexdigest()


class SystemAudit(AuditLine, table=SYSTEM, relation="audit"):
    """The kernel's own, for domains that do not document theirs."""

    @key("PROJECT#{project_id}", "AUDIT#{ts}#{actor}")
    def at(self, *, project_id: str, ts: datetime, actor: str) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str, ts: Range[datetime] = ANYTHING) -> None:
        """What happened in a project, in order."""


def _with_numbers(value: Any, change: Callable[[int | float], int | float]) -> Any:
    """A document with each of its numbers changed."""
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return change(value)
    if isinstance(value, dict):
        return {name: _with_numbers(v, change) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [_with_numbers(v, change) for v in value]
    return value


def _whole(value: int | float) -> int | float:
    """A whole float within 64 bits as an integer; every other number as it is."""
    fits = isinstance(value, float) and value.is_integer() and abs(value) < INTEGER_LIMIT
    return int(value) if fits else value


def _canonical(value: int | float) -> int | float:
    """The one form of a number. Beyond 64 bits only floats are stored, but PostgreSQL gives them back as integers."""
    if isinstance(value, int) and not -INTEGER_LIMIT <= value < INTEGER_LIMIT:
        try:
            return float(value)
        except OverflowError:
            return math.inf  # which no line was ever written with, so it is found out
    return _whole(value)


def _refuse(value: Any) -> Any:
    raise InvalidValue(f"an audit line cannot hold a {type(value).__name__}; use text, numbers, lists and maps")
