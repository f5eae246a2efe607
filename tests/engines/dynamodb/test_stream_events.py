"""Events that a Lambda function gets: of whichever table, with receipts, and with poison that keeps nothing back."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.queries import explained
from penstock.errors import InvalidValue, Misconfigured
from penstock.kernel.handle import put
from penstock.ports.delivery import BroughtChange
from tests.engines.dynamodb.entities import Audio, Reel, audio, reel
from tests.engines.dynamodb.scripted import Scripted

SHAPES = [Reel.__shape__, Audio.__shape__]
IMAGE = explained(ItemType(Reel.__shape__, "Reels").encode.item(put(reel()).values))
SOUND = explained(ItemType(Audio.__shape__, "Audio").encode.item(audio().__dict__))
STRANGE = {"entityType": {"S": "other"}}


def arn(table: str) -> str:
    return f"arn:aws:dynamodb:eu-west-1:123456789012:table/{table}/stream/2025-11-17T10:05:00.000"


def record(number: Any = "1", *, table: str | None = "Reels", image: dict[str, Any] = IMAGE) -> dict[str, Any]:
    keys = {n: image[n] for n in ("PK", "SK", "date", "audio_id") if n in image}
    told = {"eventName": "INSERT", "dynamodb": {"Keys": keys, "NewImage": image, "SequenceNumber": number}}
    return told if table is None else {**told, "eventSourceARN": arn(table)}


def brought(*records: Any) -> list[BroughtChange]:
    return Scripted().engine().delivered(SHAPES, {"Records": list(records)})


def test_each_record_is_read_as_of_its_table() -> None:
    changes = brought(record("1"), record("2", table="Audio", image=SOUND), record("3", table=None))
    assert [c.receipt for c in changes] == ["1", "2", "3"]
    assert [c.entry and (c.entry.shape.label, c.entry.position, c.entry.new) for c in changes] == [
        (Reel.__shape__.label, "1", reel()),
        (Audio.__shape__.label, "2", audio()),
        (Reel.__shape__.label, "3", reel()),
    ]
    assert [c.trouble for c in changes] == [""] * 3
    # It lies where a reel lies, and is none.
    (other,) = Scripted().engine().delivered([Reel.__shape__], {"Records": [record(image=IMAGE | STRANGE)]})
    assert (other.receipt, other.entry, other.trouble) == ("1", None, "")


def test_an_event_of_a_table_that_nobody_follows_is_not_passed_over() -> None:
    with pytest.raises(Misconfigured, match="of the table Films, and Audio or Reels is followed here"):
        brought(record(table="Films"))
    assert [c.trouble for c in Scripted().engine().delivered([], {"Records": [record(table=None)]})] == [""]


@pytest.mark.parametrize("event", [{}, {"Records": None}, {"Records": "r"}, [], None])
def test_what_is_no_event_is_refused(event: Any) -> None:
    with pytest.raises(InvalidValue, match="no list of Records"):
        Scripted().engine().delivered(SHAPES, event)


def test_poison_keeps_nothing_back_and_is_told_apart_without_its_values() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    poison: list[Any] = [None, "hidden", {"dynamodb": "hidden"}, {"dynamodb": {"SequenceNumber": "9"}}, {"deep": deep}]
    *troubled, good = brought(*poison, record("10"))
    assert good.entry is not None
    assert [c.receipt for c in troubled] == ["", "", "", "9", ""]
    assert all(c.trouble.startswith("a record of the stream cannot be read: ") for c in troubled)
    assert "hidden" not in str([(c.trouble, c.digest) for c in troubled])
    assert len({c.digest for c in troubled}) == len(poison)
    assert all(len(c.digest) == 64 for c in troubled)


@pytest.mark.parametrize(("number", "receipt"), [("1" * 100, "1" * 100), ("1" * 101, ""), (5, ""), (None, "")])
def test_a_receipt_is_a_short_text(number: Any, receipt: str) -> None:
    assert [c.receipt for c in brought(record(number))] == [receipt]
