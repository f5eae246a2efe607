"""Tables are made while others make them too, and DynamoDB takes its time for each change."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Entity, IndexKey, Table, key
from penstock.engines.dynamodb.table_setup import create_table
from penstock.engines.dynamodb.wire import Unconfigured, Unreachable
from penstock.errors import InvalidValue, Misconfigured, Unavailable
from penstock.operations.leftover import Leftover, LeftoverKind
from penstock.schema.shape import EntityShape
from tests.engines.dynamodb.entities import Audio, Reel
from tests.engines.dynamodb.scripted import Answer, Scripted, refusal

BUSY = refusal("ResourceInUseException")
GONE = refusal("ResourceNotFoundException")
ONE_AT_A_TIME = refusal("LimitExceededException")
INDEX = "status-created-index"


def standing(shape: EntityShape, *, stream: bool = True, indexes: bool = True) -> dict[str, Any]:
    """A table as DynamoDB describes it; it names keys in any order."""
    made = create_table(shape.table.name, shape.table)
    found: list[Any] = made.get("GlobalSecondaryIndexes", []) if indexes else []
    return {
        "KeySchema": made["KeySchema"][::-1],
        "AttributeDefinitions": made["AttributeDefinitions"],
        "GlobalSecondaryIndexes": [{**index, "IndexStatus": "ACTIVE"} for index in found],
        "StreamSpecification": made.get("StreamSpecification", {}) if stream else {},
        "ItemCount": 7,
    }


class Slow:
    """A DynamoDB with at most one table, which is not ready for two looks after each change."""

    def __init__(self, table: dict[str, Any] | None = None, *, expiry: tuple[str, str] | None = None) -> None:
        self.table, self.expiry = table, expiry
        self.refusals: dict[str, list[Answer]] = {}
        self.faster = False
        "Has another process done what is refused?"
        self.looks = 0
        self.unseen = 0
        "For how many looks a new table is not seen yet."
        self.asked: list[str] = []
        self.slept: list[float] = []

    def __call__(self, operation: str, request: dict[str, Any]) -> Answer:
        if operation.startswith("Describe"):
            return getattr(self, operation)(request)  # type: ignore[no-any-return]
        assert self.looks == 0, "nothing is asked of a table that is not ready"
        self.asked.append(operation)
        refused = self.refusals.get(operation)
        done = getattr(self, operation)(request) if self.faster or not refused else {}
        return refused.pop(0) if refused else done

    def DescribeTable(self, request: dict[str, Any]) -> Answer:
        if self.looks:
            self.looks -= 1
            if self.looks == 0 and self.table and self.table.get("going"):
                self.table = None
        if self.table is None or self.unseen:
            self.unseen = max(0, self.unseen - 1)
            return GONE
        status = "DELETING" if self.table.get("going") else "UPDATING" if self.looks > 1 else "ACTIVE"
        indexes = [{**i, "IndexStatus": "CREATING"} if self.looks else i for i in self.table["GlobalSecondaryIndexes"]]
        return {"Table": {**self.table, "TableStatus": status, "GlobalSecondaryIndexes": indexes}}

    def CreateTable(self, request: dict[str, Any]) -> Answer:
        self.table, self.looks, self.unseen = standing(SHAPES[request["TableName"]]), 3, 1
        return {}

    def UpdateTable(self, request: dict[str, Any]) -> Answer:
        assert self.table is not None
        self.looks = 3
        self.table["StreamSpecification"] |= request.get("StreamSpecification", {})
        for change in request.get("GlobalSecondaryIndexUpdates", ()):
            if "Create" in change:
                self.table["GlobalSecondaryIndexes"].append({**change["Create"], "IndexStatus": "ACTIVE"})
            else:
                self.table["GlobalSecondaryIndexes"] = []
        return {}

    def DeleteTable(self, request: dict[str, Any]) -> Answer:
        assert self.table is not None
        self.table["going"], self.looks = True, 3
        return {}

    def DescribeTimeToLive(self, request: dict[str, Any]) -> Answer:
        if self.table is None:
            return GONE
        if self.expiry is None:
            return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
        return {"TimeToLiveDescription": dict(zip(("TimeToLiveStatus", "AttributeName"), self.expiry, strict=True))}

    def UpdateTimeToLive(self, request: dict[str, Any]) -> Answer:
        assert request["TimeToLiveSpecification"]["Enabled"]
        self.expiry = ("ENABLING", request["TimeToLiveSpecification"]["AttributeName"])
        return {}


SHAPES = {shape.table.name: shape for shape in (Reel.__shape__, Audio.__shape__)}


def ensured(server: Slow, shape: EntityShape, *, dry_run: bool = False) -> list[str]:
    """What it was said to do, of a table that two declarations name."""
    wire = Scripted(otherwise=server)
    steps = wire.engine().ensure([shape, shape], dry_run=dry_run)
    server.slept = wire.slept
    return [" ".join((step.kind, step.name, step.detail)).strip() for step in steps]


REELS_STEPS = ["create table Reels PK, SK", f"create index Reels.{INDEX} GSI1PK, GSI1SK", "enable stream Reels"]


@pytest.mark.parametrize("faster", [False, True])
def test_a_table_is_made_once_whoever_is_faster(faster: bool) -> None:
    server = Slow()
    assert ensured(server, Reel.__shape__, dry_run=True) == REELS_STEPS
    assert server.asked == []
    server.refusals, server.faster = {"CreateTable": [BUSY] if faster else []}, faster
    assert ensured(server, Reel.__shape__) == REELS_STEPS
    assert (server.asked, server.looks) == (["CreateTable"], 0), "it is waited for"
    assert ensured(server, Reel.__shape__) == []


@pytest.mark.parametrize("refused", [[], [BUSY], [ONE_AT_A_TIME, BUSY]])
def test_what_a_table_lacks_is_added_one_after_the_other_until_it_is_taken(refused: list[Answer]) -> None:
    server = Slow(standing(Reel.__shape__, stream=False, indexes=False))
    assert ensured(server, Reel.__shape__, dry_run=True) == REELS_STEPS[1:]
    assert server.asked == []
    server.refusals["UpdateTable"] = list(refused)
    assert ensured(server, Reel.__shape__) == REELS_STEPS[1:]
    assert server.asked == ["UpdateTable"] * (2 + len(refused))
    assert server.looks == 0, "it is waited for"
    assert server.slept == [0.5] * (2 * 2 + len(refused))
    assert ensured(server, Reel.__shape__) == []


def test_what_another_process_adds_meanwhile_is_not_asked_for_again() -> None:
    server = Slow(standing(Reel.__shape__, stream=False, indexes=False))
    server.refusals, server.faster = {"UpdateTable": [BUSY, ONE_AT_A_TIME]}, True
    assert ensured(server, Reel.__shape__) == REELS_STEPS[1:]
    assert server.asked == ["UpdateTable"] * 2


def test_a_refusal_that_is_not_for_now_is_told() -> None:
    lost = Unreachable("cable cut", True)
    for operation, answer in (("CreateTable", ONE_AT_A_TIME), ("UpdateTable", refusal("Odd")), ("UpdateTable", lost)):
        server = Slow(standing(Reel.__shape__, stream=False) if operation == "UpdateTable" else None)
        server.refusals[operation] = [answer]
        with pytest.raises(Unavailable, match=str(answer)):
            ensured(server, Reel.__shape__)
        assert server.asked == [operation]


def test_a_table_that_does_not_become_ready_is_told_after_ten_minutes() -> None:
    table = {**standing(Reel.__shape__, stream=False), "TableStatus": "CREATING"}
    wire = Scripted(otherwise=lambda *_: {"Table": table})
    with pytest.raises(Unavailable, match="Reels did not become ready"):
        wire.engine().ensure([Reel.__shape__])
    assert sum(wire.slept) == 600
    wire = Scripted(otherwise=lambda *_: {"Table": {**table, "TableStatus": "DELETING"}})
    with pytest.raises(Unavailable, match="Reels is still there"):
        wire.engine().drop(Reel.__shape__, [Leftover(LeftoverKind.TABLE, "Reels", "Reels")])
    assert sum(wire.slept) == 600


def test_expiry_is_enabled_unless_it_is_already() -> None:
    for before in (None, ("DISABLING", "other")):
        server = Slow(standing(Audio.__shape__), expiry=before)
        assert ensured(server, Audio.__shape__, dry_run=True) == ["enable expiry Audio ttl"]
        assert server.asked == []
        assert ensured(server, Audio.__shape__) == ["enable expiry Audio ttl"]
        assert server.expiry == ("ENABLING", "ttl")
        assert ensured(server, Audio.__shape__) == ensured(server, Audio.__shape__, dry_run=True) == []
        assert server.asked == ["UpdateTimeToLive"]


def test_a_new_table_expires_too_unless_another_process_was_faster() -> None:
    made = ["create table Audio date, audio_id", "create index Audio.by-voice voice, made"]
    new = Slow()
    assert ensured(new, Audio.__shape__, dry_run=True) == [*made, "enable expiry Audio ttl"]
    assert ensured(new, Audio.__shape__) == [*made, "enable expiry Audio ttl"]
    assert new.asked == ["CreateTable", "UpdateTimeToLive"]
    late = Slow(expiry=("ENABLED", "ttl"))
    assert ensured(late, Audio.__shape__) == made
    assert late.asked == ["CreateTable"]


def test_expiry_that_is_refused_is_told_unless_another_process_was_faster() -> None:
    server = Slow(standing(Audio.__shape__))
    server.refusals["UpdateTimeToLive"] = [refusal("ValidationException", "TimeToLive is being changed")] * 2
    with pytest.raises(InvalidValue, match="being changed"):
        ensured(server, Audio.__shape__)
    server.faster = True
    assert ensured(server, Audio.__shape__) == ["enable expiry Audio ttl"]
    with pytest.raises(Misconfigured, match="expires its items by 'other', but 'ttl' is declared"):
        ensured(Slow(standing(Audio.__shape__), expiry=("ENABLED", "other")), Audio.__shape__)


def test_a_table_with_other_keys_is_refused_and_left_alone() -> None:
    other, index, kind = (standing(Audio.__shape__) for _ in range(3))
    other["KeySchema"][0] = {"AttributeName": "made", "KeyType": "RANGE"}
    index["GlobalSecondaryIndexes"][0]["KeySchema"] = [{"AttributeName": "voice", "KeyType": "HASH"}]
    kind["AttributeDefinitions"][3] = {"AttributeName": "made", "AttributeType": "S"}
    for table, words in (
        (other, r"Audio has the key \(date, made\), but \(date, audio_id\) is declared"),
        (index, r"Audio.by-voice has the key \(voice\), but \(voice, made\)"),
        (kind, "the key attribute made has type S, but N is declared"),
    ):
        server = Slow(table, expiry=("ENABLED", "ttl"))
        with pytest.raises(Misconfigured, match=words):
            ensured(server, Audio.__shape__)
        assert server.asked == []


def test_a_table_and_an_index_are_dropped_once_and_waited_for() -> None:
    table, index = (Leftover(kind, INDEX, INDEX) for kind in (LeftoverKind.TABLE, LeftoverKind.INDEX))
    server = Slow(standing(Reel.__shape__))
    engine = Scripted(otherwise=server).engine()
    for left, operation in ((index, "UpdateTable"), (table, "DeleteTable")):
        server.refusals[operation], server.asked = [BUSY], []
        for _ in range(2):
            engine.drop(Reel.__shape__, [left])
        assert server.asked == [operation] * 2
        assert server.looks == 0
    assert server.table is None


def test_sizes_are_those_of_tables_that_are_there() -> None:
    counted, new = standing(Reel.__shape__), standing(Audio.__shape__)
    del new["ItemCount"]
    engine = Scripted({"Table": counted}, {"Table": new}, GONE).engine()
    sizes = engine.sizes([Reel.__shape__, Audio.__shape__, Reel.__shape__])
    assert [(s.name, s.records, s.exact) for s in sizes] == [("Reels", 7, False), ("Audio", 0, False)]
    assert [s.entities for s in sizes] == [(Reel.__shape__.label,) * 2, (Audio.__shape__.label,)]
    with pytest.raises(Misconfigured, match="table Reels does not exist; run `penstock tables apply`"):
        engine.sizes([Reel.__shape__])


def test_a_table_that_cannot_be_looked_at_is_not_taken_for_one_that_is_missing() -> None:
    for answer, words in ((refusal("AccessDeniedException"), "credentials"), (Unconfigured("no keys"), "no keys")):
        wire = Scripted(answer)
        with pytest.raises(Misconfigured, match=words):
            wire.engine().ensure([Reel.__shape__])
        assert [operation for operation, _ in wire.calls] == ["DescribeTable"]


def test_a_table_that_is_dropped_meanwhile_is_told() -> None:
    table = {"Table": {**standing(Reel.__shape__, stream=False), "TableStatus": "ACTIVE"}}
    wire = Scripted(table, table, GONE, GONE)
    with pytest.raises(Misconfigured, match="table Reels does not exist"):
        wire.engine().ensure([Reel.__shape__])
    assert wire.calls[-1][0] == "UpdateTable"


PLAIN = Table("Plain", partition="id")
FILMS = Table("Films", partition="id")
BY_YEAR, BY_MAKER = FILMS.index("by-year", partition="year"), FILMS.index("by-maker", partition="maker")


class Plain(Entity, table=PLAIN):
    id: str

    @key("{id}")
    def at(self, *, id: str) -> None: ...


class Film(Entity, table=FILMS):
    id: str
    year: str
    maker: str

    @key("{id}")
    def at(self, *, id: str) -> None: ...

    dated, made = IndexKey(BY_YEAR, "{year}"), IndexKey(BY_MAKER, "{maker}")


def test_a_table_without_sort_key_and_index_has_neither() -> None:
    steps = Scripted(GONE, GONE).engine().ensure([Plain.__shape__, Film.__shape__], dry_run=True)
    assert [f"{s.name} {s.detail}" for s in steps] == [
        "Plain id",
        "Films id",
        "Films.by-year year",
        "Films.by-maker maker",
    ]
    assert "GlobalSecondaryIndexes" not in create_table("Plain", Plain.__shape__.table), "DynamoDB takes no empty list"


def test_each_index_that_is_missing_is_added() -> None:
    for there in (0, 1):
        table = standing(Film.__shape__)
        del table["GlobalSecondaryIndexes"][there:]
        server = Slow(table)
        expected = ["create index Films.by-year year", "create index Films.by-maker maker"][there:]
        assert ensured(server, Film.__shape__) == expected
        assert server.asked == ["UpdateTable"] * len(expected)


def test_writers_are_not_said_to_be_held_where_nothing_holds_them() -> None:
    wire = Scripted()
    with pytest.raises(Misconfigured, match="cannot refuse writers by itself; stop all of them"):
        wire.engine().hold_writes([Reel.__shape__], told="moved")
    wire.engine().hold_writes([Reel.__shape__], told=None)
    assert wire.calls == []
