"""Tables as CloudFormation has them, and what the engine calls, as policies name it.

A table stands there as `tables apply` would make it, with what only an owner decides: recovery to any moment, and that
nobody deletes it by mistake. With further regions it is a global table: the last writer of a record wins there, so that
conditions and leases hold in one region alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from penstock.engines.dynamodb.table_setup import create_table
from penstock.schema.shape import EntityShape, KeyShape, TablePlace

READS = ("dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query")
WRITES = (
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
    "dynamodb:DeleteItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:BatchWriteItem",
)
DESCRIBES = ("dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive")
FOLLOWS = ("dynamodb:DescribeStream", "dynamodb:GetShardIterator", "dynamodb:GetRecords")
STATEMENTS = ("dynamodb:PartiQLSelect", "dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate", "dynamodb:PartiQLDelete")
"The same in another language, which the engine does not speak: where something is denied, so it is by these."
SETS = ("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:BatchWriteItem", *STATEMENTS[1:3])
"All that gives an attribute a value."
SELECT = "dynamodb:Select"
ATTRIBUTES, KEYS = "dynamodb:Attributes", "dynamodb:LeadingKeys"


def table_id(name: str) -> str:
    """What a table is called within the template."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name)) + "Table"


def table_resource(name: str, place: TablePlace, *, region: str, replicas: Sequence[str] = ()) -> dict[str, Any]:
    """A table, or with further regions a global table whose first region is the one that writes."""
    request = create_table(name, place)
    properties = {
        "TableName": name,
        "BillingMode": request["BillingMode"],
        "AttributeDefinitions": request["AttributeDefinitions"],
        "KeySchema": request["KeySchema"],
        "SSESpecification": {"SSEEnabled": request["SSESpecification"]["Enabled"]},
    }
    if place.indexes:
        properties["GlobalSecondaryIndexes"] = request["GlobalSecondaryIndexes"]
    if place.expiry is not None:
        properties["TimeToLiveSpecification"] = {"AttributeName": place.expiry, "Enabled": True}
    kind = "AWS::DynamoDB::GlobalTable" if replicas else "AWS::DynamoDB::Table"
    properties |= _replicated([region, *replicas]) if replicas else _alone(place)
    return {"Type": kind, "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain", "Properties": properties}


_KEPT = {
    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    "DeletionProtectionEnabled": True,
}


def _alone(place: TablePlace) -> dict[str, Any]:
    stream = {"StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"}} if place.feed else {}
    return {**_KEPT, **stream}


def _replicated(regions: Sequence[str]) -> dict[str, Any]:
    # Its regions hear of each other's writes by the stream, so every table has one.
    return {
        "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
        "Replicas": [{"Region": region, **_KEPT} for region in regions],
    }


def key_prefixes(shape: EntityShape) -> list[str]:
    """How the partition keys of an entity's records begin, in its table and in its indexes, as policies write it."""
    keys: list[KeyShape] = [shape.key, *(index.key for index in shape.indexes.values())]
    return list(dict.fromkeys(_prefix(key) for key in keys))


def _prefix(key: KeyShape) -> str:
    literal = key.partition.parts[0].literal if key.partition.parts else key.partition.tail
    return f"{literal}*" if key.partition.parts else literal
