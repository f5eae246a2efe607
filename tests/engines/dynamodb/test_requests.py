"""Requests, spelled out: this is what goes over the wire."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from penstock import after, before, between, since, starting_with, the, until
from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.dynamodb.dynamo_requests import (
    GetTemplate,
    batch_get,
    batch_member,
    batch_write,
    delete_item,
    put_item,
    single,
    transaction,
    update_item,
)
from penstock.engines.dynamodb.item_encoder import document
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.queries import explained
from penstock.engines.dynamodb.table_setup import add_index, create_table
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import All, Any_, Condition, Missing, OneOf, Present
from penstock.operations.reads import Query, Range
from penstock.operations.writes import Check, Delete, Write
from penstock.schema.shape import EntityShape
from tests.engines.dynamodb.entities import (
    AUDIO,
    BY_VOICE,
    MOMENT,
    NOW,
    PROJECT,
    REELS,
    Audio,
    Reel,
    Status,
    Step,
    audio,
    reel,
)

KEY = {"PK": {"S": f"PROJECT#{PROJECT}"}, "SK": {"S": "REEL#001"}}


def item_type(shape: EntityShape) -> ItemType:
    return ItemType(shape, shape.table.name)


REEL = item_type(Reel.__shape__)
AUDIO_TYPE = item_type(Audio.__shape__)


class TestItems:
    def test_an_item_has_native_types_and_nothing_for_what_is_missing(self) -> None:
        record = reel(
            seconds=0.1,
            images=["a", "b"],
            notes={"n": [1, 2.5, None, True], "m": {}},
            tags=frozenset({"y", "x"}),
            price=Decimal("1.50"),
            blob=b"\x00\xff",
            day=date(2025, 3, 4),
            seen_at=datetime(2025, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        )
        assert explained(REEL.encode.item(put(record).values)) == {
            **KEY,
            "entityType": {"S": "reel"},
            "projectId": {"S": str(PROJECT)},
            "sequence": {"N": "1"},
            "status": {"S": "pending"},
            "prompt": {"S": "p"},
            "seconds": {"N": "0.1"},
            "images": {"L": [{"S": "a"}, {"S": "b"}]},
            "notes": {"M": {"n": {"L": [{"N": "1"}, {"N": "2.5"}, {"NULL": True}, {"BOOL": True}]}, "m": {"M": {}}}},
            "tags": {"SS": ["x", "y"]},
            "price": {"N": "1.50"},
            "blob": {"B": "AP8="},
            "isFinal": {"BOOL": False},
            "day": {"S": "2025-03-04"},
            "seenAt": {"S": "2025-01-02T03:04:05.678Z"},
            "createdAt": {"S": "2025-11-17T10:05:00Z"},
        }

    @pytest.mark.parametrize(
        ("values", "indexed"),
        [({"owner": "o"}, True), ({}, False), ({"owner": "o", "status": Status.DONE}, False)],
    )
    def test_index_attributes_are_there_while_the_entity_takes_part(
        self, values: dict[str, Any], indexed: bool
    ) -> None:
        item = explained(REEL.encode.item(put(reel(**values)).values))
        assert item.get("GSI1PK") == ({"S": "OWNER#o"} if indexed else None)
        assert item.get("GSI1SK") == ({"S": "2025-11-17T10:05:00Z"} if indexed else None)

    def test_a_field_that_is_a_key_attribute_is_written_once(self) -> None:
        assert explained(AUDIO_TYPE.encode.item(audio().__dict__)) == {
            "date": {"S": "2025-12-08"},
            "audio_id": {"S": str(PROJECT)},
            "voice": {"S": "v"},
            "made": {"N": "7"},
            "text": {"S": "t"},
        }

    def test_a_field_of_the_key_alone_has_no_attribute(self) -> None:
        step = Step(job="j#1", name="cut & paste", ts=MOMENT)
        assert explained(item_type(Step.__shape__).encode.item(step.__dict__)) == {
            "PK": {"S": "JOB#j#1"},
            "SK": {"S": "STEP#cut%20&%20paste#2025-11-17T10:05:00.000Z"},
        }

    @pytest.mark.parametrize(
        ("value", "text"),
        [(2.0**60, "1152921504606846976"), (1e30, "1e+30"), (-1.5, "-1.5"), (7, "7"), (1e-100, "1e-100")],
    )
    def test_numbers_of_documents_come_back_equal(self, value: float, text: str) -> None:
        assert document(value) == {"N": text}


class TestReads:
    def test_get(self) -> None:
        body = GetTemplate(REEL.layout).fill({"project_id": PROJECT, "sequence": 1})
        assert msgspec.json.decode(body) == {"TableName": "Reels", "ConsistentRead": True, "Key": KEY}

    def test_get_escapes_the_key(self) -> None:
        body = GetTemplate(item_type(Step.__shape__).layout).fill({"job": 'a"\\ü', "name": "n", "ts": MOMENT})
        assert msgspec.json.decode(body)["Key"]["PK"] == {"S": 'JOB#a"\\ü'}

    def test_several(self) -> None:
        assert batch_get([("A", {"k": {"S": "1"}}), ("B", {"k": {"S": "1"}}), ("A", {"k": {"S": "2"}})]) == {
            "RequestItems": {
                "A": {"ConsistentRead": True, "Keys": [{"k": {"S": "1"}}, {"k": {"S": "2"}}]},
                "B": {"ConsistentRead": True, "Keys": [{"k": {"S": "1"}}]},
            }
        }


def condition_of(condition: Condition, record: Reel | Audio | None = None) -> str:
    """The condition with its aliases replaced by what they stand for."""
    record = record or reel()
    item = item_type(record.__shape__)
    request = explained(delete_item(item, Delete(record.__shape__, record.ref.key, condition), NOW))
    text: str = request["ConditionExpression"]
    for alias, name in request.get("ExpressionAttributeNames", {}).items():
        text = text.replace(alias, name)
    for alias, value in request.get("ExpressionAttributeValues", {}).items():
        text = text.replace(alias, next(iter(value.values())))
    return text


class TestConditions:
    def test_a_condition_asks_for_what_stands_there(self) -> None:
        """F-X-10: an attribute is always named by an alias, so that it may be called as a reserved word is."""
        request = explained(put_item(REEL, put(reel(), when=Missing()), NOW))
        del request["Item"]
        assert request == {
            "TableName": "Reels",
            "ConditionExpression": "attribute_not_exists(#n0)",
            "ExpressionAttributeNames": {"#n0": "PK"},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    @pytest.mark.parametrize(
        ("condition", "text"),
        [
            (Present(), "attribute_exists(PK)"),
            (the(Reel.owner).absent(), "attribute_not_exists(owner)"),
            (the(Reel.prompt).equals("x"), "prompt = x"),
            (the(Reel.sequence).between(1, 5), "sequence BETWEEN 1 AND 5"),
            (the(Reel.status).one_of(Status.DONE), "status IN (done)"),
            # A missing attribute is as good as its field's default, but an item that is not there is not.
            (
                the(Reel.status).equals(Status.PENDING),
                "status = pending OR (attribute_exists(PK) AND attribute_not_exists(status))",
            ),
            (
                Present() & the(Reel.status).one_of(Status.DONE, Status.PENDING),
                "attribute_exists(PK) AND (status IN (done, pending) OR attribute_not_exists(status))",
            ),
            (
                the(Reel.status).differs(Status.PENDING),
                "(status <> pending AND attribute_exists(status)) OR attribute_not_exists(PK)",
            ),
            (the(Reel.status).exists(), "attribute_exists(PK)"),
            (the(Reel.status).absent(), "attribute_not_exists(PK)"),
            (~the(Reel.prompt).equals("x"), "NOT (prompt = x)"),
            (
                the(Reel.prompt).equals("x") & (the(Reel.sequence).after(3) | the(Reel.sequence).between(1, 2)),
                "prompt = x AND (sequence > 3 OR (sequence BETWEEN 1 AND 2))",
            ),
            (~(Present() & the(Reel.owner).exists()), "NOT (attribute_exists(PK) AND attribute_exists(owner))"),
            # DynamoDB refuses a BETWEEN whose ends are the wrong way round; here it just never holds.
            (the(Reel.sequence).between(5, 1), "attribute_exists(PK) AND attribute_not_exists(PK)"),
            (OneOf("prompt", ()), "attribute_exists(PK) AND attribute_not_exists(PK)"),
            (All(()), "attribute_exists(PK) OR attribute_not_exists(PK)"),
            (Any_((Present(),)), "attribute_exists(PK)"),
        ],
    )
    def test_each_kind(self, condition: Condition, text: str) -> None:
        """F-X-1: what is missing is no null: only a difference holds of it, and that is said, not left to a server."""
        assert condition_of(condition) == text

    def test_a_field_of_the_key_alone_is_decided_by_the_key(self) -> None:
        step = Step(job="j", name="n", ts=MOMENT)
        item = item_type(Step.__shape__)

        def compiled(condition: Condition) -> str:
            request = delete_item(item, Delete(Step.__shape__, step.ref.key, condition), NOW)
            return str(request["ConditionExpression"])

        assert compiled(the(Step.job).equals("j")) == "attribute_exists(#n0)"
        assert compiled(the(Step.job).differs("other")) == "attribute_exists(#n0) OR attribute_not_exists(#n0)"
        assert compiled(the(Step.job).differs("j")) == "attribute_not_exists(#n0)"

    @pytest.mark.parametrize(
        ("condition", "text"),
        [
            (Missing(), f"ttl <= {NOW} OR attribute_not_exists(date)"),
            (Present(), f"attribute_exists(date) AND (attribute_not_exists(ttl) OR ttl > {NOW})"),
            (the(Audio.text).differs("t"), f"ttl <= {NOW} OR text <> t"),
            (
                the(Audio.text).equals("t") | the(Audio.made).equals(7),
                f"(text = t OR made = 7) AND (attribute_not_exists(ttl) OR ttl > {NOW})",
            ),
        ],
    )
    def test_an_expired_record_counts_as_none(self, condition: Condition, text: str) -> None:
        assert condition_of(condition, audio()) == text


class TestWrites:
    def test_a_put_without_condition(self) -> None:
        operation, request = single(REEL, put(reel()), NOW)
        assert operation == "PutItem"
        assert set(request) == {"TableName", "Item"}

    def test_a_delete_without_condition(self) -> None:
        operation, request = single(REEL, Delete(Reel.__shape__, reel().ref.key), NOW)
        assert (operation, request) == ("DeleteItem", {"TableName": "Reels", "Key": KEY})

    def test_repeatable_updates(self) -> None:
        write = patch(
            reel().ref,
            the(Reel.prompt).set("new"),
            the(Reel.price).remove(),
            the(Reel.tags).include("b", "a"),
            the(Reel.blob).set_if_absent(b"x"),
            when=the(Reel.prompt).equals("old"),
        )
        operation, request = single(REEL, write, NOW)
        assert operation == "UpdateItem"
        assert explained(request) == {
            "TableName": "Reels",
            "Key": KEY,
            "UpdateExpression": "SET #n0 = :v0, #n3 = if_not_exists(#n3, :v2) REMOVE #n1 ADD #n2 :v1",
            "ConditionExpression": "attribute_exists(#n4) AND #n0 = :v3",
            "ExpressionAttributeNames": {"#n0": "prompt", "#n1": "price", "#n2": "tags", "#n3": "blob", "#n4": "PK"},
            "ExpressionAttributeValues": {
                ":v0": {"S": "new"},
                ":v1": {"SS": ["a", "b"]},
                ":v2": {"B": "eA=="},
                ":v3": {"S": "old"},
            },
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def test_counting_and_appending_begin_with_nothing(self) -> None:
        write = patch(
            reel().ref, the(Reel.price).add(Decimal(2)), the(Reel.images).append("i"), the(Reel.tags).exclude("a")
        )
        assert explained(single(REEL, write, NOW)[1]) == {
            "TableName": "Reels",
            "Key": KEY,
            "UpdateExpression": "SET #n0 = if_not_exists(#n0, :v0) + :v1, "
            "#n1 = list_append(if_not_exists(#n1, :v2), :v3) DELETE #n2 :v4",
            "ConditionExpression": "attribute_exists(#n3)",
            "ExpressionAttributeNames": {"#n0": "price", "#n1": "images", "#n2": "tags", "#n3": "PK"},
            "ExpressionAttributeValues": {
                ":v0": {"N": "0"},
                ":v1": {"N": "2"},
                ":v2": {"L": []},
                ":v3": {"L": [{"S": "i"}]},
                ":v4": {"SS": ["a"]},
            },
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def test_index_attributes_change_in_the_same_request(self) -> None:
        write = patch(reel().ref, the(Reel.owner).set("o"), given=reel())
        request = explained(update_item(REEL, write, NOW))
        assert request["UpdateExpression"] == "SET #n0 = :v0, #n1 = :v1, #n2 = :v2"
        names = request["ExpressionAttributeNames"]
        assert [names[n] for n in ("#n0", "#n1", "#n2")] == ["owner", "GSI1PK", "GSI1SK"]
        gone = explained(update_item(REEL, patch(reel().ref, the(Reel.owner).remove(), given=reel()), NOW))
        assert gone["UpdateExpression"] == "REMOVE #n0, #n1, #n2"

    def test_a_transaction(self) -> None:
        writes: list[Write] = [
            put(reel(sequence=2), when=Missing()),
            patch(reel().ref, the(Reel.images).append("i")),
            Delete(Reel.__shape__, reel(sequence=3).ref.key),
            Check(Audio.__shape__, audio().ref.key, Present()),
        ]
        request = explained(transaction([REEL, REEL, REEL, AUDIO_TYPE], writes, NOW, "token"))
        assert request["ClientRequestToken"] == "token"
        assert [next(iter(member)) for member in request["TransactItems"]] == [
            "Put",
            "Update",
            "Delete",
            "ConditionCheck",
        ]
        assert request["TransactItems"][3]["ConditionCheck"]["TableName"] == "Audio"

    def test_a_batch(self) -> None:
        members = [
            (REEL.table, batch_member(REEL, Delete(Reel.__shape__, reel().ref.key))),
            (AUDIO_TYPE.table, batch_member(AUDIO_TYPE, put(audio()))),
        ]
        assert explained(batch_write(members)) == {
            "RequestItems": {
                "Reels": [{"DeleteRequest": {"Key": KEY}}],
                "Audio": [{"PutRequest": {"Item": explained(AUDIO_TYPE.encode.item(audio().__dict__))}}],
            }
        }


def asked(query: Query[Any]) -> tuple[str, list[Any]]:
    """The key condition and its values, the partition's left out."""
    request = DynamoEngine().explain_query(query)
    values = list(request["ExpressionAttributeValues"].values())
    return request["KeyConditionExpression"], [next(iter(v.values())) for v in values[1:]]


class TestQueries:
    def test_over_the_key(self) -> None:
        query = Reel.of_project(project_id=PROJECT).reversed()
        assert DynamoEngine(table_prefix="x_").explain_query(query) == {
            "TableName": "x_Reels",
            "ConsistentRead": True,
            "KeyConditionExpression": "#p = :p AND begins_with(#s, :a)",
            "ExpressionAttributeNames": {"#p": "PK", "#s": "SK"},
            "ExpressionAttributeValues": {":p": {"S": f"PROJECT#{PROJECT}"}, ":a": {"S": "REEL#"}},
            "ScanIndexForward": False,
        }

    def test_over_an_index(self) -> None:
        assert DynamoEngine().explain_query(Audio.by_voice(voice="v", made=after(3))) == {
            "TableName": "Audio",
            "IndexName": "by-voice",
            "KeyConditionExpression": "#p = :p AND #s >= :a",
            "ExpressionAttributeNames": {"#p": "voice", "#s": "made"},
            "ExpressionAttributeValues": {":p": {"S": "v"}, ":a": {"N": "4"}},
        }

    @pytest.mark.parametrize(
        ("bounds", "condition", "operands"),
        [
            (between(2, 5), "#p = :p AND #s BETWEEN :a AND :b", ["REEL#002", "REEL#005"]),
            (after(2), "#p = :p AND #s BETWEEN :a AND :b", ["REEL#003", "REEL#999"]),
            (before(5), "#p = :p AND #s BETWEEN :a AND :b", ["REEL#000", "REEL#004"]),
        ],
    )
    def test_padded_numbers_are_drawn_in(self, bounds: Range[int], condition: str, operands: list[str]) -> None:
        assert asked(Reel.of_project(project_id=PROJECT, sequence=bounds)) == (condition, operands)

    @pytest.mark.parametrize(
        ("bounds", "condition"),
        [
            (since(MOMENT), "#s >= :a"),
            (after(MOMENT), "#s > :a"),
            (until(MOMENT), "#s <= :a"),
            (before(MOMENT), "#s < :a"),
        ],
    )
    def test_a_whole_key_has_its_own_operators(self, bounds: Range[datetime], condition: str) -> None:
        query = Reel.by_owner(owner="o", created_at=bounds)
        assert asked(query) == (f"#p = :p AND {condition}", ["2025-11-17T10:05:00Z"])

    @pytest.mark.parametrize(
        ("bounds", "operands"),
        [
            (between("a b", "c"), ["STEP#a%20b", "STEP#c$"]),
            (after("a"), ["STEP#a$", "STEP$"]),
            (since("a"), ["STEP#a", "STEP$"]),
            (until("a"), ["STEP#", "STEP#a$"]),
            (before("a"), ["STEP#", "STEP#a"]),
        ],
    )
    def test_a_part_in_the_middle_ends_before_its_separator_s_successor(
        self, bounds: Range[str], operands: list[str]
    ) -> None:
        assert asked(Step.of_job(job="j", name=bounds)) == ("#p = :p AND #s BETWEEN :a AND :b", operands)

    def test_a_prefix_is_escaped_as_the_part_is(self) -> None:
        query = Step.of_job(job="j", name=starting_with("a#"))
        assert asked(query) == ("#p = :p AND begins_with(#s, :a)", ["STEP#a%23"])

    @pytest.mark.parametrize(
        "query",
        [
            Reel.of_project(project_id=PROJECT, sequence=between(5, 2)),
            Step.of_job(job="j", name=between("b", "a")),
            Reel.by_owner(owner="o", created_at=Range(MOMENT, MOMENT, open_low=True)),
        ],
    )
    def test_what_nothing_can_match_is_not_asked(self, query: Query[Any]) -> None:
        assert DynamoEngine().explain_query(query) == {}


class TestTables:
    def test_create(self) -> None:
        assert create_table("Audio", AUDIO.place) == {
            "TableName": "Audio",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": "date", "AttributeType": "S"},
                {"AttributeName": "audio_id", "AttributeType": "S"},
                {"AttributeName": "voice", "AttributeType": "S"},
                {"AttributeName": "made", "AttributeType": "N"},
            ],
            "KeySchema": [
                {"AttributeName": "date", "KeyType": "HASH"},
                {"AttributeName": "audio_id", "KeyType": "RANGE"},
            ],
            "SSESpecification": {"Enabled": True},
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "by-voice",
                    "KeySchema": [
                        {"AttributeName": "voice", "KeyType": "HASH"},
                        {"AttributeName": "made", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        }

    def test_a_feed_is_a_stream(self) -> None:
        assert create_table("Reels", REELS.place)["StreamSpecification"] == {
            "StreamEnabled": True,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        }

    def test_an_index_is_added_alone(self) -> None:
        request = add_index("Audio", AUDIO.place, BY_VOICE.place)
        assert [u["Create"]["IndexName"] for u in request["GlobalSecondaryIndexUpdates"]] == ["by-voice"]
