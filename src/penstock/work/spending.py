"""Spending: what each project has used of the store in a month, and what that costs.

A metered process counts in memory and adds what it has counted every so often: one write for each project that used
something. Several processes add to the same record, each on the condition that nobody else has just done so.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from penstock.cost.heavy_keys import HeavyKeys
from penstock.cost.meter import ProjectUsage, Usage
from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds
from penstock.operations.reads import ANYTHING, Range
from penstock.schema.role import Role
from penstock.schema.shape import Rights
from penstock.work.task import BY_STATUS, WORK

KEPT = timedelta(days=400)
"How long a month is remembered: until it can be set beside the same month of the next year."
KEYS = 20
"So many of the keys that took the most are remembered."
COUNTED = ("requests", "records", "bytes", "read_units", "write_units", "measured_read_units", "measured_write_units")
"What is remembered of each label, in this order."
_CENTS = Decimal("1e-12")


class Told(StrEnum):
    """What was said of a month's spending, once."""

    NOTHING = "nothing"
    WARNED = "warned"
    SPENT = "spent"


class ProjectSpending(Entity, table=WORK, relation="project_spendings", lifetimes=(Expires("ttl"),)):
    """What a project has used of the store in a month."""

    __moved_by_work__ = True
    __traced__ = False
    __seen_by__ = Role.ADMIN
    __rights__ = Rights(add=False, change=False, remove=False)

    project_id: str
    month: str
    "Such as 2026-05, in UTC."
    spent: Decimal
    "US dollars, at the prices of when it was counted."
    labels: dict[str, list[float]]
    "By pattern, or entity and verb: the numbers that `COUNTED` names."
    keys: dict[str, float]
    "Units of the partition keys that took the most."
    told: Told = Told.NOTHING
    added: Count
    "How often something was added."
    ttl: EpochSeconds

    @key("SPENDING#{project_id}", "{month}")
    def at(self, *, project_id: str, month: str) -> None: ...

    in_month = IndexKey(BY_STATUS, "SPENDING#{month}", "{project_id}")

    @pattern(in_month)
    def of_month(self, *, month: str, project_id: Range[str] = ANYTHING) -> None:
        """What projects have used in a month."""

    def usage(self) -> dict[str, Usage]:
        """What was used, by label."""
        return {
            label: Usage(**dict(zip(COUNTED, _numbers(numbers), strict=True)))  # type: ignore[arg-type]
            for label, numbers in self.labels.items()
        }


def month_of(moment: datetime) -> str:
    """The month a moment is in."""
    return f"{moment:%Y-%m}"


def added_to(
    former: ProjectSpending | None, project: str, used: ProjectUsage, cost: Decimal, now: datetime
) -> ProjectSpending:
    """A month's spending with some more usage, which costs so much."""
    labels = dict(former.labels) if former is not None else {}
    for label, usage in used.labels.items():
        more = [float(getattr(usage, name)) for name in COUNTED]
        labels[label] = [a + b for a, b in zip(labels.get(label) or [0.0] * len(COUNTED), more, strict=True)]
    return ProjectSpending(
        project_id=project,
        month=month_of(now),
        spent=((former.spent if former is not None else Decimal(0)) + cost).quantize(_CENTS),
        labels=labels,
        keys=_heaviest(former.keys if former is not None else {}, used.keys),
        told=former.told if former is not None else Told.NOTHING,
        added=(former.added if former is not None else 0) + 1,
        ttl=int((now + KEPT).timestamp()),
    )


def _heaviest(known: Mapping[str, float], more: HeavyKeys) -> dict[str, float]:
    together = HeavyKeys()
    for name, units in (*known.items(), *more):
        together.add(name, units)
    return dict(list(together)[:KEYS])


def _numbers(numbers: list[float]) -> list[float | int]:
    return [int(n) if place < 3 else n for place, n in enumerate(numbers)]
