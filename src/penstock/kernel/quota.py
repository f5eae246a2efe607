"""Quotas: how much of something may be in use, counted in the very commits that begin and end the using.

    with store.change() as change:
        change.quotas.reserve(hold, Share(JOBS, "p1", 1, limit=3), until=end)
        change.create(job)
    ...
    with work.finish() as change:
        change.quotas.settle(hold, spent={"compute.seconds": 93})

A counter is one record for each quota and whoever it is counted for. Taking from it is an addition on the condition
that the sum stays within the limit, so that no race passes it, on any engine. What was taken is written down in a
hold, which ends in the commit that tells how it went. A hold whose time is over, because whoever had it is gone, is
settled by the next one who would be refused because of it, and by every sweep.

A quota counts what is held now (jobs that run, bytes that are kept), or what is spent in a period (seconds an hour).
What is spent stays counted until its period is over, and a hold on it is only an estimate.

Whoever counts by somebody's address gives a mark of it (`Store.mark`): counters and holds say nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds
from penstock.errors import Conflict, InvalidValue, TooLarge
from penstock.kernel.handle import StoreHandle
from penstock.kernel.lease import end_second
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.operations.reads import ANYTHING, Range
from penstock.operations.updates import Set

EVERYBODY = "everybody"
"Whose counter it is where all are counted together."
HELD = "held"
"The period of what is not counted by periods."
SPARE = timedelta(days=1)
"So much longer than anything can be held on it a counter is remembered."
KEPT = timedelta(days=30)
"So long after its time a hold can still be settled."


@dataclass(frozen=True, slots=True)
class Quota:
    """A kind of thing of which there is only so much."""

    name: str
    unit: str
    "What is counted, in the plural: it ends the sentence that a refusal is."
    per: timedelta | None = None
    "The period in which it is spent, from 1970 on; None: what is held counts, until it is given back."
    longest: timedelta = timedelta(days=7)
    "How long a hold on it may last. A counter is forgotten a day after that, if nobody has used it meanwhile."
    retry: timedelta = timedelta(minutes=1)
    "When some of what is held will have come back, as far as one can say."
    helps: str | None = None
    "What frees some of it, in words for whoever is refused; None: waiting, or ending something of one's own."

    def period(self, now: datetime) -> tuple[str, datetime]:
        """The name of the period a moment is in, and when a counter of it may be forgotten."""
        if self.per is None:
            return HELD, now + self.longest + SPARE
        start = int(now.timestamp() // self.per.total_seconds() * self.per.total_seconds())
        return str(start), now + self.per + SPARE

    def wait(self, now: datetime) -> timedelta:
        """How long until it is worth asking again."""
        if self.per is None:
            return self.retry
        return self.per - timedelta(seconds=now.timestamp() % self.per.total_seconds())


@dataclass(frozen=True, slots=True)
class Share:
    """So much of a quota, for somebody who may have so much of it in all."""

    quota: Quota
    whose: str
    amount: int
    limit: int | None = None
    "None: it is counted, and never refused."
    told: str = ""
    "Whose it is, in words for whoever is refused: the name may be a mark."
    discreet: bool = False
    "Is whoever is refused told no figures? What others use is not theirs to know."
    project: str | None = None
    "The project that it is counted for, so that a store bound to it finds what others have counted for it."

    def check(self) -> None:
        """BeyondQuota when it is more than its limit allows at all."""
        if self.amount < 0:
            raise InvalidValue(f"{self.quota.name}: {self.amount} is no amount; give 0 or more")
        if self.limit is not None and self.amount > self.limit:
            raise BeyondQuota(self)


class QuotaExceeded(Conflict):
    """As much as is allowed is in use; nothing was written."""

    slug, http_status = "quota-exceeded", 429

    def __init__(self, share: Share, used: int, wait: timedelta, *, position: int = 0) -> None:
        self.quota, self.used, self.limit, self.amount = share.quota.name, used, share.limit or 0, share.amount
        self.retry_after = max(1, math.ceil(wait.total_seconds()))
        self.hint = share.quota.helps
        figures = (
            f"{used:,} of {self.limit:,} {share.quota.unit} are in use{_of(share)}, and {share.amount:,} more would be"
        )
        said = f"too many {share.quota.unit} are in use{_of(share)}" if share.discreet else f"{figures} too many"
        super().__init__(f"{said}; try again in {self.retry_after} seconds", position=position)


class BeyondQuota(TooLarge):
    """It is more than is allowed at all, whatever is in use."""

    slug = "beyond-quota"

    def __init__(self, share: Share) -> None:
        super().__init__(
            f"it takes up to {share.amount:,} {share.quota.unit}, and at most {share.limit:,} are allowed{_of(share)}"
        )


class QuotaUse(Entity, table=SYSTEM, relation="quota_uses", lifetimes=(Expires("ttl"),)):
    """How much of a quota somebody uses."""

    quota: str
    whose: str
    period: str
    used: Count
    project_id: str | None = None
    "Whose counter it is. A store bound to a project fills it in, and sees no other's."
    ttl: EpochSeconds

    @key("QUOTA#{quota}#{whose}", "{period}")
    def at(self, *, quota: str, whose: str, period: str) -> None: ...


class QuotaHold(Entity, table=SYSTEM, relation="quota_holds", lifetimes=(Expires("ttl"),)):
    """What was taken of some quotas, to be settled when it ends or when its time is over."""

    hold_id: str
    amounts: list[dict[str, Any]]
    until: EpochSeconds
    project_id: str | None = None
    ttl: EpochSeconds

    @key("QUOTA_HOLD#{hold_id}", "HOLD")
    def at(self, *, hold_id: str) -> None: ...

    ending = IndexKey(BY_STATUS, "QUOTA_HOLDS", "{until:012d}")

    @pattern(ending)
    def by_end(self, *, until: Range[int] = ANYTHING) -> None:
        """Holds by when their time is over."""


def usage(store: StoreHandle, quota: Quota, whose: str = EVERYBODY) -> int:
    """How much of a quota somebody uses now."""
    period, _ = quota.period(store.clock.now())
    found = store.lookup(QuotaUse.at(quota=quota.name, whose=whose, period=period))
    return 0 if found is None else found.used


def prolong(store: StoreHandle, hold_id: str, *, until: datetime) -> bool:
    """Have a hold last longer; False when it was settled already, and what it had may be another's.

    Not longer, all in all, than its quotas say: after that their counters may be forgotten.
    """
    later = Set("until", end_second(until)), Set("ttl", end_second(until + KEPT))
    try:
        store.patch(QuotaHold.at(hold_id=hold_id), *later)
    except Conflict:
        return False
    return True


def _of(share: Share) -> str:
    return f" {share.told}" if share.told else ""
