"""The meter's own arithmetic, and that only a metered store pays for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from penstock import Store, open_store
from penstock.cost.footprint import ABSENT, Images, footprint, image_of
from penstock.cost.meter import Meter, Usage
from penstock.cost.metered_engine import MeteredEngine
from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.dynamodb.consumed import consumed
from penstock.kernel.handle import put
from penstock.operations.writes import Delete
from penstock.ports.engine import Engine
from penstock.schema.size import number_size, record_size
from penstock.testing.entities import MOMENT, Colour, Counter, Reading, Specimen, Status, Ticket, specimen
from tests.beneath import beneath
from tests.engines.dynamodb.scripted import Scripted


def test_threads_add_up_and_keep_their_labels_apart() -> None:
    meter = Meter()

    def work(number: int) -> None:
        for _ in range(500):
            with meter.under(f"label {number % 4}"):
                meter.measure(0.5, number)
            meter.add("all of them", Usage(requests=1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    used = meter.snapshot()
    assert used["all of them"] == Usage(requests=4000)
    assert used["label 1"] == Usage(
        measured_requests=1000, measured_read_units=500.0, measured_write_units=500.0 * (1 + 5)
    )
    assert meter.total().measured_requests == 4000


def test_a_call_within_a_call_has_its_own_label() -> None:
    meter = Meter()
    with meter.under("load"):
        with meter.under("Thing.by_name"):
            meter.measure(1, 0)
        meter.measure(0, 2)
    meter.measure(3, 0)
    assert {label: (u.measured_read_units, u.measured_write_units) for label, u in meter} == {
        "(other)": (3, 0),
        "Thing.by_name": (1, 0),
        "load": (0, 2),
    }


def test_a_reset_tells_what_was_counted() -> None:
    meter = Meter()
    meter.add("b", Usage(requests=1))
    meter.add("a", Usage(read_units=0.5))
    assert list(meter.reset()) == ["a", "b"]
    assert meter.snapshot() == {}
    assert meter.total() == Usage()


def test_the_table_is_for_people() -> None:
    meter = Meter()
    meter.add("Thing.by_name", Usage(requests=1200, records=3, bytes=45000, read_units=6.5))
    meter.add("Thing put", Usage(requests=1, write_units=3, assumed=1, measured_requests=1, measured_write_units=4))
    assert meter.table().splitlines() == [
        "label          requests  records   bytes  reads  writes  assumed  refused  measured r  measured w",
        "Thing put             1        0       0      0       3        1        0           0           4",
        "Thing.by_name     1,200        3  45,000    6.5       0        0        0           -           -",
        "all               1,201        3  45,000    6.5       3        1        0           0           4",
    ]


@pytest.mark.parametrize(
    ("operation", "told", "expected"),
    [
        ("GetItem", {"CapacityUnits": 1.5, "Table": {"CapacityUnits": 1.5}}, (1.5, 0)),
        ("Query", {"CapacityUnits": 2, "GlobalSecondaryIndexes": {"GSI1": {"CapacityUnits": 2}}}, (2, 0)),
        ("PutItem", {"CapacityUnits": 3}, (0, 3)),
        ("BatchWriteItem", [{"CapacityUnits": 3}, {"CapacityUnits": 4}], (0, 7)),
        ("TransactWriteItems", [{"CapacityUnits": 3, "WriteCapacityUnits": 3}], (0, 3)),
        ("TransactWriteItems", [{"CapacityUnits": 2, "ReadCapacityUnits": 2}], (2, 0)),
        ("DeleteItem", None, (0, 0)),
    ],
)
def test_the_units_of_an_answer(operation: str, told: Any, expected: tuple[float, float]) -> None:
    assert consumed(operation, msgspec.json.encode({"ConsumedCapacity": told} if told else {})) == expected


def test_only_a_metered_store_asks_for_units() -> None:
    def answer(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return {"ConsumedCapacity": {"CapacityUnits": 1.0}} if "ReturnConsumedCapacity" in request else {"Item": None}

    plain, asked, meter = Scripted(otherwise=answer), Scripted(otherwise=answer), Meter()
    metered = DynamoEngine(connect=lambda: asked, report_capacity=meter.measure)
    for store in (Store(plain.engine()), Store(MeteredEngine(metered, meter))):
        store.put(specimen())
        store.lookup(specimen().ref)
    # Before anything is written it is asked which layouts there are, and told that somebody writes.
    assert [o for o, _ in plain.calls] == ["GetItem", "TransactWriteItems", "PutItem", "GetItem"]
    for (operation, bare), (_, asking) in zip(plain.calls, asked.calls, strict=True):
        assert "ReturnConsumedCapacity" not in bare
        if operation == "TransactWriteItems":  # in which each has a name of its own
            continue
        assert asking == {**bare, "ReturnConsumedCapacity": "INDEXES"}
    used = meter.total()
    assert (used.measured_read_units, used.measured_write_units) == (2, 2)


def test_a_store_is_metered_when_it_is_opened(tmp_path: Path) -> None:
    meter = Meter()
    store = open_store(f"sqlite:///{tmp_path / 'metered.db'}", meter=meter)
    store.engine.ensure([Specimen.__shape__])
    store.create(specimen())
    assert meter.snapshot() == {
        "penstock_suite.Specimen put": Usage(requests=1, records=1, bytes=meter.total().bytes, write_units=1.0)
    }
    store.close()


def test_a_store_without_meter_has_its_engine_unwrapped(tmp_path: Path) -> None:
    engine = Scripted().engine()
    assert beneath(Store(engine)) is engine
    url = f"sqlite:///{tmp_path / 'plain.db'}"
    assert not isinstance(beneath(open_store(url)), MeteredEngine)
    assert isinstance(beneath(open_store(url, meter=Meter())), MeteredEngine)


def test_a_metered_engine_is_an_engine() -> None:
    engine: Engine = MeteredEngine(Scripted().engine(), Meter())
    verbs = {name for name in vars(Engine) if not name.startswith("_")}
    assert verbs <= set(dir(engine))
    assert engine.features is DynamoEngine.features


@pytest.mark.parametrize(
    ("value", "size"),
    [
        *[(0, 1), (7, 2), (42, 2), (10, 2), (100, 2), (1200, 2), (120, 3), (123, 3), (12000, 3), (-42, 3)],
        *[(0.1, 2), (0.001, 2), (2.5, 3), (12.5, 3), (1.05, 3)],
        *[(Decimal("1" * 38), 20), (Decimal("1e11"), 2), (Decimal("-0.01"), 3)],
    ],
)
def test_numbers_are_counted_in_pairs_of_digits(value: Any, size: int) -> None:
    """As DynamoDB Local counts them."""
    assert number_size(value) == size


@pytest.mark.parametrize(
    ("field", "value", "size"),
    [
        ("text", "größer", 8),
        ("colour", Colour.BLUE, 9),
        ("identifier", UUID(int=7), 36),
        ("count", -42, 3),
        ("ratio", 2.5, 3),
        ("price", Decimal("1.5"), 3),
        ("flag", False, 1),
        ("blob", b"\xff\x00\xff", 3),
        ("second", MOMENT, 20),
        ("milli", MOMENT, 24),
        ("micro", MOMENT, 27),
        ("day", date(2025, 1, 2), 10),
        ("labels", frozenset({"a", "größer"}), 9),
        ("notes", ["a", "größer"], 3 + (1 + 1) + (1 + 8)),
        ("extra", {"ä": None, "b": True, "c": [-42, 2.5]}, 3 + (1 + 2 + 1) + (1 + 1 + 1) + (1 + 1 + 3 + 4 + 4)),
    ],
)
def test_each_kind_of_value_is_counted_to_the_byte_with_its_name(field: str, value: Any, size: int) -> None:
    bare, shape = specimen().__dict__, Specimen.__shape__
    assert record_size(shape, {**bare, field: value}) == record_size(shape, bare) + len(field) + size


def test_a_record_has_its_tag_its_key_and_its_index_keys_each_with_its_name() -> None:
    ticket = Ticket(queue="q", ticket_id="1", created_at=MOMENT, owner="ö", due=MOMENT, status=Status.DONE)
    fields = {
        "queue": 1,
        "ticketId": 1,
        "createdAt": 20,
        "owner": 2,
        "due": 20,
        "status": 4,
        "priority": 1,
        "touched": 1,
    }
    keys = {"PK": "QUEUE#q", "SK": "TICKET#1", "GSI1PK": "STATUS#done", "GSI1SK": "x" * 20, "GSI2PK": "OWNER#oe"}
    keys |= {"GSI2SK": "x" * 20 + "#q", "entity": Ticket.__shape__.tag or ""}
    expected = sum(len(n) + size for n, size in fields.items()) + sum(len(n) + len(text) for n, text in keys.items())
    assert record_size(Ticket.__shape__, ticket.__dict__) == expected


def test_a_field_that_is_a_key_itself_is_counted_once() -> None:
    reading = Reading(sensor="ab", taken=1200, meter="m", value=5, text="")
    fields = {"sensor": 2, "taken": 2, "meter": 1, "value": 2, "text": 0}
    assert record_size(Reading.__shape__, reading.__dict__) == sum(len(n) + size for n, size in fields.items())
    counter = Counter(name="c", total=7)
    fields = {"name": 1, "total": 2, "balance": 1}
    assert record_size(Counter.__shape__, counter.__dict__) == sum(len(n) + size for n, size in fields.items())


def test_only_so_much_is_remembered() -> None:
    images = Images(budget=5000)
    shape = Specimen.__shape__
    for number in range(20):
        record = specimen(label=str(number), text="x" * 500)
        images.keep(shape, record.__dict__, image_of(shape, record.__dict__))
    known = [n for n in range(20) if images.last(shape, specimen(label=str(n)).__dict__)]
    assert known == [16, 17, 18, 19]
    images.keep(shape, specimen(label="19").__dict__, None)
    assert images.last(shape, specimen(label="19").__dict__) is None
    images.clear()
    assert images.last(shape, specimen(label="18").__dict__) is None


def test_each_index_takes_what_changes_in_it() -> None:
    """F-X-4: a change of status is a delete and an insert in its index."""
    new = Ticket(queue="q", ticket_id="1", created_at=MOMENT)
    before = image_of(new.__shape__, new.__dict__)
    assert sorted(before.entries) == ["GSI1", "GSI3"]
    done = new.model_copy(update={"status": Status.DONE})
    change = footprint(put(done), before)
    assert (change.table_units, change.index_units) == (1, 2 + 1)
    assert change.units() == 4
    assert change.units(transaction=True) == 5
    assert footprint(put(new), before).index_units == 0
    assert footprint(put(new), ABSENT).index_units == 2
    assert footprint(Delete(new.__shape__, new.ref.key), before).units() == 3
