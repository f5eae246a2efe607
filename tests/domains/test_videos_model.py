"""Video metadata: the article's table and item, its questions as they can work, and its counters."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from boto3.dynamodb.conditions import Key
from pydantic import ValidationError

from penstock import FrozenClock, Store, between, the
from penstock.domains.videos.model import DOMAIN, VIDEO_METADATA, Video, VideoStatus, expiry_after
from penstock.errors import Conflict, InvalidValue, NotFound, TooLarge

from .keys import assert_every_pattern_is_a_query, index_key_of, key_of, transitions

pytestmark = pytest.mark.every_engine

VIDEO_ID = UUID("a1b2c3d4-5678-40ef-a1b2-c3d4e5f60718")

# The article's example, with an id that is a UUID (F-VM-7) and its tags as the String Set it asks for.
ITEM: dict[str, Any] = {
    "videoId": str(VIDEO_ID),
    "userId": "user_789",
    "createdAt": 1717645200,
    "title": "Product Launch Demo",
    "duration": 354000,
    "resolutions": {
        "1080p": "s3://video-bucket/transcoded/a1b2c3d4/1080p.mp4",
        "720p": "s3://video-bucket/transcoded/a1b2c3d4/720p.m3u8",
    },
    "tags": {"product", "demo", "launch"},
}


def video(**fields: Any) -> Video:
    given: dict[str, Any] = {
        "video_id": VIDEO_ID,
        "user_id": "user_789",
        "created_at": 1717645200,
        "title": "Product Launch Demo",
        "duration": 354000,
    }
    return Video(**{**given, **fields})


def example() -> Video:
    return video(resolutions=ITEM["resolutions"], tags=ITEM["tags"])


# Layout


def test_the_table_is_the_articles() -> None:
    """VM-1, VM-3, VM-9, VM-21, F-VM-2, F-VM-3: keyed by videoId alone; a user's videos by the number createdAt."""
    place = VIDEO_METADATA.place
    assert (place.name, place.partition.name, place.partition.number, place.sort) == (
        "VideoMetadata",
        "videoId",
        False,
        None,
    )
    assert place.expiry == "expiryTime"
    index = place.indexes["UserIdIndex"]
    assert index.sort is not None
    assert (index.partition.name, index.sort.name, index.sort.number) == ("userId", "createdAt", True)
    assert place.feed


def test_the_keys_are_the_attributes_themselves() -> None:
    """VM-1, VM-3, VM-9."""
    assert key_of(video()) == (str(VIDEO_ID), None)
    assert index_key_of(video(), "UserIdIndex") == ("user_789", "1717645200")


def test_the_composite_key_exists_with_a_category_only() -> None:
    """VM-10, VM-12: userId#createdAt, escaped and padded so that it sorts as its parts do."""
    assert index_key_of(video(), "CategoryIndex") is None
    assert index_key_of(video(category="demo"), "CategoryIndex") == ("demo", "user_789#1717645200")
    assert index_key_of(video(category="demo", user_id="a#b", created_at=7), "CategoryIndex") == (
        "demo",
        "a%23b#0000000007",
    )


def test_the_attributes_have_the_articles_names() -> None:
    """VM-2, VM-4, VM-5, VM-6, VM-16, VM-18, VM-21: and duration is milliseconds, whole."""
    names = {f.attribute for f in Video.__shape__.fields.values()}
    assert names >= {
        *("videoId", "userId", "createdAt", "title", "duration", "fileSize", "format", "resolution", "status"),
        *("resolutions", "tags", "category", "viewCount", "version", "expiryTime"),
    }
    assert timedelta(milliseconds=video().duration) == timedelta(minutes=5, seconds=54)
    with pytest.raises(ValidationError):
        video(duration=-1)


@pytest.mark.parametrize("wrong", ["a1b2c3d4-5678-90ef-ghij-klmnopqrstuv", "1", "c232ab00-9414-11ec-b3c8-9f6bdeced846"])
def test_an_id_is_a_uuid_of_version_4(wrong: str) -> None:
    """VM-1, F-VM-7: the article's own example is refused."""
    with pytest.raises(ValidationError, match="video_id"):
        video(video_id=wrong)


def test_tags_are_a_set_that_is_not_empty() -> None:
    """VM-6: duplicates are one tag."""
    assert video(tags=["demo", "demo"]).tags == frozenset({"demo"})
    with pytest.raises(ValidationError):
        video(tags=[])


@pytest.mark.parametrize("wrong", ["https://cdn/1080p.mp4", "s3://", "s3://bucket", "s3://b/a?X-Amz-Signature=x", ""])
def test_renditions_are_paths_never_signed(wrong: str) -> None:
    """VM-5, F-X-9: s3://bucket/key as the article writes it, or a key."""
    assert video(resolutions={"a": "s3://bucket/a.mp4", "b": "b.mp4"}).resolutions
    with pytest.raises(ValidationError, match="S3 path must be an S3 key"):
        video(resolutions={"1080p": wrong})


def test_the_machine_is_exactly_this() -> None:
    """VM-2, F-VM-9: the article names a status and no values; these are ours."""
    assert transitions(Video) == {
        ("uploaded", "processing"),
        ("ready", "processing"),
        ("failed", "processing"),
        ("processing", "ready"),
        ("uploaded", "failed"),
        ("processing", "failed"),
    }
    ready = video(status=VideoStatus.PROCESSING)
    ready.finish(resolutions={"720p": "v/720p.mp4"}, thumbnail_s3_key="v/thumb.jpg")
    assert (ready.status, ready.thumbnail_s3_key) == ("ready", "v/thumb.jpg")
    with pytest.raises(InvalidValue):
        ready.status = VideoStatus.FAILED


def test_something_ephemeral_ends_in_a_day() -> None:
    """VM-21: now and 86400 seconds."""
    now = datetime(2037, 1, 1, tzinfo=UTC)
    assert expiry_after(now) == int(now.timestamp()) + 86400


# Questions


def test_no_pattern_scans() -> None:
    """VM-9: each reads one partition."""
    assert_every_pattern_is_a_query(DOMAIN)


def test_a_video_is_got_by_its_id(store: Store) -> None:
    """VM-5, VM-6, VM-8: with its map and its set."""
    store.create(example())
    assert store.get(Video.at(video_id=VIDEO_ID)) == example()
    with pytest.raises(NotFound):
        store.get(Video.at(video_id=uuid4()))


def test_a_users_videos_and_a_span_of_them(store: Store) -> None:
    """VM-9, VM-11, F-VM-2: by time, both ends included, other users apart."""
    moments = [1717644999, 1717645000, 1717645200, 1717645400, 1717645401]
    store.put_many([video(video_id=uuid4(), created_at=m) for m in moments])
    store.create(video(video_id=uuid4(), user_id="user_7"))

    def found(**asked: Any) -> list[int]:
        return [v.created_at for v in store.find(Video.by_user(user_id="user_789", **asked))]

    assert found() == moments
    assert found(created_at=between(1717645000, 1717645400)) == [1717645000, 1717645200, 1717645400]
    assert found(created_at=between(1717645201, 1717645399)) == []


def test_numbers_sort_as_numbers(store: Store) -> None:
    """VM-3: 9 comes before 10."""
    store.put_many([video(video_id=uuid4(), created_at=m) for m in (10, 9, 100)])
    assert [v.created_at for v in store.find(Video.by_user(user_id="user_789"))] == [9, 10, 100]


def test_the_composite_key_answers_the_same_span(store: Store) -> None:
    """VM-10, VM-12: a category, a user's share of it, and a span of time within that."""
    moments = [1717644999, 1717645000, 1717645200, 1717645400, 1717645401]
    store.put_many([video(video_id=uuid4(), created_at=m, category="demo") for m in moments])
    store.put_many([video(video_id=uuid4(), user_id="user_7", category="demo"), video(video_id=uuid4())])

    def found(**asked: Any) -> list[int]:
        return [v.created_at for v in store.find(Video.by_category(category="demo", **asked))]

    assert found(user_id="user_789", created_at=between(1717645000, 1717645400)) == moments[1:4]
    assert found(user_id="user_789") == moments
    assert len(found()) == 6


def test_a_category_given_later_is_found(store: Store) -> None:
    """VM-10: the sparse key follows the field, in and out."""
    store.create(video())
    ref = Video.at(video_id=VIDEO_ID)
    store.patch(ref, the(Video.category).set("demo"), given=store.get(ref))
    assert len(list(store.find(Video.by_category(category="demo")))) == 1
    store.patch(ref, the(Video.category).remove(), given=store.get(ref))
    assert list(store.find(Video.by_category(category="demo"))) == []


def test_views_are_counted_exactly(store: Store) -> None:
    """VM-16, VM-17, F-VM-4: from nothing, by many at once; each gets its new value.

    Views need not be exact when an answer is lost: a busy counter is one plain request that tells everyone its number.
    """
    store.create(video())
    ref = Video.at(video_id=VIDEO_ID)

    def watch(_: int) -> int:
        return store.patch(ref, the(Video.view_count).add(1), exact=False).view_count or 0

    assert watch(0) == 1
    with ThreadPoolExecutor(4) as viewers:
        assert sorted(viewers.map(watch, range(20))) == list(range(2, 22))
    assert store.get(ref).view_count == 21


def test_watching_makes_no_ghost(store: Store) -> None:
    """VM-17, F-VM-4: a video that is not there is not created by its viewers."""
    with pytest.raises(Conflict):
        store.patch(Video.at(video_id=VIDEO_ID), the(Video.view_count).add(1))
    assert store.lookup(Video.at(video_id=VIDEO_ID)) is None


def test_an_update_is_conditional_on_the_version(store: Store) -> None:
    """VM-18."""
    store.create(video(version=3))
    ref = Video.at(video_id=VIDEO_ID)
    store.patch(ref, the(Video.title).set("New"), the(Video.version).add(1), when=the(Video.version).equals(3))
    with pytest.raises(Conflict):
        store.patch(ref, the(Video.title).set("Newer"), the(Video.version).add(1), when=the(Video.version).equals(3))
    assert (store.get(ref).title, store.get(ref).version) == ("New", 4)


def test_an_end_set_later_keeps_the_rest_and_hides_it_in_time(store: Store, clock: FrozenClock) -> None:
    """VM-21, F-VM-5, F-X-2: an update, not a put; then invisible by get and by query."""
    store.create(example())
    ref = Video.at(video_id=VIDEO_ID)
    store.patch(ref, the(Video.expiry_time).set(expiry_after(clock.now())))
    assert store.get(ref).title == "Product Launch Demo"
    clock.advance(timedelta(seconds=86400))
    assert store.lookup(ref) is None
    assert list(store.find(Video.by_user(user_id="user_789"))) == []


def test_no_picture_fits_into_a_record(store: Store) -> None:
    """VM-7: 400 KB are refused before anything is sent, and there is no field for bytes."""
    with pytest.raises(TooLarge, match="400 KB"):
        store.create(video(title="x" * 410_000))
    assert bytes not in {f.python for f in Video.__shape__.fields.values()}


# The item itself


def test_the_example_item_round_trips(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """VM-2…VM-6: as the article has it; only the status is added."""
    raw_table("VideoMetadata").put_item(Item=ITEM)
    record = dynamo.get(Video.at(video_id=VIDEO_ID))
    assert record == example()
    dynamo.put(record)
    assert raw_table("VideoMetadata").scan()["Items"] == [{**ITEM, "status": "uploaded"}]


def test_the_articles_calls_work_on_what_penstock_wrote(dynamo: Store, raw_table: Callable[[str], Any]) -> None:
    """VM-8, VM-9, VM-11, VM-16: its own boto3 snippets, with the index named and the counter begun (F-VM-2…F-VM-4)."""
    dynamo.create(example())
    table = raw_table("VideoMetadata")
    assert table.get_item(Key={"videoId": str(VIDEO_ID)})["Item"]["title"] == "Product Launch Demo"
    by_user = table.query(
        IndexName="UserIdIndex",
        KeyConditionExpression="userId = :uid",
        ExpressionAttributeValues={":uid": "user_789"},
    )
    assert by_user["Count"] == 1
    span = Key("userId").eq("user_789") & Key("createdAt").between(1717645000, 1717645400)
    assert table.query(IndexName="UserIdIndex", KeyConditionExpression=span)["Count"] == 1
    ours = Video.by_user(user_id="user_789", created_at=between(1717645000, 1717645400))
    assert list(dynamo.find(ours)) == [example()], "as we ask"
    dynamo.patch(Video.at(video_id=VIDEO_ID), the(Video.view_count).add(1))
    counted = table.update_item(
        Key={"videoId": str(VIDEO_ID)},
        UpdateExpression="SET viewCount = viewCount + :inc",
        ExpressionAttributeValues={":inc": 1},
        ReturnValues="UPDATED_NEW",
    )
    assert counted["Attributes"] == {"viewCount": 2}
    assert dynamo.get(Video.at(video_id=VIDEO_ID)).view_count == 2
