"""What DynamoDB answers becomes records: fast when Penstock wrote it, carefully when somebody else did."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from penstock import between
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.queries import explained
from penstock.errors import DamagedRecord
from penstock.kernel.handle import put
from tests.engines.dynamodb.entities import MOMENT, PROJECT, Audio, Reel, Status, Step, audio, reel
from tests.engines.dynamodb.scripted import Scripted

WHEN = datetime(2037, 1, 1, tzinfo=UTC)
REEL = ItemType(Reel.__shape__, "Reels")


def item(**changes: Any) -> dict[str, Any]:
    """A stored reel with some attributes changed, or taken away by None."""
    stored = explained(REEL.encode.item(put(reel(owner="o", notes={"a": 1})).values)) | changes
    return {name: value for name, value in stored.items() if value is not None}


def got(stored: dict[str, Any]) -> Reel:
    record: Any = Scripted({"Item": stored}).engine().get((reel().ref,), now=WHEN)[0]
    assert isinstance(record, Reel)
    return record


def test_every_kind_comes_back_equal() -> None:
    record = reel(
        seconds=1 / 3,
        images=["a", "ü"],
        notes={"n": [1, 2.5, None, True, {"deep": []}], "big": 2.0**60, "bigger": 1e30},
        tags=frozenset({"x"}),
        price=Decimal("12345678901234567890.123456789012345678"),
        blob=b"\x00\xff",
        is_final=True,
        day=date(2025, 3, 4),
        seen_at=datetime(2025, 1, 2, 3, 4, 5, 678000, tzinfo=UTC),
        owner="o",
    )
    assert got(explained(REEL.encode.item(put(record).values))) == record


def test_moments_are_in_utc() -> None:
    assert got(item()).created_at.tzinfo is UTC


def test_no_item_is_no_record() -> None:
    assert Scripted({}).engine().get((reel().ref,), now=WHEN) == [None]


def test_unknown_attributes_are_passed_over() -> None:
    assert got(item(strange={"M": {"x": {"NS": ["1"]}}})) == reel(owner="o", notes={"a": 1})


def test_an_optional_field_that_is_missing_is_none_and_another_has_its_default() -> None:
    record = got(item(owner=None, notes=None, isFinal=None, images=None))
    assert (record.owner, record.notes, record.is_final, record.images) == (None, None, False, [])


def test_a_default_is_not_shared() -> None:
    got(item(images=None)).images.append("mine")
    assert got(item(images=None)).images == []


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-17T10:05:00Z",
        "2025-11-17T10:05:00.000000+0000",
        "2025-11-17T10:05:00.750Z",
        "2025-11-17T11:05:00+01:00",
        "2025-11-17T10:05:00",
    ],
)
def test_other_writers_forms_of_a_moment_are_understood(text: str) -> None:
    record = got(item(createdAt={"S": text}))
    assert record.created_at == MOMENT
    assert record.created_at.tzinfo is UTC


@pytest.mark.parametrize(
    ("attribute", "value", "field", "expected"),
    [
        ("sequence", {"N": "1.0"}, "sequence", 1),
        ("sequence", {"N": "1E0"}, "sequence", 1),
        ("isFinal", {"N": "1"}, "is_final", True),
        ("owner", {"NULL": True}, "owner", None),
        ("tags", {"L": [{"S": "x"}]}, "tags", frozenset({"x"})),
        ("notes", {"S": '{"a": [1]}'}, "notes", {"a": [1]}),
        ("projectId", {"S": str(PROJECT).upper()}, "project_id", PROJECT),
        ("projectId", None, "project_id", PROJECT),
    ],
)
def test_other_writers_types_are_understood(
    attribute: str, value: dict[str, Any] | None, field: str, expected: object
) -> None:
    assert getattr(got(item(**{attribute: value})), field) == expected


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("status", {"S": "hidden value"}),
        ("prompt", {"M": {"hidden": {"S": "hidden value"}}}),
        ("prompt", None),
        ("createdAt", {"S": "hidden value"}),
        ("seconds", {"S": "hidden value"}),
    ],
)
def test_damage_is_named_by_entity_key_and_attribute_but_not_by_value(
    attribute: str, value: dict[str, Any] | None
) -> None:
    with pytest.raises(DamagedRecord) as damage:
        got(item(**{attribute: value}))
    message = str(damage.value)
    assert f"Reel at PK='PROJECT#{PROJECT}', SK='REEL#001'" in message
    assert attribute in message
    assert "hidden" not in message


class TestPages:
    """A query's answer may hold other entities' items."""

    def found(self, *items: dict[str, Any]) -> list[Any]:
        page = (
            Scripted({"Items": list(items), "Count": len(items)})
            .engine()
            .find(Reel.of_project(project_id=PROJECT), limit=None, after=None, now=WHEN)
        )
        return page.records

    def test_own_items_in_order(self) -> None:
        second = item(SK={"S": "REEL#002"}, sequence={"N": "2"})
        assert [r.sequence for r in self.found(item(), second)] == [1, 2]

    @pytest.mark.parametrize("sort", ["REEL#001#VERSION#1", "REEL#1", "REEL#٠٠١", "REEL#001\n"])
    def test_other_sort_keys_are_left_out(self, sort: str) -> None:
        stranger = item(SK={"S": sort})
        assert self.found(stranger, item()) == [got(item())]
        assert self.found({"PK": stranger["PK"], "SK": stranger["SK"]}, item()) == [got(item())]

    def test_another_tag_is_left_out(self) -> None:
        assert self.found(item(entityType={"S": "other"}), item()) == [got(item())]

    def test_an_item_without_tag_is_judged_by_its_key(self) -> None:
        assert self.found(item(entityType=None)) == [got(item())]

    def test_one_item_of_another_form_does_not_spoil_the_page(self) -> None:
        other = item(createdAt={"S": "2025-11-17T10:05:00.000000+0000"})
        assert self.found(other, item()) == [got(item()), got(item())]

    def test_through_an_index_the_whole_key_is_looked_at(self) -> None:
        strangers = [item(PK={"S": "PROJECT#not-a-uuid"}), item(SK={"S": "METADATA"})]
        wire = Scripted({"Items": [*strangers, item()]})
        page = wire.engine().find(Reel.by_owner(owner="o"), limit=None, after=None, now=WHEN)
        assert page.records == [got(item())]


def test_fields_of_the_key_alone_are_parsed_from_it() -> None:
    step = Step(job="j#1", name="cut & paste", ts=MOMENT, note="n")
    stored = explained(ItemType(Step.__shape__, "Steps").encode.item(step.__dict__))
    assert Scripted({"Item": stored}).engine().get((step.ref,), now=WHEN) == [step]
    page = Scripted({"Items": [stored]}).engine().find(Step.of_job(job="j#1"), limit=None, after=None, now=WHEN)
    assert page.records == [step]


def test_expired_records_are_invisible() -> None:
    end = int(WHEN.timestamp())
    values = [audio(audio_id=UUID(int=n), made=n, ttl=t) for n, t in enumerate([end - 1, end, end + 1, None])]
    items = [explained(ItemType(Audio.__shape__, "Audio").encode.item(v.__dict__)) for v in values]
    page = Scripted({"Items": items}).engine().find(Audio.by_voice(voice="v"), limit=None, after=None, now=WHEN)
    assert page.records == values[2:]
    assert [Scripted({"Item": i}).engine().get((v.ref,), now=WHEN)[0] for i, v in zip(items, values, strict=True)] == [
        None,
        None,
        *values[2:],
    ]


def test_an_open_end_that_the_request_had_to_include_is_left_out() -> None:
    from penstock import Range

    late = datetime(2025, 11, 18, tzinfo=UTC)
    items = [item(), item(SK={"S": "REEL#002"}, sequence={"N": "2"}, createdAt={"S": "2025-11-18T00:00:00Z"})]
    wire = Scripted({"Items": items}, {"Items": items})
    query = Reel.by_owner(owner="o", created_at=Range(MOMENT, late, open_low=True))
    assert [r.sequence for r in wire.engine().find(query, limit=None, after=None, now=WHEN).records] == [2]
    closed = Reel.by_owner(owner="o", created_at=between(MOMENT, late))
    assert [r.sequence for r in wire.engine().find(closed, limit=None, after=None, now=WHEN).records] == [1, 2]


def test_a_state_is_of_its_enum() -> None:
    assert got(item()).status is Status.PENDING
