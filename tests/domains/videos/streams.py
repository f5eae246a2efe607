"""Videos in a table with a stream, and what a Lambda function gets: events made of records read from it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any
from uuid import uuid4

from penstock.domains.videos.model import Video
from penstock.domains.videos.tagging import tag
from penstock.domains.videos.video_library import VideoLibrary
from penstock.engines.dynamodb import DynamoEngine
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


def engine_at(url: str, prefix: str, **more: Any) -> DynamoEngine:
    return DynamoEngine(endpoint=url, region="us-east-1", access_key="t", secret_key="t", table_prefix=prefix, **more)


def inserted(library: VideoLibrary, **said: Any) -> Video:
    """A video as its inspection leaves it, with its file."""
    video_id = uuid4()
    source = f"videos/{video_id}/source/film.mp4"
    video = Video.model_validate(
        {
            "video_id": video_id,
            "user_id": "u",
            "created_at": int(library.store.clock.now().timestamp()),
            "title": "t",
            "duration": 1000,
            "folder": f"videos/{video_id}/",
            "source_s3_key": source,
            **said,
        }
    )
    library.objects.put(source, b"a film")
    with library.store.change() as change:
        change.create(video)
        tag(change, video)
    return video
