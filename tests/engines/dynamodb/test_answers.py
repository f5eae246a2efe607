"""What the engine makes of answers: pages, leftovers, refusals, and its own writes met again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from penstock import Entity, Table, key, the
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.queries import explained
from penstock.engines.dynamodb.wire import Unreachable, WireThrottled
from penstock.errors import (
    Conflict,
    InvalidValue,
    Misconfigured,
    PenstockError,
    Throttled,
    TooLarge,
    Unavailable,
)
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Missing, Present
from penstock.operations.writes import Check, Delete, Put, Write
from tests.engines.dynamodb.entities import PROJECT, Reel, reel
from tests.engines.dynamodb.scripted import Answer, Scripted, refusal

WHEN = datetime(2037, 1, 1, tzinfo=UTC)
TOKEN = "0123456789abcdef0123456789abcdef"
FAILED = "ConditionalCheckFailedException"
CANCELLED = "TransactionCanceledException"
REEL = ItemType(Reel.__shape__, "Reels")


STALE: tuple[dict[str, Any], ...] = ({"GSI1PK": {"S": "x"}}, {"GSI1SK": {"S": "x"}})


class Call(Entity, table=Table("Calls", partition="id")):
    """A message."""

    __wakes__ = True

    id: str
    told: bool

    @key("{id}")
    def at(self, *, id: str) -> None: ...


def stored(record: Reel) -> dict[str, Any]:
    return explained(REEL.encode.item(put(record).values))


def reels(count: int) -> list[Reel]:
    return [reel(sequence=n) for n in range(1, count + 1)]


class TestPages:
    query = Reel.of_project(project_id=PROJECT)

    def test_a_page_asks_for_one_more_to_know_whether_more_follow(self) -> None:
        three = [stored(r) for r in reels(3)]
        wire = Scripted({"Items": three, "LastEvaluatedKey": three[-1]})
        page = wire.engine().find(self.query, limit=2, after=None, now=WHEN)
        assert ([r.sequence for r in page.records], page.more) == ([1, 2], True)
        assert wire.calls[0][1]["Limit"] == 3

    def test_what_is_left_out_does_not_shorten_a_page(self) -> None:
        one, two = (stored(r) for r in reels(2))
        stranger = {"PK": one["PK"], "SK": {"S": "REEL#001#VERSION#1"}}
        place = {"PK": one["PK"], "SK": one["SK"]}
        wire = Scripted({"Items": [stranger, one], "LastEvaluatedKey": place}, {"Items": [two]})
        page = wire.engine().find(self.query, limit=1, after=None, now=WHEN)
        assert ([r.sequence for r in page.records], page.more) == ([1], True)
        assert wire.calls[1][1]["ExclusiveStartKey"] == place

    def test_without_limit_an_empty_page_is_followed_to_the_next(self) -> None:
        one = stored(reel())
        stranger = {"PK": one["PK"], "SK": {"S": "REEL#000#VERSION#1"}}
        wire = Scripted({"Items": [stranger], "LastEvaluatedKey": stranger}, {"Items": [one], "LastEvaluatedKey": one})
        page = wire.engine().find(self.query, limit=None, after=None, now=WHEN)
        assert ([r.sequence for r in page.records], page.more) == ([1], True)
        assert "Limit" not in wire.calls[0][1]

    def test_a_page_goes_on_behind_a_record(self) -> None:
        wire = Scripted({"Items": []})
        query = Reel.by_owner(owner="o")
        wire.engine().find(query, limit=5, after=reel(owner="o").__dict__, now=WHEN)
        assert wire.calls[0][1]["ExclusiveStartKey"] == {
            "PK": {"S": f"PROJECT#{PROJECT}"},
            "SK": {"S": "REEL#001"},
            "GSI1PK": {"S": "OWNER#o"},
            "GSI1SK": {"S": "2025-11-17T10:05:00Z"},
        }


class TestBatches:
    def test_keys_are_asked_once_and_answered_each_time(self) -> None:
        wire = Scripted({"Responses": {"Reels": [stored(reel())]}, "UnprocessedKeys": {}})
        refs = [reel().ref, reel(sequence=2).ref, reel().ref]
        found = wire.engine().get(refs, now=WHEN)
        assert found == [reel(), None, reel()]
        assert len(wire.calls[0][1]["RequestItems"]["Reels"]["Keys"]) == 2

    def test_a_hundred_keys_at_a_time(self) -> None:
        wire = Scripted(otherwise=lambda *_: {"Responses": {}})
        wire.engine().get([r.ref for r in reels(250)], now=WHEN)
        assert [len(r["RequestItems"]["Reels"]["Keys"]) for _, r in wire.calls] == [100, 100, 50]

    def test_unprocessed_keys_are_asked_for_again(self) -> None:
        left = {"Reels": {"Keys": [{"PK": {"S": "x"}, "SK": {"S": "y"}}], "ConsistentRead": True}}
        wire = Scripted(
            {"Responses": {"Reels": [stored(reel())]}, "UnprocessedKeys": left},
            {"Responses": {"Reels": []}, "UnprocessedKeys": left},
            {"Responses": {"Reels": [stored(reel(sequence=2))]}},
        )
        found = wire.engine().get([r.ref for r in reels(2)], now=WHEN)
        assert found == reels(2)
        assert [r["RequestItems"] for _, r in wire.calls[1:]] == [left, left]
        assert len(wire.slept) == 2

    def test_twenty_five_writes_at_a_time_and_no_key_twice(self) -> None:
        wire = Scripted(otherwise=lambda *_: {})
        writes = [put(r) for r in reels(30)]
        wire.engine().load([*writes, writes[29], Delete(Reel.__shape__, reel(sequence=30).ref.key)], now=WHEN)
        assert [len(r["RequestItems"]["Reels"]) for _, r in wire.calls] == [25, 5, 1, 1]
        assert "DeleteRequest" in wire.calls[-1][1]["RequestItems"]["Reels"][0]

    def test_unprocessed_items_are_written_again(self) -> None:
        left = {"Reels": [{"PutRequest": {"Item": stored(reel(sequence=2))}}]}
        wire = Scripted({"UnprocessedItems": left}, {"UnprocessedItems": left}, {"UnprocessedItems": {}})
        wire.engine().load([put(r) for r in reels(2)], now=WHEN)
        assert [r["RequestItems"] for _, r in wire.calls[1:]] == [left, left]

    def test_whatever_goes_on_is_not_what_one_loses_patience_with(self) -> None:
        """A table that takes a few of each batch is full of work, and not stuck."""
        left = [{"PutRequest": {"Item": stored(r)}} for r in reels(20)]
        wire = Scripted(*({"UnprocessedItems": {"Reels": left[n:]}} for n in range(20)), {})
        wire.engine().load([put(r) for r in reels(20)], now=WHEN)
        assert len(wire.slept) == 20
        assert max(wire.slept) <= 0.02, "each is the first pause after something was written"

    def test_patience_ends(self) -> None:
        left = {"Reels": [{"PutRequest": {"Item": stored(reel())}}]}
        wire = Scripted(otherwise=lambda *_: {"UnprocessedItems": left})
        with pytest.raises(Throttled):
            wire.engine().load([put(reel())], now=WHEN)

    def test_a_condition_cannot_be_loaded(self) -> None:
        with pytest.raises(InvalidValue):
            Scripted().engine().load([put(reel(), when=Missing())], now=WHEN)


class TestRefusals:
    def test_a_refusal_tells_what_stood_there(self) -> None:
        wire = Scripted(refusal(FAILED, Item=stored(reel(prompt="other"))))
        with pytest.raises(Conflict) as conflict:
            wire.engine().commit([put(reel(), when=Missing())], now=WHEN, token=TOKEN)
        assert conflict.value.position == 0
        assert conflict.value.found == reel(prompt="other").__dict__

    def test_the_first_refused_write_is_told(self) -> None:
        reasons = [{"Code": "None"}, {"Code": FAILED[:-9]}, {"Code": FAILED[:-9], "Item": stored(reel())}]
        wire = Scripted(refusal(CANCELLED, CancellationReasons=reasons))
        writes = [put(r, when=Present()) for r in reels(3)]
        with pytest.raises(Conflict) as conflict:
            wire.engine().commit(writes, now=WHEN, token=TOKEN)
        assert (conflict.value.position, conflict.value.found) == (1, None)

    def test_what_stands_may_be_damaged_and_the_refusal_is_still_told(self) -> None:
        wire = Scripted(refusal(FAILED, Item=stored(reel()) | {"status": {"S": "?"}}))
        with pytest.raises(Conflict) as conflict:
            wire.engine().commit([put(reel(), when=Missing())], now=WHEN, token=TOKEN)
        assert conflict.value.found == {"project_id": PROJECT, "sequence": 1}

    def test_another_transaction_in_the_way_is_waited_for(self) -> None:
        busy = refusal(CANCELLED, CancellationReasons=[{"Code": "TransactionConflict"}, {"Code": "None"}])
        wire = Scripted(busy, busy, {})
        wire.engine().commit([put(r) for r in reels(2)], now=WHEN, token=TOKEN)
        assert len(wire.slept) == 2
        assert {r["ClientRequestToken"] for _, r in wire.calls} == {TOKEN}

    def test_a_plain_write_waits_for_a_transaction_too(self) -> None:
        wire = Scripted(refusal("TransactionConflictException"), {})
        wire.engine().commit([put(reel())], now=WHEN, token=TOKEN)
        assert len(wire.calls) == 2

    def test_a_batch_waits_for_a_transaction_too(self) -> None:
        wire = Scripted(refusal("TransactionConflictException"), {})
        wire.engine().load([put(reel())], now=WHEN)
        assert [operation for operation, _ in wire.calls] == ["BatchWriteItem", "BatchWriteItem"]

    def test_others_may_be_in_the_way_often_but_not_for_ever(self) -> None:
        """Of many who meet, somebody is the unlucky one; how often says nothing, how long does."""
        busy = refusal(CANCELLED, CancellationReasons=[{"Code": "TransactionConflict"}, {"Code": "None"}])
        wire = Scripted(*[busy] * 20, {})
        wire.engine().commit([put(r) for r in reels(2)], now=WHEN, token=TOKEN)
        assert max(wire.slept) <= 1.0
        assert max(wire.slept[:3]) <= 0.08, "one that is in the way is soon gone"
        endless = Scripted(otherwise=lambda *_: busy)
        with pytest.raises(Throttled, match="20 seconds"):
            endless.engine().commit([put(r) for r in reels(2)], now=WHEN, token=TOKEN)
        assert 20 <= sum(endless.slept) <= 21

    def test_a_lone_check_is_a_read(self) -> None:
        wire = Scripted({"Item": stored(reel())}, {})
        check = Check(Reel.__shape__, reel().ref.key, Present())
        wire.engine().commit([check], now=WHEN, token=TOKEN)
        with pytest.raises(Conflict):
            wire.engine().commit([check], now=WHEN, token=TOKEN)
        assert [operation for operation, _ in wire.calls] == ["GetItem", "GetItem"]

    @pytest.mark.parametrize(
        ("answer", "error", "words"),
        [
            (refusal("ResourceNotFoundException"), Misconfigured, "table Reels does not exist; run `penstock tables"),
            (refusal("ValidationException", "Item size has exceeded the maximum allowed size"), TooLarge, "Item size"),
            (refusal("ValidationException", "empty string value. Key: owner"), InvalidValue, "empty string"),
            (refusal("AccessDeniedException"), Misconfigured, "credentials"),
            (refusal("MissingAuthenticationTokenException"), Misconfigured, "credentials"),
            (refusal("IncompleteSignatureException"), Misconfigured, "credentials"),
            (refusal("UnknownOperationException"), Misconfigured, "does not understand"),
            (refusal("SerializationException"), Misconfigured, "does not understand"),
            (refusal("ExpiredTokenException"), Unavailable, "ExpiredToken"),
            (refusal("RequestTimeTooSkewed"), Unavailable, "Skewed"),
            (refusal("Http407"), Unavailable, "Http407"),
            (WireThrottled("ThrottlingException", "slow", False), Throttled, "slow"),
            (Unreachable("cable cut", True), Unavailable, "may have been carried out"),
            (Unreachable("cable cut", False), Unavailable, "cable cut$"),
        ],
    )
    def test_errors_are_in_penstock_s_words(self, answer: Answer, error: type[PenstockError], words: str) -> None:
        with pytest.raises(error, match=words):
            Scripted(answer).engine().commit([put(reel())], now=WHEN, token=TOKEN)

    @pytest.mark.parametrize(
        ("code", "error"),
        [
            ("ItemCollectionSizeLimitExceeded", TooLarge),
            ("AccessDenied", Misconfigured),
            ("ValidationError", InvalidValue),
            ("SomethingNew", Unavailable),
        ],
    )
    def test_a_transaction_that_can_never_be_made_is_no_outage(self, code: str, error: type[PenstockError]) -> None:
        answer = refusal(CANCELLED, CancellationReasons=[{"Code": "None"}, {"Code": code, "Message": "why"}])
        with pytest.raises(error) as told:
            Scripted(answer).engine().commit([put(r) for r in reels(2)], now=WHEN, token=TOKEN)
        assert type(told.value) is error


class TestOwnWrites:
    """A refusal after a lost answer may be our own doing."""

    def commit(self, write: Any, *, standing: dict[str, Any] | None, ambiguous: bool = True) -> None:
        item: dict[str, Any] = {} if standing is None else {"Item": standing}
        wire = Scripted(refusal(FAILED, ambiguous=ambiguous, **item))
        wire.engine().commit([write], now=WHEN, token=TOKEN)

    def test_a_put_that_stands_was_ours(self) -> None:
        record = reel(price=Decimal("1.50"), tags=frozenset({"a", "b"}))
        standing = stored(record) | {"price": {"N": "1.5"}, "tags": {"SS": ["b", "a"]}}
        self.commit(put(record, when=Missing()), standing=standing)
        for other in (standing | {"prompt": {"S": "q"}}, standing | {"more": {"S": "q"}}, None):
            with pytest.raises(Conflict):
                self.commit(put(record, when=Missing()), standing=other)

    @pytest.mark.parametrize("lost", [True, False])
    def test_an_answer_that_was_lost_is_not_forgotten_while_others_are_in_the_way(self, lost: bool) -> None:
        """Of the last attempt no answer was lost; of one before it one was, and that has written."""
        in_the_way = refusal("TransactionConflictException", ambiguous=lost), refusal("TransactionConflictException")
        wire = Scripted(*in_the_way, refusal(FAILED, Item=stored(reel())))
        with nullcontext() if lost else pytest.raises(Conflict):
            wire.engine().commit([put(reel(), when=Missing())], now=WHEN, token=TOKEN)
        assert len(wire.calls) == 3

    def test_without_a_lost_answer_not_even_a_witness_is_recognised(self) -> None:
        """Two processes may write the same audit line in the same microsecond: the second has to write another."""
        write = put(reel(), when=Missing())
        for each in (write, Put(write.shape, write.values, write.when, witness=True)):
            with pytest.raises(Conflict):
                self.commit(each, standing=stored(reel()), ambiguous=False)

    def test_a_patch_whose_updates_stand_was_ours(self) -> None:
        record = reel(owner="o", tags=frozenset({"a"}))
        write = patch(
            record.ref,
            the(Reel.prompt).set("new"),
            the(Reel.price).remove(),
            the(Reel.tags).include("b"),
            the(Reel.blob).set_if_absent(b"x"),
            the(Reel.owner).set("me"),
            when=the(Reel.prompt).equals("p"),
            given=record,
        )
        done = stored(reel(owner="me", prompt="new", tags=frozenset({"a", "b"}), blob=b"y"))
        self.commit(write, standing=done)
        updates: list[dict[str, Any]] = [{"prompt": {"S": "q"}}, {"price": {"N": "1"}}, {"tags": {"SS": ["a"]}}]
        for undone in (*updates, *STALE):
            with pytest.raises(Conflict):
                self.commit(write, standing=done | undone)
        with pytest.raises(Conflict) as conflict:
            self.commit(write, standing=None)
        assert conflict.value.found is None
        with pytest.raises(Conflict):
            self.commit(write, standing=done, ambiguous=False)

    def test_a_patch_that_took_a_record_out_of_an_index_was_ours_only_if_it_is_out(self) -> None:
        record = reel(owner="o")
        write = patch(record.ref, the(Reel.owner).remove(), when=the(Reel.owner).equals("o"), given=record)
        self.commit(write, standing=stored(reel()))
        for stale in STALE:
            with pytest.raises(Conflict):
                self.commit(write, standing=stored(reel()) | stale)

    def test_a_patch_was_not_ours_where_a_condition_fails_that_it_does_not_touch(self) -> None:
        """Another may have written the same value for himself."""
        mine = the(Reel.owner).equals("me") & the(Reel.prompt).equals("p")
        write = patch(reel().ref, the(Reel.prompt).set("new"), when=mine)
        self.commit(write, standing=stored(reel(prompt="new", owner="me")))
        with pytest.raises(Conflict):
            self.commit(write, standing=stored(reel(prompt="new", owner="another")))

    def test_a_message_is_recognised_by_its_key_whatever_has_become_of_it(self) -> None:
        write = put(Call(id="c", told=False), when=Missing())
        standing = {"id": {"S": "c"}, "told": {"BOOL": True}}
        self.commit(replace(write, witness=True), standing=standing)
        for other, there in ((write, standing), (replace(write, witness=True), None)):
            with pytest.raises(Conflict):
                self.commit(other, standing=there)

    def test_a_lone_count_is_made_exact_by_a_token_and_read_back(self) -> None:
        wire = Scripted({}, {"Item": stored(reel(price=Decimal(4)))})
        write = patch(reel().ref, the(Reel.price).add(Decimal(1)))
        assert wire.engine().patch(write, now=WHEN, token=TOKEN) == reel(price=Decimal(4))
        assert [operation for operation, _ in wire.calls] == ["TransactWriteItems", "GetItem"]
        assert wire.calls[0][1]["ClientRequestToken"] == TOKEN

    def test_a_count_whose_record_is_removed_before_it_is_read_back_met_nobody(self) -> None:
        wire = Scripted({}, {})
        with pytest.raises(Conflict) as conflict:
            wire.engine().patch(patch(reel().ref, the(Reel.price).add(Decimal(1))), now=WHEN, token=TOKEN)
        assert conflict.value.found is None

    def test_a_lone_count_is_committed_with_a_token_as_well(self) -> None:
        """Sent again after a lost reply, a plain request would count twice."""
        wire = Scripted({})
        write = patch(reel().ref, the(Reel.price).add(Decimal(1)))
        wire.engine().commit([write], now=WHEN, token=TOKEN)
        ((operation, request),) = wire.calls
        assert (operation, request["ClientRequestToken"]) == ("TransactWriteItems", TOKEN)

    def test_a_count_that_need_not_be_exact_is_one_plain_request(self) -> None:
        wire = Scripted({"Attributes": stored(reel(price=Decimal(4)))})
        write = replace(patch(reel().ref, the(Reel.price).add(Decimal(1))), exact=False)
        assert wire.engine().patch(write, now=WHEN, token=TOKEN) == reel(price=Decimal(4))
        assert [operation for operation, _ in wire.calls] == ["UpdateItem"]

    def test_a_delete_of_nothing_was_ours(self) -> None:
        write = Delete(Reel.__shape__, reel().ref.key, Present())
        self.commit(write, standing=None)
        with pytest.raises(Conflict):
            self.commit(write, standing=None, ambiguous=False)
        with pytest.raises(Conflict):
            self.commit(Delete(Reel.__shape__, reel().ref.key, Missing()), standing=stored(reel()))

    def test_a_transaction_whose_witness_stands_was_ours(self) -> None:
        write = put(reel(), when=Missing())
        witness = Put(write.shape, write.values, write.when, witness=True)
        reasons = [{"Code": "ConditionalCheckFailed"}, {"Code": "ConditionalCheckFailed", "Item": stored(reel())}]
        other = put(reel(sequence=2), when=Present())

        def commit(writes: Sequence[Write], *, ambiguous: bool) -> None:
            wire = Scripted(refusal(CANCELLED, ambiguous=ambiguous, CancellationReasons=reasons))
            wire.engine().commit(writes, now=WHEN, token=TOKEN)

        commit([other, witness], ambiguous=True)
        for writes, ambiguous in (([other, write], True), ([other, witness], False)):
            with pytest.raises(Conflict):
                commit(writes, ambiguous=ambiguous)

    def test_a_transaction_sent_again_at_another_second_is_the_same(self) -> None:
        wire = Scripted(refusal("IdempotentParameterMismatchException"))
        wire.engine().commit([put(r) for r in reels(2)], now=WHEN, token=TOKEN)


def test_importing_the_engine_imports_no_driver() -> None:
    import subprocess
    import sys

    script = "import sys, penstock.engines.dynamodb; assert not {'pycurl', 'botocore', 'boto3'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
