"""A write that another program's spelling has refused is sent once more, as that spells it, and guarded as before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from penstock import the
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.queries import explained
from penstock.errors import Conflict
from penstock.kernel.handle import patch, put
from tests.engines.dynamodb.entities import MOMENT, Audio, Reel, Step, audio, reel
from tests.engines.dynamodb.scripted import Scripted, refusal

NOW = datetime(2037, 1, 1, tzinfo=UTC)
TOKEN = "0123456789abcdef0123456789abcdef"
FAILED = "ConditionalCheckFailedException"
SPELLED: dict[str, Any] = {
    "createdAt": {"S": "2025-11-17T10:05:00+0000"},
    "isFinal": {"N": "0"},
    "price": {"NULL": True},
    "seconds": {"N": "1.0"},
    "sequence": {"N": "1.0"},
}
THERE = explained(ItemType(Reel.__shape__, "Reels").encode.item(put(reel()).values)) | SPELLED
AS_READ = (
    the(Reel.created_at).equals(MOMENT)
    & the(Reel.is_final).equals(False)
    & the(Reel.price).absent()
    & the(Reel.seconds).equals(1.0)
    & the(Reel.sequence).equals(1)
)
WRITE = patch(reel().ref, the(Reel.prompt).set("new"), when=AS_READ)


def values(request: dict[str, Any]) -> list[Any]:
    """Those of the condition, in its order."""
    return [value for value in request["ExpressionAttributeValues"].values() if value != {"S": "new"}]


def test_it_is_asked_once_more_for_every_field_as_it_is_stored() -> None:
    wire = Scripted(refusal(FAILED, Item=THERE), {})
    wire.engine().commit([WRITE], now=NOW, token=TOKEN)
    assert [operation for operation, _ in wire.calls] == ["UpdateItem"] * 2
    assert values(wire.calls[1][1]) == list(SPELLED.values())


def test_in_a_transaction_it_is_another_transaction() -> None:
    reasons = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Item": THERE}]
    refused = refusal("TransactionCanceledException", CancellationReasons=reasons)
    wire = Scripted(refused, {})
    wire.engine().commit([put(reel(sequence=2)), WRITE], now=NOW, token=TOKEN)
    first, second = (request for _, request in wire.calls)
    assert values(second["TransactItems"][1]["Update"]) == list(SPELLED.values())
    assert second["TransactItems"][0] == first["TransactItems"][0]
    assert first["ClientRequestToken"] == TOKEN != second["ClientRequestToken"]
    again = Scripted(refused, refused)
    with pytest.raises(Conflict) as conflict:
        again.engine().commit([put(reel(sequence=2)), WRITE], now=NOW, token=TOKEN)
    assert conflict.value.position == 1


def test_in_a_transaction_all_are_spelled_again_or_none_is_sent() -> None:
    spelled = {"Code": "ConditionalCheckFailed", "Item": THERE}
    taken = {"Code": "ConditionalCheckFailed", "Item": THERE | {"price": {"N": "1"}}}
    both = Scripted(refusal("TransactionCanceledException", CancellationReasons=[spelled, spelled]), {})
    both.engine().commit([WRITE, WRITE], now=NOW, token=TOKEN)
    again = both.calls[1][1]["TransactItems"]
    assert [values(each["Update"]) for each in again] == [list(SPELLED.values())] * 2
    one = Scripted(refusal("TransactionCanceledException", CancellationReasons=[spelled, taken]))
    with pytest.raises(Conflict) as conflict:
        one.engine().commit([WRITE, WRITE], now=NOW, token=TOKEN)
    assert conflict.value.position == 1


def test_what_is_refused_once_more_is_a_conflict() -> None:
    wire = Scripted(refusal(FAILED, Item=THERE), refusal(FAILED, Item=THERE | {"prompt": {"S": "another"}}))
    with pytest.raises(Conflict) as conflict:
        wire.engine().commit([WRITE], now=NOW, token=TOKEN)
    assert conflict.value.found is not None
    assert conflict.value.found["prompt"] == "another"


@pytest.mark.parametrize("change", [{"price": {"N": "1"}}, {"prompt": {"N": "1"}, "status": {"S": "?"}}])
def test_what_does_not_hold_as_it_is_read_or_cannot_be_read_is_not_asked_again(change: dict[str, Any]) -> None:
    wire = Scripted(refusal(FAILED, Item=THERE | change))
    with pytest.raises(Conflict):
        wire.engine().commit([WRITE], now=NOW, token=TOKEN)


def test_what_has_ended_is_not_asked_again_and_not_told() -> None:
    ended = explained(ItemType(Audio.__shape__, "Audio").encode.item(audio(ttl=1).__dict__)) | {"made": {"N": "7.0"}}
    write = patch(audio().ref, the(Audio.text).set("new"), when=the(Audio.made).equals(7))
    wire = Scripted(refusal(FAILED, Item=ended))
    with pytest.raises(Conflict) as conflict:
        wire.engine().commit([write], now=NOW, token=TOKEN)
    assert conflict.value.found is None


def test_of_what_the_key_tells_nothing_is_asked_again() -> None:
    step = Step(job="j", name="n", ts=MOMENT)
    there = explained(ItemType(Step.__shape__, "Steps").encode.item(step.__dict__)) | {"note": {"NULL": True}}
    named, noted = the(Step.job).equals("j"), the(Step.note).absent()
    wire = Scripted(refusal(FAILED, Item=there), {})
    wire.engine().commit([patch(step.ref, the(Step.note).set("new"), when=named & noted)], now=NOW, token=TOKEN)
    again = wire.calls[1][1]
    assert values(again) == [{"NULL": True}]
    assert sorted(again["ExpressionAttributeNames"].values()) == ["PK", "note"]
    alone = Scripted(refusal(FAILED, Item=there))
    with pytest.raises(Conflict):
        alone.engine().commit([patch(step.ref, the(Step.note).set("new"), when=named)], now=NOW, token=TOKEN)
