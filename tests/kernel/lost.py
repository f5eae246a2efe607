"""Entities whose records retention could not find."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from penstock import Domain, Entity, IndexKey, KeepLatest, RetainFor, Table, UtcSeconds, key

TABLE = Table("penstock_test_lost", partition="PK", sort="SK")
INDEX = TABLE.index("GSI1", partition="GSI1PK", sort="GSI1SK")


class Sort(StrEnum):
    THIS = "this"
    THAT = "that"


class Unfound(Entity, table=TABLE, lifetimes=(RetainFor(timedelta(days=1), since="moment"),)):
    """Its index is sorted by the moment, but nobody knows its partitions."""

    owner: str
    moment: UtcSeconds

    @key("UNFOUND#{owner}", "UNFOUND")
    def at(self, *, owner: str) -> None: ...

    by_moment = IndexKey(INDEX, "UNFOUND#{owner}", "{moment}")


class Unordered(Entity, table=TABLE, lifetimes=(KeepLatest(3, per=("sort",)),)):
    """Every record can be found, but not those of one sort in an order."""

    name: str
    sort: Sort
    moment: UtcSeconds

    @key("UNORDERED#{name}", "UNORDERED")
    def at(self, *, name: str) -> None: ...

    by_moment = IndexKey(INDEX, "ALL_UNORDERED", "{moment}")


UNFOUND, UNORDERED = Domain("unfound", Unfound), Domain("unordered", Unordered)
