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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from penstock.clock import by_the_slowest
from penstock.conditions import Compare, Condition, Missing
from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds
from penstock.errors import Conflict, InvalidValue, TooLarge
from penstock.ops import ANYTHING, Delete, Patch, Put, Range, Ref, Write
from penstock.records import prepare, prepare_updates
from penstock.system import BY_STATUS, SYSTEM
from penstock.updates import Add, Set, Update

if TYPE_CHECKING:
    from penstock.store import Store

EVERYBODY = "everybody"
"Whose counter it is where all are counted together."
_HELD = "held"
"The period of what is not counted by periods."
_DAY = timedelta(days=1)
_KEPT = timedelta(days=30)
"So long after its time a hold can still be settled."
_AT_ONCE = 100
"Holds whose time is over that one who is refused settles before it is told so."


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

    def period(self, now: datetime) -> tuple[str, datetime]:
        """The name of the period a moment is in, and when a counter of it may be forgotten."""
        if self.per is None:
            return _HELD, now + self.longest + _DAY
        start = int(now.timestamp() // self.per.total_seconds() * self.per.total_seconds())
        return str(start), now + self.per + _DAY

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


class QuotaExceeded(Conflict):
    """As much as is allowed is in use; nothing was written."""

    slug, http_status = "quota-exceeded", 429

    def __init__(self, share: Share, used: int, wait: timedelta, *, position: int = 0) -> None:
        self.quota, self.used, self.limit, self.amount = share.quota.name, used, share.limit or 0, share.amount
        self.retry_after = max(1, math.ceil(wait.total_seconds()))
        super().__init__(
            f"{used:,} of {self.limit:,} {share.quota.unit} are in use{_of(share)}, and {share.amount:,} more would be "
            f"too many; try again in {self.retry_after} seconds",
            position=position,
        )


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


def usage(store: Store, quota: Quota, whose: str = EVERYBODY) -> int:
    """How much of a quota somebody uses now."""
    period, _ = quota.period(store.clock.now())
    found = store.lookup(QuotaUse.at(quota=quota.name, whose=whose, period=period))
    return 0 if found is None else found.used


def check(store: Store, *shares: Share) -> None:
    """Refuse now what would be refused later; that it passes promises nothing."""
    full = _first_full(store, shares)
    if full is not None and settle_overdue(store):
        full = _first_full(store, shares)
    if full is not None:
        raise full


def settle_overdue(store: Store, *, most: int = _AT_ONCE) -> int:
    """Give back what is held by those whose time is over; how many there were."""
    over = int(by_the_slowest(store.clock).timestamp())
    settled = 0
    for hold in islice(store.find(QuotaHold.by_end(until=Range(high=over))), most):
        with store.change() as change:
            change.quotas.settle_overdue(hold.hold_id, at=over)
        settled += 1
    return settled


def prolong(store: Store, hold_id: str, *, until: datetime) -> bool:
    """Have a hold last longer; False when it was settled already, and what it had may be another's."""
    later = Set("until", _second(until)), Set("ttl", _second(until + _KEPT))
    try:
        store.patch(QuotaHold.at(hold_id=hold_id), *later)
    except Conflict:
        return False
    return True


def settle_many(store: Store, holds: Sequence[str]) -> None:
    """Give back what any number of holds have, in few commits."""
    size = 30  # each ends one hold, and counts on a few counters, most of them its own
    for start in range(0, len(holds), size):
        with store.change() as change:
            for hold in holds[start : start + size]:
                change.quotas.settle(hold)


# What a change does with quotas


@dataclass(frozen=True, slots=True)
class _Reserve:
    hold_id: str
    shares: tuple[Share, ...]
    until: datetime


@dataclass(frozen=True, slots=True)
class _Settle:
    hold_id: str
    spent: Mapping[str, int] | None
    "None: nobody knows, so that what was estimated stays counted."
    due_at: int | None = None
    "Only if its time was over then."

    def left(self, line: Mapping[str, Any]) -> int:
        """How much of what a hold has stays counted without it."""
        if line["period"] == _HELD:
            return 0
        return line["amount"] if self.spent is None else self.spent.get(line["quota"], 0)


_Place = tuple[str, str, str]


@dataclass(slots=True)
class _Balance:
    """What a change adds to one counter, all in all."""

    added: int = 0
    share: Share | None = None
    forgotten: datetime | None = None


@dataclass(slots=True)
class Movements:
    """What one change takes of quotas and gives back. Decided when it is committed, from what stands then."""

    store: Store
    moves: list[_Reserve | _Settle] = field(default_factory=list)
    _shares: dict[int, Share] = field(default_factory=dict)
    "By the write that takes them, as it was last sent."
    _sent: list[Write] = field(default_factory=list)
    _swept: bool = False

    def reserve(self, hold_id: str, *shares: Share, until: datetime) -> None:
        """Take shares with this change, to be settled under the hold's name; QuotaExceeded if there is not so much.

        After ``until`` they come back by themselves. BeyondQuota when one is more than its limit allows at all.
        """
        for share in shares:
            if share.amount < 0:
                raise InvalidValue(f"{share.quota.name}: {share.amount} is no amount; give 0 or more")
            if share.limit is not None and share.amount > share.limit:
                raise BeyondQuota(share)
            if share.quota.per is None and until - self.store.clock.now() > share.quota.longest + _DAY / 2:
                raise InvalidValue(f"{share.quota.name} is held {share.quota.longest} at most; end the hold earlier")
        self.moves.append(_Reserve(hold_id, shares, until))

    def settle(self, hold_id: str, *, spent: Mapping[str, int] | None = None) -> None:
        """End a hold: what was held is free again, and of what is spent the true amounts stay counted.

        A hold that was settled before has nothing to give back. A reservation in the same change may have the same
        name, and keeps some of it.
        """
        self.moves.append(_Settle(hold_id, spent or {}))

    def settle_overdue(self, hold_id: str, *, at: int) -> None:
        """End a hold whose time was over, unless it was settled or prolonged since."""
        self.moves.append(_Settle(hold_id, None, at))

    def writes(self) -> list[Write]:
        """The writes to commit, counters in one order for all, so that nobody waits for another in a circle."""
        balances: dict[_Place, _Balance] = {}
        holds: dict[str, Write] = {}
        for hold in self._ended():
            holds[hold.hold_id] = Delete(hold.ref.shape, hold.ref.key, Compare("until", "=", hold.until))
            for line in hold.amounts:
                place = line["quota"], line["whose"], line["period"]
                balances.setdefault(place, _Balance()).added -= line["amount"] - self._settled[hold.hold_id].left(line)
        for move in self.moves:
            if isinstance(move, _Reserve):
                amounts = self._take(move, balances)
                former = holds.get(move.hold_id)
                holds[move.hold_id] = _hold(move, amounts, Missing() if former is None else former.when)
        self._shares.clear()
        self._sent = [*self._counted(balances), *holds.values()]
        return self._sent

    def may_try_again(self, write: Write, refused: Conflict) -> bool:
        """Was it one of these writes that was refused, and will others do? QuotaExceeded if the quota is used up."""
        if not any(write is sent for sent in self._sent):
            return False
        if write.shape is QuotaHold.__shape__:
            # One that was settled or prolonged by another is looked at again; a name that is taken stays taken.
            return write.when != Missing()
        share, used = self._shares.get(id(write)), (refused.found or {}).get("used")
        if share is None or share.limit is None or used is None or used + share.amount <= share.limit:
            return True  # the counter has come or gone meanwhile
        if not self._swept:
            self._swept = True
            if settle_overdue(self.store):
                return True
        raise QuotaExceeded(share, used, share.quota.wait(self.store.clock.now()), position=refused.position)

    @property
    def _settled(self) -> dict[str, _Settle]:
        return {move.hold_id: move for move in self.moves if isinstance(move, _Settle)}

    def _ended(self) -> Iterator[QuotaHold]:
        """The holds that end here, as they stand."""
        settled = self._settled
        for hold in self.store.get_many([QuotaHold.at(hold_id=h) for h in settled]) if settled else ():
            due_at = None if hold is None else settled[hold.hold_id].due_at
            if hold is not None and (due_at is None or hold.until <= due_at):
                yield hold

    def _take(self, move: _Reserve, balances: dict[_Place, _Balance]) -> list[dict[str, Any]]:
        """What a hold has, which is added to the counters."""
        now = self.store.clock.now()
        amounts: list[dict[str, Any]] = []
        for share in move.shares:
            name, whose = share.quota.name, share.whose
            period, forgotten = share.quota.period(now)
            balance = balances.setdefault((name, whose, period), _Balance())
            balance.added += share.amount
            balance.share, balance.forgotten = share, forgotten
            amounts.append({"quota": name, "whose": whose, "period": period, "amount": share.amount})
        return amounts

    def _counted(self, balances: Mapping[_Place, _Balance]) -> Iterator[Write]:
        """The writes that move the counters from where they stand."""
        moved = sorted((place for place, balance in balances.items() if balance.added))
        refs = [QuotaUse.at(quota=quota, whose=whose, period=period) for quota, whose, period in moved]
        found = self.store.get_many(refs) if refs else ()
        for place, ref, use in zip(moved, refs, found, strict=True):
            write = _count(ref, balances[place], use)
            if write is not None:
                if (share := balances[place].share) is not None:
                    self._shares[id(write)] = replace(share, amount=balances[place].added)
                yield write


def _count(ref: Ref[QuotaUse], balance: _Balance, use: QuotaUse | None) -> Write | None:
    """The write that moves one counter; None where there is nothing to take away from."""
    added, share, shape = balance.added, balance.share, ref.shape
    when: Condition | None = None
    if share is not None and share.limit is not None and added > 0:
        if added > share.limit:
            raise BeyondQuota(replace(share, amount=added))
        when = Compare("used", "<=", share.limit - added)
    if use is None and added < 0:
        return None
    if use is None:
        assert balance.forgotten is not None
        first = QuotaUse(**ref.key, used=added, ttl=_second(balance.forgotten))
        return Put(shape, prepare(shape, first.__dict__), Missing())
    updates: list[Update] = [Add("used", added)]
    if added < 0:
        when = Compare("used", ">=", -added)
        if use.used + added < 0:  # it was forgotten for a while; it is not owed anything for that
            updates, when = [Set("used", 0)], Compare("used", "=", use.used)
    if balance.forgotten is not None:
        updates.append(Set("ttl", _second(balance.forgotten)))
    return Patch(shape, ref.key, prepare_updates(shape, updates), when)


def _hold(move: _Reserve, amounts: list[dict[str, Any]], when: Condition | None) -> Put:
    until = _second(move.until)
    ttl = until + int(_KEPT.total_seconds())
    hold = QuotaHold(hold_id=move.hold_id, amounts=amounts, until=until, ttl=ttl)
    return Put(hold.__shape__, prepare(hold.__shape__, hold.__dict__), when)


def _first_full(store: Store, shares: Sequence[Share]) -> QuotaExceeded | None:
    now = store.clock.now()
    refs = [QuotaUse.at(quota=s.quota.name, whose=s.whose, period=s.quota.period(now)[0]) for s in shares]
    for share, use in zip(shares, store.get_many(refs), strict=True):
        if share.limit is not None and share.amount > share.limit:
            raise BeyondQuota(share)
        if use is not None and share.limit is not None and use.used + share.amount > share.limit:
            return QuotaExceeded(share, use.used, share.quota.wait(now))
    return None


def _second(moment: datetime) -> int:
    return math.ceil(moment.timestamp())


def _of(share: Share) -> str:
    return f" {share.told}" if share.told else ""
