"""Lifetimes: how long a record is kept, and what happens at its end. Nothing is removed except by one of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from penstock.operations.reads import Ref


@dataclass(frozen=True, slots=True)
class Expires:
    """The record ends at the epoch second its field holds; from then on it is invisible, however late the reaper."""

    at: str


@dataclass(frozen=True, slots=True)
class RetainFor:
    """The record is kept this long after the moment in ``since``, then archived, verified and only then removed.

    In a state that is not in ``when`` it stays beyond that, and is reported. ``along`` names the records that mean
    nothing without it, each of one record only: they are archived and removed together with it.
    """

    period: timedelta
    since: str
    when: tuple[Enum, ...] | None = None
    along: Callable[[Any], Iterable[Ref[Any]]] | None = None


@dataclass(frozen=True, slots=True)
class KeepLatest:
    """The newest ``count`` records that share the fields of ``per`` are kept; older ones are archived and removed."""

    count: int
    per: tuple[str, ...]


Lifetime = Expires | RetainFor | KeepLatest
