"""Claims of unique values, made for records that stand: each claims its values, and two that have the same are named.

A claim whose owner is gone or has another value is nobody's, as it is to every writer, and is taken over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.errors import DamagedRecord, InvalidValue, NotUnique
from penstock.kernel.layouts.derived_entity import DerivedEntity
from penstock.kernel.uniqueness import ClaimMoves, Holding, UniqueValue, holdings, owner_of
from penstock.operations.reads import Ref
from penstock.operations.writes import Write
from penstock.ports.clock import Clock
from penstock.ports.engine import Engine
from penstock.schema.shape import EntityShape

Claims = Mapping[str, Any]
"What stands of some claims, by their names."


class ClaimFill:
    """Makes the claims of one entity's records."""

    def __init__(self, engine: Engine, entity: DerivedEntity, clock: Clock) -> None:
        self._engine, self._entity, self._clock = engine, entity, clock
        self._shape: EntityShape = entity.declared

    @property
    def fields(self) -> frozenset[str]:
        """The stored fields that claims are made of, beside those of the key."""
        rules = self._entity.derived.beginning
        names = set(self._shape.claimed_by)
        names |= {n for name in names & rules.keys() for n in rules[name].of}
        return frozenset(names & self._entity.shape.fields.keys()) - set(self._entity.shape.key.fields)

    def known(self, records: Iterable[Any]) -> Claims:
        """What stands of the claims that records should have; asked for together."""
        names = sorted({claim for record in records for claim in self._quietly_held(record)})
        found = self._engine.get([UniqueValue.at(claim=name) for name in names], now=self._clock.now()) if names else []
        return {claim.claim: claim for claim in found if claim is not None}

    def writes(self, record: Any, known: Claims) -> list[Write]:
        """The writes of claims that a record has not made; NotUnique where another record has the value."""
        wanted = {name: h for name, h in self._held(record).items() if not _is_own(known.get(name), h)}
        stale = {name: known[name].turn for name in wanted if name in known}
        for name in stale:
            self._check_nobodys(wanted[name], known[name])
        moves = ClaimMoves()
        moves.move(self._shape, 0, before={}, after=wanted, anew=True)
        return [write for write, _ in moves.writes(stale, ())]

    def _held(self, record: Any) -> dict[str, Holding]:
        """What a record has, unless it has ended."""
        values = self._entity.values(record.__dict__)
        ends = values.get(self._shape.expiry) if self._shape.expiry else None
        if ends is not None and ends <= self._clock.now().timestamp():
            return {}
        return holdings(self._shape, values, None)

    def _quietly_held(self, record: Any) -> Sequence[str]:
        try:
            return list(self._held(record))
        except (DamagedRecord, InvalidValue):  # which is told when it is its turn
            return ()

    def _check_nobodys(self, holding: Holding, claim: Any) -> None:
        """NotUnique, with both keys, where the record that a claim names has the value."""
        try:
            owner = owner_of(self._shape, claim.__dict__)
            (found,) = self._engine.get([Ref(self._entity.shape, owner.key)], now=self._clock.now())
            if found is None or claim.claim not in self._held(found):
                return
        except ValueError:
            return  # no record of this entity can have such a key
        except DamagedRecord:
            pass  # who can tell
        within = self._shape.fields[holding.field].unique_within
        among = f" with the same {' and '.join(within)}" if within else ""
        what = f"{self._shape.label}.{holding.field}"
        raise NotUnique(f"{what} must be unique, and {owner!r}{among} has the same value; change one of them")


def _is_own(claim: Any, holding: Holding) -> bool:
    return claim is not None and claim.owner == holding.owner
