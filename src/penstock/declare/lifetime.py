"""Lifetimes: how long a record is kept, and what happens at its end. Nothing is removed except by one of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from penstock.operations.reads import Query, Ref


@dataclass(frozen=True, slots=True)
class Expires:
    """The record ends at the epoch second its field holds; from then on it is invisible, however late the reaper."""

    at: str

    def __str__(self) -> str:
        return f"expires at {self.at}"


Along = Callable[[Any], Iterable[Ref[Any] | Query[Any]]]
"Given a record, those that leave with it: each by its key, or all that a query finds."
Leaving = Callable[[Any, Any, str], None]
"Given the change that removes a record, the record, and the name of the bundle in which it is archived."


@dataclass(frozen=True, slots=True)
class RetainFor:
    """The record is kept this long after the moment in ``since``, then archived, verified and only then removed.

    In a state that is not in ``when`` it stays beyond that, and is reported. ``along`` names the records that mean
    nothing without it, each of one record only: they are archived and removed together with it. With ``files`` the
    files at which they point, and no other record does, go to the archive with them. ``on_leave`` adds to the commit
    that removes the record.
    """

    period: timedelta
    since: str
    when: tuple[Enum, ...] | None = None
    along: Along | None = None
    files: bool = False
    on_leave: Leaving | None = None

    def __str__(self) -> str:
        states = "" if self.when is None else f" while {' or '.join(sorted(str(s.value) for s in self.when))}"
        return f"kept for {self.period} since {self.since}{states}"


@dataclass(frozen=True, slots=True)
class KeepLatest:
    """The newest ``count`` records that share the fields of ``per`` are kept; older ones are archived and removed.

    Another record may say how many: the one that ``said_by`` names, given one of them, in its field ``said_in``; where
    it does not, ``count`` holds. A record stays until the moment in its field ``spared_until``, if it has one, however
    many are newer. ``files`` and ``on_leave`` are those of `RetainFor`.
    """

    count: int
    per: tuple[str, ...]
    said_by: Callable[[Any], Ref[Any]] | None = None
    said_in: str | None = None
    spared_until: str | None = None
    files: bool = False
    on_leave: Leaving | None = None

    def __str__(self) -> str:
        return f"the latest {self.count} of each {' and '.join(self.per)}"


Lifetime = Expires | RetainFor | KeepLatest
