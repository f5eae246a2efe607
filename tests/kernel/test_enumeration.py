"""Walks: every record is found by known partitions, or the declaration is answered with what it lacks."""

from __future__ import annotations

from enum import StrEnum

import pytest

from penstock import Entity, IndexKey, Table, UtcSeconds, key
from penstock.domains.assetcreator.bookkeeping import Idempotency, Outbox
from penstock.domains.assetcreator.model import AssetVersion, Job, Step
from penstock.domains.assetcreator.stages import Status
from penstock.errors import DeclarationError
from penstock.kernel.enumeration import enumerate_all, enumeration_of, group_of

TABLE = Table("penstock_test_enumeration", partition="PK", sort="SK")
FIRST = TABLE.index("GSI1", partition="GSI1PK", sort="GSI1SK")
SECOND = TABLE.index("GSI2", partition="GSI2PK", sort="GSI2SK")


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Thing(Entity, table=TABLE):
    """Two choices make its partitions, and a flag decides nothing."""

    name: str
    size: Size
    colour: Colour
    shown: bool = True
    made: UtcSeconds
    sold: UtcSeconds | None = None

    @key("THING#{name}", "THING")
    def at(self, *, name: str) -> None: ...

    by_making = IndexKey(FIRST, "THINGS#{size}#{colour}", "{made}", when={"shown": (True, False)})
    by_sale = IndexKey(SECOND, "SOLD", "{sold}")


class Hidden(Entity, table=TABLE):
    """Takes part in its index only while it is shown, or large."""

    name: str
    size: Size
    shown: bool = True
    made: UtcSeconds

    @key("HIDDEN#{name}", "HIDDEN")
    def at(self, *, name: str) -> None: ...

    by_making = IndexKey(FIRST, "SHOWN", "{made}", when={"shown": True})
    by_size = IndexKey(SECOND, "SIZE#{size}", "{made}", when={"size": Size.LARGE})


class Listed(Entity, table=TABLE):
    """All in one partition of the table itself."""

    name: str

    @key("LISTED", "{name}")
    def at(self, *, name: str) -> None: ...


def test_every_partition_is_enumerated() -> None:
    assert [q.values for q in enumerate_all(Job)] == [{"status": s} for s in Status]
    assert [q.pattern.key.partition.text for q in enumerate_all(Step)] == ["STEP_STATUS#{status}"] * 7
    assert [q.values["type"] for q in enumerate_all(AssetVersion)] == ["2D", "3D"]
    assert [tuple(q.values.values()) for q in enumerate_all(Thing)] == [
        ("small", "red"),
        ("small", "blue"),
        ("large", "red"),
        ("large", "blue"),
    ]


def test_a_constant_partition_is_one_query_and_the_key_comes_before_an_index() -> None:
    (query,) = enumerate_all(Listed)
    assert query.values == {}
    assert query.pattern.index is None


@pytest.mark.parametrize("entity", [Idempotency, Outbox, Hidden])
def test_what_cannot_be_enumerated_is_answered_with_what_to_declare(entity: type[Entity]) -> None:
    """A partition of texts is not known, and an index that leaves records out does not find them all."""
    with pytest.raises(DeclarationError, match=f"{entity.__name__}: .* declare an index"):
        enumerate_all(entity)


def test_a_sparse_index_is_enough_for_the_records_it_has() -> None:
    assert enumeration_of(Hidden.__shape__, by="made") is None
    enumeration = enumeration_of(Hidden.__shape__, by="made", among={"size": (Size.LARGE,)})
    assert enumeration is not None
    assert enumeration.partitions == ({"size": Size.LARGE},)
    assert enumeration_of(Hidden.__shape__, by="made", among={"size": (Size.LARGE, Size.SMALL)}) is None


def test_an_enumeration_is_sorted_by_the_field_that_is_asked_for() -> None:
    enumeration = enumeration_of(Thing.__shape__, by="sold")
    assert enumeration is not None
    assert enumeration.pattern.ranged == "sold"
    assert enumeration_of(Thing.__shape__, by="name") is None


def test_a_group_is_found_by_the_fields_that_lead_a_key() -> None:
    group = group_of(AssetVersion.__shape__, ("asset_id", "project_id"))
    assert group is not None
    assert (group.index, group.ranged) == (None, "version")
    by_index = group_of(Thing.__shape__, ("colour", "size"))
    assert by_index is not None
    assert by_index.index is not None
    assert group_of(AssetVersion.__shape__, ("project_id", "version")) is None
    assert group_of(AssetVersion.__shape__, ("project_id", "asset_id", "version")) is None
