"""What one change takes of quotas and gives back: decided when it is committed, from what stands then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from penstock.errors import Conflict, InvalidValue
from penstock.kernel.handle import StoreHandle
from penstock.kernel.lease import end_second
from penstock.kernel.participants import commit
from penstock.kernel.quota import (
    HELD,
    KEPT,
    SPARE,
    BeyondQuota,
    QuotaExceeded,
    QuotaHold,
    QuotaUse,
    Share,
)
from penstock.operations.conditions import Compare, Condition, Missing
from penstock.operations.reads import Range, Ref
from penstock.operations.updates import Add, Set, Update
from penstock.operations.validation import prepare, prepare_updates
from penstock.operations.writes import Delete, Patch, Put, Write
from penstock.ports.clock import by_the_slowest


@dataclass(frozen=True, slots=True)
class _Reserve:
    hold_id: str | None
    "None: it is spent already."
    shares: tuple[Share, ...]
    until: datetime


@dataclass(frozen=True, slots=True)
class _Settle:
    hold_id: str
    spent: Mapping[str, int] | None
    "None: as much as was reserved."
    due_at: int | None = None
    "Only if its time was over then."

    def left(self, line: Mapping[str, Any]) -> int:
        """How much of what a hold has stays counted without it."""
        if line["period"] == HELD:
            return 0
        return line["amount"] if self.spent is None else self.spent.get(line["quota"], 0)


_Place = tuple[str, str, str]
_AT_ONCE = 100
"Holds whose time is over that one who is refused settles before it is told so."


@dataclass(slots=True)
class _Balance:
    """What a change adds to one counter, all in all."""

    added: int = 0
    share: Share | None = None
    forgotten: datetime | None = None


@dataclass(slots=True)
class Movements:
    """What one change takes of quotas and gives back. Decided when it is committed, from what stands then."""

    store: StoreHandle
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
            share.check()
            if share.quota.per is None and until - self.store.clock.now() > share.quota.longest + SPARE / 2:
                raise InvalidValue(f"{share.quota.name} is held {share.quota.longest} at most; end the hold earlier")
        self.moves.append(_Reserve(hold_id, shares, until))

    def spend(self, *shares: Share) -> None:
        """Count what is spent already, and needs no hold, as it will not come back before its period is over."""
        for share in shares:
            share.check()
            if share.quota.per is None:
                raise InvalidValue(f"{share.quota.name} is held, and not spent; reserve it, to give it back")
        self.moves.append(_Reserve(None, shares, self.store.clock.now()))

    def settle(self, hold_id: str, *, spent: Mapping[str, int] | None = None) -> None:
        """End a hold: what was held is free again, and of what is spent the true amounts stay counted.

        Without ``spent`` those are what was reserved; of a quota that it leaves out nothing was spent.

        A hold that was settled before has nothing to give back. A reservation in the same change may have the same
        name, and keeps some of it.
        """
        self.moves.append(_Settle(hold_id, spent))

    def settle_overdue(self, hold_id: str, *, at: int) -> None:
        """End a hold whose time was over, unless it was settled or prolonged since."""
        self.moves.append(_Settle(hold_id, None, at))

    # As a participant

    def join(self, store: StoreHandle, writes: list[Write]) -> list[Write]:
        return [*writes, *self._decided()] if self.moves else writes

    def _decided(self) -> list[Write]:
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
                if move.hold_id is not None:
                    former = holds.get(move.hold_id)
                    when = Missing() if former is None else former.when
                    holds[move.hold_id] = _hold(move, move.hold_id, amounts, when)
        self._shares.clear()
        self._sent = [*self._counted(balances), *holds.values()]
        return self._sent

    def was_refused(self, write: Write, refused: Conflict) -> bool:
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
    if use is None:
        if balance.forgotten is None or added < 0:
            return None
        project = None if share is None else share.project
        first = QuotaUse(**ref.key, used=added, project_id=project, ttl=end_second(balance.forgotten))
        return Put(shape, prepare(shape, first.__dict__), Missing())
    updates: list[Update] = [Add("used", added)]
    if added < 0:
        when = Compare("used", ">=", -added)
        if use.used + added < 0:  # it was forgotten for a while; it is not owed anything for that
            updates, when = [Set("used", 0)], Compare("used", "=", use.used)
    if balance.forgotten is not None:
        updates.append(Set("ttl", end_second(balance.forgotten)))
    return Patch(shape, ref.key, prepare_updates(shape, updates), when)


def _hold(move: _Reserve, hold_id: str, amounts: list[dict[str, Any]], when: Condition | None) -> Put:
    projects = {share.project for share in move.shares}
    hold = QuotaHold(
        hold_id=hold_id,
        amounts=amounts,
        until=end_second(move.until),
        project_id=projects.pop() if len(projects) == 1 else None,
        ttl=end_second(move.until + KEPT),
    )
    return Put(hold.__shape__, prepare(hold.__shape__, hold.__dict__), when)


def check(store: StoreHandle, *shares: Share) -> None:
    """Refuse now what would be refused later; that it passes promises nothing."""
    full = _first_full(store, shares)
    if full is not None and settle_overdue(store):
        full = _first_full(store, shares)
    if full is not None:
        raise full


def settle_overdue(store: StoreHandle, *, most: int = _AT_ONCE) -> int:
    """Give back what is held by those whose time is over; how many there were."""
    over = int(by_the_slowest(store.clock).timestamp())
    settled = 0
    for hold in islice(store.find(QuotaHold.by_end(until=Range(high=over))), most):
        ended = Movements(store)
        ended.settle_overdue(hold.hold_id, at=over)
        commit(store, [], [ended])
        settled += 1
    return settled


def settle_many(store: StoreHandle, holds: Sequence[str]) -> None:
    """Give back what any number of holds have, in few commits."""
    size = 30  # each ends one hold, and counts on a few counters, most of them its own
    for start in range(0, len(holds), size):
        ended = Movements(store)
        for hold in holds[start : start + size]:
            ended.settle(hold)
        commit(store, [], [ended])


def _first_full(store: StoreHandle, shares: Sequence[Share]) -> QuotaExceeded | None:
    now = store.clock.now()
    refs = [QuotaUse.at(quota=s.quota.name, whose=s.whose, period=s.quota.period(now)[0]) for s in shares]
    for share, use in zip(shares, store.get_many(refs), strict=True):
        share.check()
        if use is not None and share.limit is not None and use.used + share.amount > share.limit:
            return QuotaExceeded(share, use.used, share.quota.wait(now))
    return None
