"""The EventBridge sink: from the outbox through a rule to a queue, on moto in a process of its own."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Misconfigured, Throttled, Unavailable
from penstock.events.relay import Relay, dead_letters
from penstock.kernel.outbox import MessageStatus
from penstock.ports.sink import Undeliverable
from penstock.sinks import EventBridgeSink
from penstock.sinks.eventbridge import _parts
from tests.servers import free_port
from tests.sinks.moto_server import Moto
from tests.sinks.outbox import announce, envelope, messages, tell_everything
from tests.sinks.receiver import Receiver

_counter = itertools.count()
LIMIT = 256 * 1024


class Bus:
    """An event bus with a rule that sends the events of one type to a queue."""

    def __init__(self, moto: Moto) -> None:
        self.name, self.source = f"bus-{next(_counter)}", "penstock.test"
        self._sqs = moto.client("sqs")
        self._queue = self._sqs.create_queue(QueueName=self.name)["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self._queue, AttributeNames=["QueueArn"])
        events = moto.client("events")
        events.create_event_bus(Name=self.name)
        pattern = json.dumps({"source": [self.source], "detail-type": ["project.edited"]})
        events.put_rule(Name=self.name, EventBusName=self.name, EventPattern=pattern)
        target = {"Id": "queue", "Arn": arn["Attributes"]["QueueArn"]}
        events.put_targets(Rule=self.name, EventBusName=self.name, Targets=[target])

    def read(self, *, count: int, seconds: float = 20.0) -> list[dict[str, Any]]:
        """The events in the queue, as soon as there are so many and no more."""
        found: list[dict[str, Any]] = []
        deadline = time.monotonic() + seconds
        while True:
            answer = self._sqs.receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10, WaitTimeSeconds=0)
            for message in answer.get("Messages", ()):
                found.append(json.loads(message["Body"]))
                self._sqs.delete_message(QueueUrl=self._queue, ReceiptHandle=message["ReceiptHandle"])
            if len(found) >= count and not answer.get("Messages"):
                return found
            assert time.monotonic() < deadline, f"{len(found)} of {count} events after {seconds:g} s"


@pytest.fixture
def bus(moto: Moto) -> Bus:
    return Bus(moto)


@pytest.fixture
def sink(moto: Moto, bus: Bus) -> Iterator[EventBridgeSink]:
    sink = EventBridgeSink(
        source="https://penstock.example",
        bus_source=bus.source,
        bus=bus.name,
        region="us-east-1",
        endpoint=moto.url,
        access_key="test",
        secret_key="test",
    )
    yield sink
    sink.close()


def requests_of(sink: EventBridgeSink) -> list[int]:
    """How many entries each request held, from now on; what is sent stays the same."""
    sizes: list[int] = []
    client = sink._clients.get()

    def note(params: dict[str, Any], **_: Any) -> None:
        sizes.append(len(params["Entries"]))

    client.meta.events.register("provide-client-params.events.PutEvents", note)
    return sizes


def answering(sink: EventBridgeSink, answer: Callable[[list[Any]], Any]) -> None:
    """Let EventBridge answer what moto never does."""

    class Client:
        def put_events(self, Entries: list[Any]) -> Any:  # noqa: N803
            return answer(Entries)

        def close(self) -> None: ...

    sink.close()
    sink._clients._open = Client


def test_every_message_reaches_the_queue_of_a_rule(
    outbox_store: Store, clock: FrozenClock, bus: Bus, sink: EventBridgeSink
) -> None:
    told = announce(outbox_store, projects=12, messages=3)
    sizes = requests_of(sink)
    assert tell_everything(Relay(outbox_store, sink, owner="r"), clock).published == 36
    assert sizes == [10, 2] * 3
    found = bus.read(count=36)
    details = sorted((e["detail"] for e in found), key=lambda d: str(d["time"]))
    assert {a: [d["id"] for d in details if d["subject"] == a] for a in told} == told
    assert (details[0]["specversion"], details[0]["source"]) == ("1.0", "https://penstock.example")
    assert details[0]["data"]["word"] == "café"
    assert {(e["source"], e["detail-type"]) for e in found} == {(bus.source, "project.edited")}
    assert messages(outbox_store, MessageStatus.PENDING) == []


def test_a_rule_picks_by_type(bus: Bus, sink: EventBridgeSink) -> None:
    sent = [envelope("e-1"), envelope("e-2", aggregate="b", type="project.created")]
    assert sink.deliver(sent) == [None, None]
    assert [e["detail"]["id"] for e in bus.read(count=1)] == ["e-1"]


def test_large_messages_travel_in_requests_that_are_small_enough(bus: Bus, sink: EventBridgeSink) -> None:
    sizes = requests_of(sink)
    sent = [envelope(f"e-{n}", aggregate=f"a-{n}", text="é" * 50_000) for n in range(7)]
    assert sink.deliver(sent) == [None] * 7
    assert sizes == [2, 2, 2, 1]
    assert {e["detail"]["id"] for e in bus.read(count=7)} == {m.id for m in sent}


def test_the_parts_hold_everything_in_order_and_stay_within_the_limits() -> None:
    entries = [(n, {"Source": "s", "DetailType": "t", "Detail": "x" * (n * 7919 % LIMIT // 2)}) for n in range(200)]
    parts = list(_parts(entries))
    assert [n for part in parts for n, _ in part] == list(range(200))
    assert all(1 <= len(part) <= 10 for part in parts)
    assert all(sum(len(e["Detail"]) + 16 for _, e in part) <= LIMIT for part in parts)


def test_a_message_that_is_too_large_is_undeliverable_and_alone_in_it(bus: Bus, sink: EventBridgeSink) -> None:
    large = envelope("large", text="x" * LIMIT)
    fine, refused, also_fine = sink.deliver([envelope("e-1"), large, envelope("e-2", aggregate="c")])
    assert (fine, also_fine) == (None, None)
    assert isinstance(refused, Undeliverable)
    assert "262144" in str(refused)
    assert {e["detail"]["id"] for e in bus.read(count=2)} == {"e-1", "e-2"}


def test_the_largest_message_that_fits_is_sent(bus: Bus, sink: EventBridgeSink) -> None:
    overhead = LIMIT - len(sink._entry(envelope(text=""))["Detail"]) - len("penstock.testproject.edited") - 14
    assert sink.deliver([envelope(text="x" * overhead)]) == [None]
    (refused,) = sink.deliver([envelope(text="x" * (overhead + 1))])
    assert isinstance(refused, Undeliverable)
    bus.read(count=1)


def test_each_entry_is_answered_for_by_itself(sink: EventBridgeSink) -> None:
    codes = [None, "ThrottlingException", "InternalFailure", "MalformedDetail", "InternalException", "AccessDenied"]

    def answer(entries: list[Any]) -> Any:
        results = [{"EventId": "x"} if c is None else {"ErrorCode": c, "ErrorMessage": "why"} for c in codes]
        return {"FailedEntryCount": 5, "Entries": results[: len(entries)]}

    answering(sink, answer)
    outcomes = sink.deliver([envelope(f"e-{n}", aggregate=f"a-{n}") for n in range(len(codes))])
    kinds = [type(None), Throttled, Unavailable, Undeliverable, Unavailable, Undeliverable]
    assert [type(o) for o in outcomes] == kinds
    assert "MalformedDetail: why" in str(outcomes[3])


def test_an_entry_that_spoils_a_request_does_not_take_the_others_along(sink: EventBridgeSink) -> None:
    from botocore.exceptions import ClientError

    def answer(entries: list[Any]) -> Any:
        if any("spoilt" in e["Detail"] for e in entries):
            raise ClientError({"Error": {"Code": "ValidationException", "Message": "no"}}, "PutEvents")
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "x"} for _ in entries]}

    answering(sink, answer)
    outcomes = sink.deliver([envelope(f"e-{n}", aggregate=f"a-{n}", text="spoilt" * (n == 4)) for n in range(12)])
    assert [n for n, o in enumerate(outcomes) if o is not None] == [4]
    assert isinstance(outcomes[4], Undeliverable)


@pytest.mark.parametrize(("code", "kind"), [("ThrottlingException", Throttled), ("AccessDeniedException", Unavailable)])
def test_a_refusal_that_is_no_messages_fault_is_tried_again(sink: EventBridgeSink, code: str, kind: type) -> None:
    from botocore.exceptions import ClientError

    def answer(entries: list[Any]) -> Any:
        raise ClientError({"Error": {"Code": code, "Message": "no"}}, "PutEvents")

    answering(sink, answer)
    assert [type(o) for o in sink.deliver([envelope("e-1"), envelope("e-2")])] == [kind, kind]


def test_an_answer_for_too_few_is_tried_again(sink: EventBridgeSink) -> None:
    answering(sink, lambda entries: {"FailedEntryCount": 0, "Entries": [{"EventId": "x"}]})
    assert all(isinstance(o, Unavailable) for o in sink.deliver([envelope("e-1"), envelope("e-2")]))


def test_a_bus_nobody_answers_for_is_asked_once_a_batch_and_tried_again(
    outbox_store: Store, clock: FrozenClock, moto: Moto, bus: Bus, sink: EventBridgeSink
) -> None:
    announce(outbox_store, projects=30, messages=1)
    absent = EventBridgeSink(
        source="https://penstock.example",
        bus_source=bus.source,
        bus=bus.name,
        region="us-east-1",
        endpoint=f"http://127.0.0.1:{free_port()}",
        access_key="test",
        secret_key="test",
        timeout=timedelta(seconds=2),
    )
    relay = Relay(outbox_store, absent, owner="r")
    sizes = requests_of(absent)
    assert relay.run_once().postponed == 30
    assert sizes == [10]
    relay.close()
    clock.advance(timedelta(minutes=6))
    assert tell_everything(Relay(outbox_store, sink, owner="r"), clock).published == 30
    assert len(bus.read(count=30)) == 30


def test_a_dead_letter_says_why(outbox_store: Store, clock: FrozenClock, bus: Bus, sink: EventBridgeSink) -> None:
    announce(outbox_store, projects=1, messages=1)

    def answer(entries: list[Any]) -> Any:
        return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "NotAuthorizedForSourceException"}]}

    answering(sink, answer)
    assert tell_everything(Relay(outbox_store, sink, owner="r"), clock).buried == 1
    (dead,) = dead_letters(outbox_store)
    assert dead.error is not None
    assert "NotAuthorizedForSourceException" in dead.error


def test_an_endpoint_that_is_no_url_is_refused_without_touching_a_message() -> None:
    sink = EventBridgeSink(source="s", region="us-east-1", endpoint="nowhere", access_key="a", secret_key="b")
    with pytest.raises(Misconfigured, match="EventBridge"):
        sink.deliver([envelope()])


def test_a_sink_that_is_closed_gives_its_connection_back_and_may_be_used_again(receiver: Receiver) -> None:
    taken = b'{"FailedEntryCount": 0, "Entries": [{"EventId": "x"}]}'
    receiver.usually = lambda handler, seen: handler.answer(200, taken)
    sink = EventBridgeSink(source="s", region="us-east-1", endpoint=receiver.url, access_key="a", secret_key="b")
    assert sink.deliver([envelope("e-1")]) == [None]
    closed = sink._clients.get()
    sink.close()
    assert receiver.hung_up.wait(10)
    assert sink.deliver([envelope("e-2")]) == [None]
    assert sink._clients.get() is not closed
    sink.close()


def test_no_messages_need_no_client() -> None:
    assert EventBridgeSink(source="s", region="us-east-1", endpoint="nowhere").deliver([]) == []
