"""Items that another program has written in its own spelling: they are read, and so they can be saved, too."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import boto3
import pytest

from penstock import Domain, Entity, FrozenClock, Move, Store, Table, UtcSeconds, key, the
from penstock.engines.dynamodb import DynamoEngine
from penstock.errors import Conflict
from penstock.operations.updates import Remove, Set
from penstock.testing.entities import Measure, Status

TABLE = Table("penstock_test_letters", partition="PK", sort="SK")
_counter = itertools.count()
NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)


class Letter(Entity, table=TABLE):
    """What programs spell in more than one way."""

    name: str
    status: Status = Status.NEW
    sent_at: UtcSeconds | None = None
    weight: float | None = None
    price: Decimal | None = None
    stamps: int | None = None
    words: frozenset[str] | None = None
    extra: dict[str, Any] | None = None
    size: Measure | None = None
    note: str | None = None
    copies: int = 1

    @key("LETTER#{name}", "LETTER")
    def at(self, *, name: str) -> None: ...

    open = Move(Status.NEW, to=Status.OPEN)


LETTERS = Domain("letters", Letter)
HERE = Letter.at(name="a")

SPELLINGS: dict[str, tuple[Any, Any]] = {
    "sent_at": ({"S": "2025-01-01T12:00:00+0000"}, NOON.replace(hour=13)),
    "weight": ({"N": "0.12345678901234567890123"}, 0.5),
    "price": ({"N": "1.10"}, Decimal(2)),
    "stamps": ({"N": "3.0"}, 4),
    "words": ({"L": [{"S": "b"}, {"S": "a"}]}, frozenset({"c"})),
    "extra": ({"S": '{"b": [1, 2.50], "a": null}'}, {"a": 1}),
    "size": ({"M": {"width": {"N": "3"}, "height": {"N": "1.50"}}}, Measure(width=4, height=1)),
    "note": ({"NULL": True}, "seen"),
}


class Shared(NamedTuple):
    """A store, and how another program puts an item there."""

    store: Store
    put: Callable[[dict[str, Any]], object]


@pytest.fixture(params=["dynoxide", "dynamodb-local"])
def shared(request: pytest.FixtureRequest, clock: FrozenClock) -> Iterator[Shared]:
    url = request.getfixturevalue(request.param.replace("-", "_") + "_server").url
    access: Any = {"region_name": "us-east-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}
    client = boto3.client("dynamodb", endpoint_url=url, **access)
    prefix = f"s{os.getpid()}_{next(_counter)}_"
    engine = DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test", table_prefix=prefix)
    engine.ensure(LETTERS.shapes)
    name = prefix + TABLE.place.name
    yield Shared(Store(engine, clock=clock), lambda item: client.put_item(TableName=name, Item=item))
    engine.close()
    client.delete_table(TableName=name)


def write(shared: Shared, **attributes: Any) -> None:
    """An item as another program writes it."""
    shared.put({"PK": {"S": "LETTER#a"}, "SK": {"S": "LETTER"}, **attributes})


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("alone", [True, False])
def test_what_another_program_spells_otherwise_can_be_saved(shared: Shared, name: str, *, alone: bool) -> None:
    store, (spelled, new) = shared.store, SPELLINGS[name]
    write(shared, status={"S": "new"}, **{name: spelled})
    with store.change() as change:
        letter = change.get(HERE)
        setattr(letter, name, new)
        change.save(letter)
        if not alone:
            change.create(Letter(name="beside it"))
    assert getattr(store.get(HERE), name) == new


def test_what_is_spelled_otherwise_is_still_guarded(shared: Shared) -> None:
    store = shared.store
    for name, (spelled, new) in SPELLINGS.items():
        write(shared, status={"S": "new"}, **{name: spelled})
        with pytest.raises(Conflict), store.change() as change:
            letter = change.get(HERE)
            store.patch(HERE, Set(name, new))
            setattr(letter, name, "mine" if name == "note" else None)
            change.save(letter)
        assert getattr(store.get(HERE), name) == new


def test_a_condition_of_ones_own_meets_what_is_spelled_otherwise(shared: Shared) -> None:
    store = shared.store
    write(shared, sent_at={"S": "2025-01-01T13:00:00+01:00"}, weight={"N": "0.12345678901234567890123"})
    as_read = the(Letter.sent_at).equals(NOON) & the(Letter.weight).equals(0.12345678901234567890123)
    assert store.patch(HERE, the(Letter.note).set("x"), when=as_read).note == "x"
    store.delete(HERE, when=as_read)
    assert store.lookup(HERE) is None


def test_a_record_from_before_its_fields_can_be_moved_and_saved(shared: Shared) -> None:
    store = shared.store
    write(shared)
    with store.change() as change:
        letter = change.get(HERE).open()
        letter.copies += 1
        change.save(letter)
    assert (store.get(HERE).status, store.get(HERE).copies) == (Status.OPEN, 2)
    with pytest.raises(Conflict), store.change() as change:
        letter = change.get(HERE)
        store.patch(HERE, Remove("copies"))
        letter.copies = 3
        change.save(letter)
