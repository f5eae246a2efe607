"""The feed from DynamoDB Streams: order of shards, causes, and positions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from penstock import Entity, Table, key
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.queries import explained
from penstock.engines.dynamodb.stream_feed import decode_position, encode_position, parents_first
from penstock.errors import InvalidCursor, Misconfigured
from penstock.kernel.handle import put
from penstock.schema.shape import EntityShape
from tests.engines.dynamodb.entities import PROJECT, Audio, Reel, Step, audio, reel
from tests.engines.dynamodb.scripted import Answer, Scripted, refusal

REEL = ItemType(Reel.__shape__, "Reels")
AUDIO = ItemType(Audio.__shape__, "Audio")


def stored(record: Reel) -> dict[str, Any]:
    return explained(REEL.encode.item(put(record).values))


def change(number: int, old: Reel | None, new: Reel | None, **more: Any) -> dict[str, Any]:
    image = stored(new or old or reel())
    said: dict[str, Any] = {"Keys": {"PK": image["PK"], "SK": image["SK"]}, "SequenceNumber": f"{number:021d}"}
    if old is not None:
        said["OldImage"] = stored(old)
    if new is not None:
        said["NewImage"] = stored(new)
    kind = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
    return {"eventName": kind, "dynamodb": said, **more}


class Stream:
    """A stream of two shards: a closed one, and its open child, listed first."""

    def __init__(self, parent: list[dict[str, Any]], child: list[dict[str, Any]]) -> None:
        self.records = {"shard-z-parent": parent, "shard-a-child": child}
        self.trimmed = False

    def __call__(self, operation: str, request: dict[str, Any]) -> Answer:
        return getattr(self, operation)(request)  # type: ignore[no-any-return]

    def DescribeTable(self, request: dict[str, Any]) -> Answer:
        return {"Table": {"LatestStreamArn": "arn"}}

    def DescribeStream(self, request: dict[str, Any]) -> Answer:
        if "ExclusiveStartShardId" not in request:
            child = {"ShardId": "shard-a-child", "ParentShardId": "shard-z-parent"}
            return {"StreamDescription": {"Shards": [child], "LastEvaluatedShardId": "shard-a-child"}}
        parent = {"ShardId": "shard-z-parent", "SequenceNumberRange": {"EndingSequenceNumber": "9"}}
        return {"StreamDescription": {"Shards": [parent]}}

    def GetShardIterator(self, request: dict[str, Any]) -> Answer:
        last = request.get("SequenceNumber", "")
        if last and self.trimmed:
            return refusal("TrimmedDataAccessException")
        return {"ShardIterator": f"{request['ShardId']}|{last}"}

    def GetRecords(self, request: dict[str, Any]) -> Answer:
        shard, last = request["ShardIterator"].split("|")
        following = [r for r in self.records[shard] if r["dynamodb"]["SequenceNumber"] > last][:2]
        if not following:
            return {"Records": []} | ({} if "parent" in shard else {"NextShardIterator": f"{shard}|{last}~"})
        return {"Records": following, "NextShardIterator": f"{shard}|{following[-1]['dynamodb']['SequenceNumber']}"}


def told(stream: Stream, *, limit: int = 100, after: str | None = None) -> list[Any]:
    return Scripted(otherwise=stream).engine().changes([Reel.__shape__], after=after, limit=limit)


HISTORY = [
    change(1, None, reel(prompt="a")),
    change(2, reel(prompt="a"), reel(prompt="b")),
    change(3, reel(prompt="b"), reel(prompt="b")),
]
LATER = [
    change(4, reel(prompt="b"), None, userIdentity={"type": "Service", "principalId": "dynamodb.amazonaws.com"}),
]


def test_a_parent_is_read_before_its_child_and_what_changes_nothing_is_left_out() -> None:
    entries = told(Stream(HISTORY, LATER))
    assert [(e.kind, e.cause) for e in entries] == [("insert", "user"), ("update", "user"), ("remove", "expiry")]
    assert [e.old and e.old.prompt for e in entries] == [None, "a", "b"]
    assert [e.new and e.new.prompt for e in entries] == ["a", "b", None]


def test_a_closed_shard_is_read_to_its_end_however_often_it_answers_with_nothing() -> None:
    """DynamoDB answers so where much was forgotten; whoever went on to the child would tell that out of order."""

    class Sparse(Stream):
        def GetRecords(self, request: dict[str, Any]) -> Answer:
            shard, last = request["ShardIterator"].split("|")
            if "parent" in shard and last.count("~") < 20:
                return {"Records": [], "NextShardIterator": f"{shard}|{last}~"}
            return super().GetRecords({"ShardIterator": f"{shard}|{last.strip('~')}"})

    assert [e.kind for e in told(Sparse(HISTORY, LATER))] == ["insert", "update", "remove"]


def test_an_open_shard_is_read_until_it_has_answered_with_nothing_three_times_in_a_row() -> None:
    class Hesitant(Stream):
        answers = [[], [], HISTORY[:1], [], [], HISTORY[1:2], [], [], [], LATER]

        def GetRecords(self, request: dict[str, Any]) -> Answer:
            if "parent" in request["ShardIterator"]:
                return {"Records": []}
            return {"Records": self.answers.pop(0), "NextShardIterator": f"shard-a-child|{len(self.answers)}"}

    stream = Hesitant([], [])
    assert [e.kind for e in told(stream)] == ["insert", "update"]
    assert stream.answers == [LATER], "it is asked no more"


def test_a_shard_that_goes_on_answering_from_its_end_is_at_its_end() -> None:
    class Endless(Stream):
        def GetRecords(self, request: dict[str, Any]) -> Answer:
            found = super().GetRecords(request)
            return {"NextShardIterator": request["ShardIterator"], **found} if isinstance(found, dict) else found

    assert [e.kind for e in told(Endless(HISTORY, LATER))] == ["insert", "update", "remove"]


def test_a_position_forgets_shards_that_are_gone() -> None:
    gone = encode_position({"Reels": {"shard-old": "1", "shard-older": "1"}})
    found = Scripted(otherwise=Stream(HISTORY, LATER)).engine().changes([Reel.__shape__], after=gone)
    assert decode_position(found.position)["Reels"].keys() == {"shard-z-parent", "shard-a-child"}


def test_the_feed_goes_on_behind_any_entry() -> None:
    every = [e.kind for e in told(Stream(HISTORY, LATER))]
    read: list[Any] = []
    while part := told(Stream(HISTORY, LATER), limit=1, after=read[-1].position if read else None):
        read += part
    assert [e.kind for e in read] == every


def test_a_slice_goes_on_behind_all_that_it_has_read() -> None:
    engine = Scripted(otherwise=Stream(HISTORY, LATER)).engine()
    first = engine.changes([Reel.__shape__], limit=2)
    assert ([e.kind for e in first], first.position) == (["insert", "update"], first[-1].position)
    rest = engine.changes([Reel.__shape__], after=first.position)
    assert [e.kind for e in rest] == ["remove"]
    assert engine.feed_end([Reel.__shape__]) == rest.position
    assert engine.feed_end([Reel.__shape__], after=first.position) == rest.position
    silent = Scripted(otherwise=Stream(HISTORY[2:], [])).engine().changes([Reel.__shape__])
    assert list(silent) == []
    assert silent.position is not None, "what tells nothing is not read again"


def test_where_nothing_was_changed_a_position_stays() -> None:
    engine = Scripted(otherwise=Stream([], [])).engine()
    for after in (None, encode_position({"Reels": {}})):
        assert engine.changes([Reel.__shape__], after=after).position == after
        assert engine.feed_end([Reel.__shape__], after=after) == after


def test_every_table_is_read() -> None:
    image = explained(AUDIO.encode.item(audio().__dict__))
    said = {"Keys": {n: image[n] for n in ("date", "audio_id")}, "SequenceNumber": "7", "NewImage": image}
    streams = {"Reels": Stream(HISTORY, LATER), "Audio": Stream([{"eventName": "INSERT", "dynamodb": said}], [])}

    def answer(operation: str, request: dict[str, Any]) -> Answer:
        if operation == "DescribeTable":
            return {"Table": {"LatestStreamArn": request["TableName"]}}
        name, _, rest = (request.get("StreamArn") or request["ShardIterator"]).partition("!")
        found = streams[name](operation, request | {"ShardIterator": rest})
        if isinstance(found, dict):
            found |= {n: f"{name}!{found[n]}" for n in ("ShardIterator", "NextShardIterator") if n in found}
        return found

    shapes = [Reel.__shape__, Audio.__shape__]
    engine = Scripted(otherwise=answer).engine()
    read = engine.changes(shapes)
    assert [e.shape.label for e in read] == [Reel.__shape__.label] * 3 + [Audio.__shape__.label]
    assert engine.feed_end(shapes) == read.position
    assert list(engine.changes(shapes, after=read.position)) == []


def test_a_table_that_is_not_there_is_told_and_one_without_a_stream_tells_nothing() -> None:
    with pytest.raises(Misconfigured, match="table Reels does not exist; run `penstock tables apply`"):
        Scripted(refusal("ResourceNotFoundException")).engine().changes([Reel.__shape__])
    assert list(Scripted({"Table": {}}).engine().changes([Reel.__shape__])) == []


def test_another_error_than_that_nothing_is_kept_is_told() -> None:
    stream = Stream(HISTORY, LATER)
    first = told(stream, limit=1)[0]
    engine = Scripted(
        otherwise=lambda o, r: refusal("AccessDeniedException") if "SequenceNumber" in r else stream(o, r)
    ).engine()
    with pytest.raises(Misconfigured, match="credentials"):
        engine.changes([Reel.__shape__], after=first.position)


def test_what_is_kept_no_longer_is_skipped() -> None:
    stream = Stream(HISTORY, LATER)
    first = told(stream, limit=1)[0]
    stream.trimmed = True
    assert [e.kind for e in told(stream, after=first.position)] == ["insert", "update", "remove"]


def test_a_write_that_changes_nothing_is_no_change() -> None:
    assert told(Stream([change(1, reel(), reel())], [])) == []


def test_a_record_without_a_word_for_its_kind_is_told_by_its_images() -> None:
    """VM-23: DynamoDB Local has none for what it removes at its end."""
    nameless = [{**each, "eventName": "UNKNOWN_TO_SDK_VERSION"} for each in [*HISTORY, change(4, reel(), None)]]
    assert [(e.kind, e.cause) for e in told(Stream(nameless, []))] == [
        ("insert", "user"),
        ("update", "user"),
        ("remove", "user"),
    ]


@pytest.mark.parametrize(
    ("kind", "ttl", "stays", "cause"),
    [
        ("UNKNOWN_TO_SDK_VERSION", 1000, False, "expiry"),
        ("UNKNOWN_TO_SDK_VERSION", 1001, False, "user"),
        ("UNKNOWN_TO_SDK_VERSION", None, False, "user"),
        ("UNKNOWN_TO_SDK_VERSION", 1, True, "user"),
        ("REMOVE", 1, False, "user"),
    ],
)
def test_only_what_is_removed_at_its_end_without_a_word_has_expired(
    monkeypatch: pytest.MonkeyPatch, kind: str, ttl: int | None, stays: bool, cause: str
) -> None:
    class Then(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.fromtimestamp(1000, tz)

    monkeypatch.setattr("penstock.engines.dynamodb.stream_record.datetime", Then)
    image = explained(AUDIO.encode.item(audio(ttl=ttl).__dict__))
    said = {"Keys": {n: image[n] for n in ("date", "audio_id")}, "SequenceNumber": "1", "OldImage": image}
    if stays:
        said["NewImage"] = image | {"text": {"S": "another"}}
    stream = Stream([{"eventName": kind, "dynamodb": said}], [])
    (entry,) = Scripted(otherwise=stream).engine().changes([Audio.__shape__])
    assert (entry.kind, entry.cause) == ("update" if stays else "remove", cause)


def test_a_removal_by_another_service_is_no_expiry() -> None:
    record = change(1, reel(), None, userIdentity={"type": "Service", "principalId": "replication.dynamodb"})
    assert [e.cause for e in told(Stream([record], []))] == ["user"]


@pytest.mark.parametrize("told_as", [1717645200, 1717645200.0, "2024-06-06T03:40:00+00:00", "once", None, 1e300])
def test_an_entry_tells_when_it_was_committed(told_as: object) -> None:
    record = change(1, None, reel())
    record["dynamodb"]["ApproximateCreationDateTime"] = told_as
    known = told_as not in ("once", None, 1e300)
    assert [e.at for e in told(Stream([record], []))] == [datetime(2024, 6, 6, 3, 40, tzinfo=UTC) if known else None]


def test_an_entry_has_its_key_though_no_image_was_kept() -> None:
    record = change(1, reel(), None)
    del record["dynamodb"]["OldImage"]
    (entry,) = told(Stream([record], []))
    assert (entry.kind, entry.key, entry.old) == ("remove", {"project_id": PROJECT, "sequence": 1}, None)


def test_what_another_program_keeps_in_the_table_is_not_told() -> None:
    inserted, removed = change(1, None, reel()), change(2, reel(), None)
    inserted["dynamodb"]["NewImage"]["entityType"] = removed["dynamodb"]["OldImage"]["entityType"] = {"S": "other"}
    changed = change(3, reel(), reel(prompt="new"))
    changed["dynamodb"]["Keys"]["SK"] = {"S": "SOMETHING#ELSE"}
    assert told(Stream([inserted, removed, changed], [])) == []


def test_in_a_table_of_one_entity_what_has_no_key_of_it_is_told_as_damaged() -> None:
    image = explained(AUDIO.encode.item(audio().__dict__)) | {"date": {"S": "some day"}}
    said = {"Keys": {n: image[n] for n in ("date", "audio_id")}, "SequenceNumber": "1", "NewImage": image}
    gone = {n: said[n] for n in ("Keys", "SequenceNumber")}
    records = [{"eventName": "INSERT", "dynamodb": said}, {"eventName": "REMOVE", "dynamodb": gone}]
    entries = Scripted(otherwise=Stream(records, [])).engine().changes([Audio.__shape__])
    assert [(e.kind, dict(e.key), len(e.unreadable)) for e in entries] == [("insert", {}, 1), ("remove", {}, 0)]


class Pin(Entity, table=Table("Pins", partition="id", tag="kind")):
    id: str

    @key("{id}")
    def at(self, *, id: str) -> None: ...


@pytest.mark.parametrize(
    ("shape", "keys", "image"),
    [
        (Pin.__shape__, {"id": {"S": "a"}}, {"kind": {"S": "needle"}}),
        (Step.__shape__, {"PK": {"S": "JOB#j"}, "SK": {"S": "SUMMARY"}}, {}),
    ],
)
def test_where_others_can_be_what_is_not_the_entity_s_is_not_told(
    shape: EntityShape, keys: dict[str, Any], image: dict[str, Any]
) -> None:
    record = {"eventName": "INSERT", "dynamodb": {"Keys": keys, "SequenceNumber": "1", "NewImage": keys | image}}
    assert list(Scripted(otherwise=Stream([record], [])).engine().changes([shape])) == []


@pytest.mark.parametrize("image", ["OldImage", "NewImage"])
def test_a_change_of_what_cannot_be_read_is_told_as_damaged(image: str) -> None:
    record = change(1, reel(), reel())
    record["dynamodb"][image]["seconds"] = {"N": "a while"}
    (entry,) = told(Stream([record], []))
    assert (entry.kind, len(entry.unreadable)) == ("update", 1)


def test_a_change_without_word_and_image_is_told_as_one_that_cannot_be_read() -> None:
    record = change(1, reel(), None) | {"eventName": "UNKNOWN_TO_SDK_VERSION"}
    del record["dynamodb"]["OldImage"]
    (brought,) = Scripted().engine().delivered([Reel.__shape__], {"Records": [record]})
    assert (brought.entry, brought.trouble) == (None, "a record of the stream cannot be read: ValueError")


def test_shards_are_ordered_by_descent() -> None:
    shards = msgspec.convert(
        [
            {"ShardId": "a", "ParentShardId": "c"},
            {"ShardId": "b", "ParentShardId": "gone"},
            {"ShardId": "c", "ParentShardId": "d"},
            {"ShardId": "d"},
        ],
        list[Any],
    )
    from penstock.engines.dynamodb.stream_feed import _Shard

    order = parents_first([msgspec.convert(s, _Shard) for s in shards])
    assert sorted(order) == ["a", "b", "c", "d"]
    assert order.index("d") < order.index("c") < order.index("a")


def test_a_position_survives_its_text() -> None:
    assert decode_position(encode_position({"t": {"s": "1"}})) == {"t": {"s": "1"}}
    with pytest.raises(InvalidCursor):
        decode_position("nonsense!")
