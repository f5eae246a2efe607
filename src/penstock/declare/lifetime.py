"""Lifetimes: how long a record is kept, and what happens at its end. Nothing is removed except by one of these."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Expires:
    """The record ends at the epoch second its field holds; from then on it is invisible, however late the reaper."""

    at: str


@dataclass(frozen=True, slots=True)
class RetainFor:
    """The record is kept this long after the moment in ``since``, then archived, verified and only then removed."""

    period: timedelta
    since: str


@dataclass(frozen=True, slots=True)
class KeepLatest:
    """The newest ``count`` records that share the fields of ``per`` are kept; older ones are archived and removed."""

    count: int
    per: tuple[str, ...]


Lifetime = Expires | RetainFor | KeepLatest
