"""Lambda's events: the records of a real stream, brought twice, late, in any order and with poison among them."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import FrozenClock, Store, the
from penstock.domains.videos import DOMAIN, PLUGIN, lambda_handler, video_removal
from penstock.domains.videos.model import Video, VideoTag
from penstock.domains.videos.video_event import VideoEvent
from penstock.domains.videos.video_library import VideoLibrary
from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.stream_event import deliveries_of
from penstock.errors import OBJECTS, InvalidValue, Misconfigured, Unavailable
from penstock.events.feed import Feed
from penstock.events.feed_records import FeedLetter
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim
from penstock.kernel.record_name import name_of
from penstock.objects import LocalObjects
from penstock.operations.feed_entry import FeedEntry
from penstock.plugin import delivery_function
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import Task, TaskStatus
from penstock.work.working import WORKING
from tests.domains.videos.story import feed_of, files, settle
from tests.domains.videos.streams import Record, engine_at, event_of, inserted, receipt, records_of
from tests.homes import dynamo_access, dynamo_client
from tests.servers import Dynoxide


def brought(library: VideoLibrary, records: list[Record]) -> list[str]:
    """What is to be brought again."""
    return feed_of(library).pushed().take(event_of(records))


def work_on(library: VideoLibrary, video: Video | UUID) -> list[str]:
    ref = Video.at(video_id=video) if isinstance(video, UUID) else video.ref
    return sorted(task.name for task in library.store.find(Task.of_record(about=name_of(ref))))


def letters(library: VideoLibrary) -> list[FeedLetter]:
    return list(library.store.find(FeedLetter.of_feed(name="videos")))


BOTH = ["videos.make_thumbnails", "videos.transcode"]


def test_an_insert_begins_the_work_once_however_often_it_is_brought(streamed: VideoLibrary, read: Any) -> None:
    """VM-19, F-VM-6: typed JSON images of a real stream; a repetition is recognised by its sequence number."""
    video = inserted(streamed)
    records = read()
    for times in (1, 2, 3):
        assert brought(streamed, records * times) == []
    assert feed_of(streamed).pushed().take({"Records": records}) == [], "also with boto3's own values in it"
    feed_of(streamed).drain()
    assert work_on(streamed, video) == BOTH, "nor does the feed do again what the function has done"
    assert [e.kind for e in streamed.store.find(VideoEvent.of_video(video_id=video.video_id))] == ["insert"]


def test_neither_a_change_nor_a_removal_nor_a_put_over_a_video_begins_work(
    streamed: VideoLibrary, read: Any, table: Any, name: str
) -> None:
    """VM-19, F-VM-6: a put over an existing id is MODIFY."""
    video = inserted(streamed)
    streamed.store.patch(video.ref, the(Video.thumbnail_s3_key).set(video.source_s3_key or ""))
    item = table.get_item(TableName=name, Key={"videoId": {"S": str(video.video_id)}})["Item"]
    table.put_item(TableName=name, Item={**item, "title": {"S": "another"}})
    records = read()
    assert [r["eventName"] for r in records] == ["INSERT", "MODIFY", "MODIFY"]
    assert brought(streamed, records[1:]) == []
    assert work_on(streamed, video) == []
    video_removal.delete_video(streamed, video.video_id, by="ann")
    assert brought(streamed, read()[3:]) == []
    assert work_on(streamed, video) == []


def test_an_insert_that_is_heard_of_after_the_removal_begins_nothing(streamed: VideoLibrary, read: Any) -> None:
    """F-VM-6: out of order."""
    video = inserted(streamed, tags=["a", "b"])
    video_removal.delete_video(streamed, video.video_id, by="ann")
    assert brought(streamed, list(reversed(read()))) == []
    assert work_on(streamed, video) == []
    assert files(streamed) == []
    assert list(streamed.store.find(VideoTag.of_tag(tag="a"))) == []


def test_poison_goes_to_the_letters_after_its_tries_and_blocks_nothing(
    streamed: VideoLibrary, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-VM-6: bounded tries, then a dead letter; what is brought again with it happens once."""
    poison, sound = inserted(streamed, title="poison"), inserted(streamed)
    records, real = read(), Change.commit

    def spoilt(change: Change) -> None:
        if any(getattr(w, "values", {}).get("input") == {"video_id": str(poison.video_id)} for w in change._writes):
            raise ValueError("it cannot be done")
        real(change)

    monkeypatch.setattr(Change, "commit", spoilt)
    for _ in range(4):
        assert brought(streamed, records) == [receipt(records[0])]
        assert work_on(streamed, sound) == BOTH
    assert letters(streamed) == []
    assert brought(streamed, records) == []
    assert brought(streamed, records) == [], "brought again, it is not tried again"
    (letter,) = letters(streamed)
    assert (letter.handler, letter.subject) == ("begin_work", {"video_id": str(poison.video_id)})
    assert work_on(streamed, poison) == []
    monkeypatch.setattr(Change, "commit", real)
    feed_of(streamed).retry(letter)
    assert work_on(streamed, poison) == BOTH
    kinds = [e.kind for e in streamed.store.find(VideoEvent.of_video(video_id=poison.video_id))]
    assert kinds == ["insert"], "its audit had no part in that"


def test_what_nobody_can_read_is_in_the_letters_at_once(
    streamed: VideoLibrary, read: Any, table: Any, name: str
) -> None:
    """F-VM-5, F-VM-6, F-VM-7: an item without its attributes, one whose id is none, and what is no record at all."""
    wiped, sound = str(uuid4()), inserted(streamed)
    table.put_item(TableName=name, Item={"videoId": {"S": wiped}, "expiryTime": {"N": "4102444800"}})
    table.put_item(TableName=name, Item={"videoId": {"S": "9a1b-ghij-klmnopqrstuv"}})
    records = read()
    strange: list[Any] = [
        *({}, None, 7, "INSERT", {"eventName": "INSERT"}, {"eventName": "INSERT", "dynamodb": {}}),
        {"eventName": "INSERT", "dynamodb": {"Keys": {"videoId": 1}, "SequenceNumber": "901"}},
        {"eventName": "INSERT", "dynamodb": {"Keys": {"videoId": {"S": "x"}}, "SequenceNumber": "902", "NewImage": []}},
        {"eventName": "?", "dynamodb": {"Keys": {"videoId": {"S": wiped}}, "SequenceNumber": "903"}},
    ]
    for _ in range(2):
        assert brought(streamed, [*strange, *reversed(records)]) == []
    assert work_on(streamed, sound) == BOTH
    told = letters(streamed)
    assert len([letter for letter in told if letter.kind == "unreadable"]) == len(strange)
    assert {letter.handler for letter in told if letter.kind == "insert"} == {"begin_work", "audit"}
    assert [letter.subject for letter in told if letter.handler == "begin_work"] == [{}, {"video_id": wiped}]
    feed = feed_of(streamed)
    for letter in told:
        if not letter.subject:
            feed.retry(letter)  # there is nothing to be tried
    assert {str(letter.subject) for letter in feed.letters()} == {str({"video_id": wiped})}


@pytest.mark.parametrize("when", ["before it has written anything", "after its commit"])
def test_a_function_that_is_killed_is_taken_over_and_the_work_begins_once(
    streamed: VideoLibrary, read: Any, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """F-VM-6: killed in between; the event is brought again."""
    video = inserted(streamed)
    records, real = read(), Change.commit

    class Killed(BaseException):
        pass

    def dying(change: Change) -> None:
        if when == "after its commit":
            real(change)
        raise Killed

    monkeypatch.setattr(Change, "commit", dying)
    with pytest.raises(Killed):
        brought(streamed, records)
    monkeypatch.setattr(Change, "commit", real)
    soon = brought(streamed, records)
    assert soon == ([receipt(records[0])] if when.startswith("before") else [])
    clock.advance(timedelta(minutes=5))
    assert brought(streamed, records) == []
    assert work_on(streamed, video) == BOTH
    assert letters(streamed) == []


def test_what_follows_about_the_same_record_waits_for_what_failed(streamed: VideoLibrary, read: Any) -> None:
    first, other = inserted(streamed), inserted(streamed)
    streamed.store.patch(first.ref, the(Video.title).set("b"))
    feed = Feed(streamed.store, "in-order", owner="a")
    heard: list[tuple[str, str]] = []
    broken = True

    @feed.on(Video, "insert", "update")
    def hear(entry: FeedEntry, claim: Claim) -> None:
        if broken and entry.new.video_id == first.video_id:
            raise ValueError("not yet")
        heard.append((entry.kind, entry.new.title))

    records = read()
    again = feed.pushed().take(event_of(records))
    assert again == [receipt(r) for r in records if r["dynamodb"]["Keys"]["videoId"]["S"] == str(first.video_id)]
    assert heard == [("insert", "t")], "and nothing else does"
    broken = False
    assert feed.pushed().take(event_of(records)) == []
    assert heard == [("insert", "t"), ("insert", "t"), ("update", "b")]
    assert other.title == "t"


def test_a_part_that_is_away_costs_no_try_and_a_store_that_is_ends_the_round(
    streamed: VideoLibrary, read: Any, clock: FrozenClock, prefix: str
) -> None:
    inserted(streamed)
    inserted(streamed)
    feed = Feed(streamed.store, "patient", owner="a", attempts=2)
    away = True

    @feed.on(Video, "insert")
    def need(entry: FeedEntry, claim: Claim) -> None:
        if away:
            raise Unavailable("nobody answers", part=OBJECTS)

    records = read()
    for _ in range(4):
        assert feed.pushed().take(event_of(records)) == [receipt(r) for r in records]
    away = False
    assert feed.pushed().take(event_of(records)) == []
    assert list(feed.letters()) == []

    gone = Store(engine_at("http://127.0.0.1:9", prefix, sleep=lambda seconds: None), clock=clock)
    feed = Feed(gone, "patient", owner="a")
    feed.on(Video, "insert")(need)
    assert feed.pushed().take(event_of(records)) == [receipt(r) for r in records]


def test_an_event_of_another_table_and_what_is_no_event_are_refused(
    streamed: VideoLibrary, library: VideoLibrary, read: Any, name: str
) -> None:
    inserted(streamed)
    others = [{**r, "eventSourceARN": r["eventSourceARN"].replace(name, "SomebodyElses")} for r in read()]
    with pytest.raises(Misconfigured, match="of the table SomebodyElses"):
        brought(streamed, others)
    nothing: list[Any] = [{}, {"Records": None}, {"detail": {}}, []]
    for event in nothing:
        with pytest.raises(InvalidValue, match="no event of a stream"):
            feed_of(streamed).pushed().take(event)
    with pytest.raises(Misconfigured, match="brings no changes"):
        feed_of(library).pushed().take(event_of(read()))


def test_a_removal_by_somebody_takes_files_tags_and_work(
    streamed: VideoLibrary, read: Any, table: Any, name: str
) -> None:
    """VM-20: also by one who knows nothing but the table."""
    video = inserted(streamed, tags=["launch"])
    assert brought(streamed, read()) == []
    table.delete_item(TableName=name, Key={"videoId": {"S": str(video.video_id)}})
    assert brought(streamed, read()) == []
    assert files(streamed) == []
    assert list(streamed.store.find(VideoTag.of_tag(tag="launch"))) == []
    tasks = streamed.store.find(Task.of_record(about=name_of(video.ref)))
    assert {task.status for task in tasks} == {TaskStatus.CANCELLED}
    settle(streamed)
    assert files(streamed) == []


def test_a_function_on_a_store_without_streams_says_which_it_needs(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_STORE", f"sqlite:///{tmp_path}/vm.db")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misconfigured, match=r"the store is sqlite, .*PENSTOCK_STORE .*dynamodb://"):
        delivery_function(PLUGIN)({"Records": []}, object())


def test_lambda_calls_the_function_with_nothing_but_an_environment(
    dynoxide_server: Dynoxide, tmp_path: Any, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VM-20: penstock.domains.videos.lambda_handler, as a deployment names it, with partial-batch answers."""
    url = dynoxide_server.url
    access = dynamo_access(url)
    monkeypatch.setenv("PENSTOCK_STORE", f"dynamodb://us-east-1?endpoint={url}")
    monkeypatch.setenv("PENSTOCK_OBJECTS", f"files:///{tmp_path}/files")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", access["aws_access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", access["aws_secret_access_key"])
    monkeypatch.chdir(tmp_path)
    engine = DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test")
    store = Store(engine, own=SYSTEM_RECORDS)
    steps = store.ensure(DOMAIN, WORKING)
    try:
        library = VideoLibrary(store, LocalObjects(tmp_path / "files"))
        video = inserted(library)
        event = event_of(records_of(url, "VideoMetadata"))
        assert lambda_handler(event, object()) == {"batchItemFailures": []}
        assert work_on(library, video) == BOTH
    finally:
        for step in steps:
            if step.kind == "create table":
                dynamo_client(url).delete_table(TableName=step.name)
        store.close()


DEEP: dict[str, Any] = {"N": "1"}
for _ in range(2000):
    DEEP = {"L": [DEEP]}
POISON: list[dict[str, Any]] = [
    *({"viewCount": {"N": text}} for text in ("", "abc", "NaN", "1e300000", "-1e99999", "9" * 100_000)),
    *({"found": {"M": {"x": value}}} for value in ({"N": ""}, {"N": "1e300000"}, {"NS": ["x"]}, DEEP)),
    {"duration": {"N": None}},
    {"tags": None},
]


@pytest.mark.parametrize("images", [("NewImage",), ("OldImage",), ("NewImage", "OldImage")], ids=" ".join)
def test_no_value_of_a_record_keeps_the_others_of_its_batch_from_being_read(images: tuple[str, ...]) -> None:
    """F-VM-6: whatever stands where a number should; and none takes longer than it is long."""
    key = {"videoId": {"S": str(uuid4())}}
    video = {**key, "userId": {"S": "ann"}, "createdAt": {"N": "1717645200"}, "title": {"S": "Launch"}}
    video |= {"duration": {"N": "1"}, "status": {"S": "ready"}}

    def record(**poison: Any) -> dict[str, Any]:
        change: dict[str, Any] = {
            "Keys": key,
            "NewImage": video,
            "OldImage": {**video, "title": {"S": "Demo"}},
            "SequenceNumber": "7",
        }
        change |= {image: {**change[image], **poison} for image in images if poison}
        return {"eventName": "MODIFY", "dynamodb": change}

    begun = time.process_time()
    told = deliveries_of(
        [ItemType(Video.__shape__, "VideoMetadata")], {"Records": [*(record(**p) for p in POISON), record()]}
    )
    assert time.process_time() - begun < 5
    assert len(told) == len(POISON) + 1
    assert all(each.trouble or each.entry for each in told)
    last = told[-1].entry
    assert last is not None
    assert last.kind == "update"
