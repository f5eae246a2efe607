"""What is retried, how long is waited, and when it ends. No test here touches a socket or the clock."""

import json

import pytest

from penstock.engines.dynamodb.wire import Unreachable, WireError, WireThrottled, transient_cancellation
from penstock.engines.dynamodb.wire.channel import Channel
from penstock.engines.dynamodb.wire.failure import Cause
from penstock.engines.dynamodb.wire.retry import RetryPolicy
from penstock.engines.dynamodb.wire.retry_loop import RetryLoop
from penstock.net.answer import Lost, PostAnswer

GOOD = PostAnswer(200, b"{}", b"HTTP/1.1 200 OK\r\n\r\n", False)


def refusal(code: str, status: int = 400) -> PostAnswer:
    body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "no"}).encode()
    return PostAnswer(status, body, b"HTTP/1.1 400\r\n\r\n", False)


class ScriptedChannel(Channel):
    """Plays outcomes instead of sending."""

    def __init__(self, *outcomes: PostAnswer | Lost) -> None:
        self.outcomes = list(outcomes)
        self.fresh: list[bool] = []

    def send(self, target: str, body: bytes, *, fresh: bool = False) -> PostAnswer:
        self.fresh.append(fresh)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Lost):
            raise outcome
        return outcome

    def token(self) -> str | None:
        return None


class Sleeper:
    def __init__(self) -> None:
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def followed(
    first: PostAnswer | Lost, *more: PostAnswer | Lost, attempts: int = 5
) -> tuple[RetryLoop, ScriptedChannel, Sleeper]:
    channel, sleeper = ScriptedChannel(*more), Sleeper()
    retry_loop = RetryLoop(channel, "target", b"{}", RetryPolicy(attempts, sleeper, lambda: 1.0))
    assert retry_loop.follow(first) == b"{}"
    return retry_loop, channel, sleeper


def test_bounds_grow_and_are_capped() -> None:
    sleeper = Sleeper()
    policy = RetryPolicy(5, sleeper, lambda: 1.0)
    for retry in range(1, 9):
        policy.pause(Cause.FAILED, retry)
    assert sleeper.slept == [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0]


def test_jitter_is_full() -> None:
    sleeper = Sleeper()
    for chance in (0.0, 0.5, 0.999):
        RetryPolicy(5, sleeper, lambda chance=chance: chance).pause(Cause.THROTTLED, 1)  # type: ignore[misc]
    assert sleeper.slept == pytest.approx([0.0, 0.025, 0.04995])


def test_a_timeout_costs_double_and_success_returns_the_last_cost() -> None:
    policy = RetryPolicy(5, Sleeper(), lambda: 1.0)
    retries = policy.begin()
    assert retries.allow(Cause.FAILED)
    assert retries.allow(Cause.TIMED_OUT)
    assert policy.budget.left == 485
    retries.succeeded()
    assert policy.budget.left == 495
    policy.reward()
    assert policy.budget.left == 496


@pytest.mark.parametrize(
    "code",
    [
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "ReplicatedWriteConflictException",
        "RequestLimitExceeded",
        "TransactionInProgressException",
    ],
)
def test_throttling_is_repeated_and_certain(code: str) -> None:
    retry_loop, _, sleeper = followed(refusal(code), GOOD)
    assert sleeper.slept == [0.05]
    assert not retry_loop.ambiguous


@pytest.mark.parametrize(
    "code",
    ["ConditionalCheckFailedException", "TransactionCanceledException", "TransactionConflictException"],
)
def test_conflicts_are_for_the_caller(code: str) -> None:
    with pytest.raises(WireError) as caught:
        followed(refusal(code))
    assert (caught.value.code, caught.value.message, caught.value.ambiguous) == (code, "no", False)


def test_a_refusal_after_a_lost_answer_is_ambiguous() -> None:
    with pytest.raises(WireError) as caught:
        followed(Lost("reset", sent=True), refusal("ConditionalCheckFailedException"))
    assert caught.value.ambiguous


def test_a_refusal_of_a_request_that_went_out_twice_is_ambiguous() -> None:
    answer = refusal("ConditionalCheckFailedException")
    with pytest.raises(WireError) as caught:
        followed(PostAnswer(answer.status, answer.body, answer.head, True))
    assert caught.value.ambiguous


@pytest.mark.parametrize(("timed_out", "cost"), [(True, 10), (False, 5)])
def test_to_try_again_after_a_timeout_costs_twice_as_much(timed_out: bool, cost: int) -> None:
    policy = RetryPolicy(2, lambda _: None, lambda: 1.0)
    lost = Lost("nothing came", sent=True, timed_out=timed_out)
    with pytest.raises(Unreachable):
        RetryLoop(ScriptedChannel(lost), "target", b"{}", policy).follow(lost)
    assert policy.budget.left == policy.budget.size - cost


def test_to_have_tried_again_with_success_costs_nothing() -> None:
    policy = RetryPolicy(2, lambda _: None, lambda: 1.0)
    RetryLoop(ScriptedChannel(GOOD), "target", b"{}", policy).follow(Lost("reset", sent=True))
    assert policy.budget.left == policy.budget.size


def test_a_success_of_a_request_that_went_out_twice_is_ambiguous() -> None:
    for resent in (True, False):
        retry_loop, channel, _ = followed(refusal("ThrottlingException"), PostAnswer(200, b"{}", GOOD.head, resent))
        assert retry_loop.ambiguous is resent
        assert channel.fresh == [False], "a connection that is sound is kept"


def test_a_stale_connection_costs_no_attempt_and_no_wait() -> None:
    retry_loop, channel, sleeper = followed(Lost("empty", sent=True, stale=True), GOOD, attempts=1)
    assert channel.fresh == [True]
    assert sleeper.slept == []
    assert retry_loop.ambiguous


def test_an_answer_whose_checksum_is_no_number_is_damaged() -> None:
    damaged = PostAnswer(200, b"{}", b"HTTP/1.1 200 OK\r\nx-amz-crc32: none\r\n\r\n", False)
    retry_loop, _, _ = followed(damaged, GOOD)
    assert retry_loop.ambiguous


def test_what_was_not_sent_was_not_executed() -> None:
    retry_loop, _, _ = followed(Lost("refused", sent=False), GOOD)
    assert not retry_loop.ambiguous


def test_hopeless_failures_are_not_repeated() -> None:
    with pytest.raises(Unreachable, match="certificate") as caught:
        followed(Lost("bad certificate", sent=False, hopeless=True))
    assert not caught.value.ambiguous


def test_a_proxys_page_is_an_error_too() -> None:
    with pytest.raises(WireError, match="Http403"):
        followed(PostAnswer(403, b"<html>", b"HTTP/1.1 403\r\n\r\n", False))
    with pytest.raises(WireThrottled):
        followed(PostAnswer(429, b"slow down", b"HTTP/1.1 429\r\n\r\n", False), attempts=1)


def test_some_services_write_message_with_a_capital() -> None:
    with pytest.raises(WireError, match="AccessDeniedException: not you"):
        followed(PostAnswer(400, b'{"__type": "AccessDeniedException", "Message": "not you"}', GOOD.head, False))


def cancelled(*codes: str) -> WireError:
    reasons = [{"Code": code} for code in codes]
    body = json.dumps({"__type": "x#TransactionCanceledException", "CancellationReasons": reasons}).encode()
    return WireError("TransactionCanceledException", "", 400, body, False)


@pytest.mark.parametrize(
    ("codes", "passing"),
    [
        (["None", "TransactionConflict"], True),
        (["ThrottlingError", "ProvisionedThroughputExceeded"], True),
        (["TransactionConflict", "ConditionalCheckFailed"], False),
        (["ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"], True),
        (["ConditionalCheckFailed"], False),
        (["ThrottlingError", "ValidationError"], False),
        (["None"], False),
        ([], False),
    ],
)
def test_cancellations_that_pass(codes: list[str], passing: bool) -> None:
    assert transient_cancellation(cancelled(*codes)) is passing


def test_other_errors_are_no_cancellations() -> None:
    assert not transient_cancellation(WireError("ValidationException", "", 400, b"{}", False))
    assert not transient_cancellation(WireError("TransactionCanceledException", "", 400, b"<html>", False))
    body = cancelled("TransactionConflict").body
    assert not transient_cancellation(WireError("ConditionalCheckFailedException", "", 400, body, False))
