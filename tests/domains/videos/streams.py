"""What a Lambda function gets: events made of records that were read from a real stream."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

from tests.homes import dynamo_access, dynamo_client

Record = dict[str, Any]


@cache
def _streams(url: str) -> Any:
    import boto3

    return boto3.client("dynamodbstreams", **dynamo_access(url))


def records_of(url: str, table: str) -> list[Record]:
    """Every record of a table's stream, as boto3 reads it, with what Lambda adds."""
    arn = dynamo_client(url).describe_table(TableName=table)["Table"]["LatestStreamArn"]
    streams, found = _streams(url), []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        asked = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = streams.get_shard_iterator(**asked)["ShardIterator"]
        while iterator:
            answer = streams.get_records(ShardIterator=iterator)
            found += [{**record, "eventSourceARN": arn} for record in answer["Records"]]
            iterator = answer.get("NextShardIterator") if answer["Records"] else None
    return found


def event_of(records: Iterable[Record]) -> dict[str, Any]:
    """The event with these records, in JSON as Lambda has it."""
    text = json.dumps({"Records": list(records)}, default=_as_json)
    event: dict[str, Any] = json.loads(text)
    return event


def receipt(record: Record) -> str:
    number: str = record["dynamodb"]["SequenceNumber"]
    return number


def _as_json(value: object) -> float:
    assert isinstance(value, datetime)
    return value.timestamp()
