"""A server that removes by itself what has come to its end: what follows is the same as of any removal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.domains.videos import DOMAIN
from penstock.domains.videos.model import Video, VideoTag
from penstock.domains.videos.video_event import EventCause, EventKind, VideoEvent
from penstock.domains.videos.video_library import VideoLibrary
from penstock.kernel.record_name import name_of
from penstock.objects import LocalObjects
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import Task, TaskStatus
from penstock.work.working import WORKING
from tests.conftest import _drop_tables, chosen_engines
from tests.domains.videos.story import feed_of, files
from tests.domains.videos.streams import engine_at, event_of, inserted, records_of
from tests.homes import dynamo_client
from tests.servers import DynamoDBLocal, require

PREFIX = "expiring_"
TABLE = f"{PREFIX}VideoMetadata"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("dynamodb-local" not in chosen_engines(), reason="DynamoDB Local is not chosen"),
]


@pytest.fixture
def server() -> Iterator[DynamoDBLocal]:
    """One of its own: it looks at one table after the other, and the tests' server has hundreds."""
    with require(DynamoDBLocal()) as server:
        yield server


@pytest.fixture
def expiring(server: DynamoDBLocal, local: LocalObjects, clock: FrozenClock) -> Iterator[VideoLibrary]:
    """A library by the wall clock, as the server has no other."""
    clock.set(datetime.now(UTC))
    store = Store(engine_at(server.url, PREFIX), clock=clock, secret=b"x", own=SYSTEM_RECORDS)
    store.ensure(DOMAIN, WORKING)
    yield VideoLibrary(store, local)
    store.close()
    _drop_tables(server.url, PREFIX)


def removed(url: str, videos: list[Video]) -> list[dict[str, Any]]:
    """The records of the stream, once the server has removed these: it looks every ten seconds."""
    patience = time.monotonic() + 90
    while time.monotonic() < patience:
        records = records_of(url, TABLE)
        gone = {r["dynamodb"]["Keys"]["videoId"]["S"] for r in records if "NewImage" not in r["dynamodb"]}
        if gone >= {str(video.video_id) for video in videos}:
            return records
        time.sleep(0.25)
    raise AssertionError("the server has not removed what has come to its end")


def test_what_the_server_removes_at_its_end_leaves_nothing(
    expiring: VideoLibrary, server: DynamoDBLocal, clock: FrozenClock
) -> None:
    """VM-20, VM-22, VM-23, F-VM-6: hidden at once, removed later by the database; files, tags and work go with it."""
    url, library = server.url, expiring
    end = int(clock.now().timestamp()) + 15
    # With a category: this server leaves alone what is not in each index of its table.
    ending = {"tags": ["short"], "category": "demo", "expiry_time": end}
    by_function, by_feed = (inserted(library, **ending) for _ in range(2))
    stays = inserted(library, tags=["short"])
    feed = feed_of(library)
    feed.drain()
    clock.advance(timedelta(seconds=16))
    for video in (by_function, by_feed):
        assert library.store.lookup(video.ref) is None
    records = removed(url, [by_function, by_feed])

    told = [r for r in records if str(by_function.video_id) == r["dynamodb"]["Keys"]["videoId"]["S"]]
    assert feed.pushed().take(event_of(told)) == []
    assert not [key for key in files(library) if str(by_function.video_id) in key]
    feed.drain()
    assert {key.split("/")[1] for key in files(library)} == {str(stays.video_id)}
    assert [each.video_id for each in library.store.find(VideoTag.of_tag(tag="short"))] == [stays.video_id]
    left = dynamo_client(url).scan(TableName=f"{PREFIX}VideoTags")["Items"]
    assert [item["dateVideo"]["S"].partition("#")[2] for item in left] == [str(stays.video_id)]
    for video in (by_function, by_feed):
        tasks = list(library.store.find(Task.of_record(about=name_of(video.ref))))
        assert {task.status for task in tasks} == {TaskStatus.CANCELLED}
        lines = library.store.find(VideoEvent.of_video(video_id=video.video_id))
        assert [(e.kind, e.cause) for e in lines] == [
            (EventKind.REMOVE, EventCause.EXPIRY),
            (EventKind.INSERT, EventCause.USER),
        ]
    assert list(feed.letters()) == []
