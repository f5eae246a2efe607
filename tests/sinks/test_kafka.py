"""The Kafka sink against three brokers in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import Misconfigured, Unavailable
from penstock.events.relay import Relay, dead_letters, revive
from penstock.kernel.outbox import MessageStatus
from penstock.ports.sink import Undeliverable
from penstock.sinks import KafkaSink
from tests.servers import free_port
from tests.sinks.kafka_cluster import KafkaCluster
from tests.sinks.outbox import AT, announce, envelope, in_order_of_arrival, messages, tell_everything

if TYPE_CHECKING:
    from confluent_kafka import Message

NOT_LEADER, TOO_LARGE, TOPIC_FORBIDDEN, POLICY = 6, 10, 29, 44

Opener = Callable[..., KafkaSink]


@pytest.fixture
def open_sink(kafka: KafkaCluster) -> Iterator[Opener]:
    opened: list[KafkaSink] = []

    def open_one(topic: str | Callable[[str], str], *, seconds: float = 20.0, **options: Any) -> KafkaSink:
        named = {name.replace("_", "."): value for name, value in options.items()}
        opened.append(KafkaSink(kafka.url, topic=topic, timeout=timedelta(seconds=seconds), options=named))
        return opened[-1]

    yield open_one
    for sink in opened:
        sink.close()


def id_of(message: Message) -> str:
    return dict(message.headers() or [])["ce_id"].decode()  # type: ignore[union-attr]


def arrivals(found: list[Message]) -> Iterator[tuple[str, str]]:
    """What was read, in the order of each partition."""
    for message in sorted(found, key=lambda m: (m.partition(), m.offset())):
        yield message.key().decode(), id_of(message)  # type: ignore[union-attr]


def test_a_message_carries_key_headers_time_and_document(kafka: KafkaCluster, open_sink: Opener) -> None:
    topic = kafka.create_topic()
    assert open_sink(topic).deliver([envelope("e-1", word="café")]) == [None]
    (found,) = kafka.read(topic, count=1)
    assert found.key() == b"Project(1)"
    assert found.headers() == [
        ("content-type", b"application/cloudevents+json; charset=utf-8"),
        ("ce_id", b"e-1"),
        ("ce_type", b"project.edited"),
    ]
    assert found.timestamp()[1] == int(AT.timestamp() * 1000)
    assert json.loads(found.value() or b"") == {
        "specversion": "1.0",
        "id": "e-1",
        "source": "penstock",
        "type": "project.edited",
        "subject": "Project(1)",
        "project": "p-1",
        "time": "2037-01-01T12:00:00.123456Z",
        "datacontenttype": "application/json",
        "data": {"word": "café"},
    }


def test_order_holds_for_each_aggregate_over_three_partitions(
    outbox_store: Store, clock: FrozenClock, kafka: KafkaCluster, open_sink: Opener
) -> None:
    topic = kafka.create_topic(partitions=3)
    told = announce(outbox_store, projects=9, messages=6)
    assert tell_everything(Relay(outbox_store, open_sink(topic), owner="r"), clock).published == 54
    found = kafka.read(topic, count=54)
    assert len(found) == 54, "something was sent twice"
    assert in_order_of_arrival(arrivals(found)) == told
    assert len({m.partition() for m in found}) > 1
    assert all(len({m.partition() for m in found if m.key() == a.encode()}) == 1 for a in told)
    assert messages(outbox_store, MessageStatus.PENDING) == []


def test_the_topic_may_follow_the_type(kafka: KafkaCluster, open_sink: Opener) -> None:
    created, edited = kafka.create_topic(), kafka.create_topic()
    topics = {"project.created": created, "project.edited": edited}
    sent = [envelope("e-1", type="project.created"), envelope("e-2", aggregate="b")]
    unknown = envelope("e-3", aggregate="c", type="project.lost")
    *fine, refused = open_sink(topics.__getitem__).deliver([*sent, unknown])
    assert fine == [None, None]
    assert isinstance(refused, Undeliverable)
    assert "project.lost" in str(refused)
    assert [id_of(m) for m in kafka.read(created, count=1)] == ["e-1"]
    assert [id_of(m) for m in kafka.read(edited, count=1)] == ["e-2"]


def test_a_message_over_the_clients_limit_is_undeliverable_and_alone_in_it(
    kafka: KafkaCluster, open_sink: Opener
) -> None:
    topic = kafka.create_topic()
    sink = open_sink(topic, message_max_bytes=2000)
    sent = [envelope("e-1"), envelope("large", aggregate="b", text="x" * 3000), envelope("e-3", aggregate="c")]
    fine, refused, also_fine = sink.deliver(sent)
    assert (fine, also_fine) == (None, None)
    assert isinstance(refused, Undeliverable)
    assert {id_of(m) for m in kafka.read(topic, count=2)} == {"e-1", "e-3"}


def test_a_message_over_the_brokers_limit_is_undeliverable(kafka: KafkaCluster, open_sink: Opener) -> None:
    sink = open_sink(kafka.create_topic())
    kafka.refuse(TOO_LARGE)
    (refused,) = sink.deliver([envelope()])
    assert isinstance(refused, Undeliverable)


def test_a_batch_that_is_refused_as_too_large_is_sent_one_by_one(kafka: KafkaCluster, open_sink: Opener) -> None:
    topic = kafka.create_topic(partitions=1)
    sink = open_sink(topic)
    assert sink.deliver([envelope("first")]) == [None]
    kafka.refuse(TOO_LARGE)
    assert sink.deliver([envelope(f"e-{n}", aggregate=f"a-{n}") for n in range(5)]) == [None] * 5
    assert {id_of(m) for m in kafka.read(topic, count=6)} == {"first", *(f"e-{n}" for n in range(5))}


def test_a_change_of_leaders_is_waited_out(kafka: KafkaCluster, open_sink: Opener) -> None:
    topic = kafka.create_topic(partitions=1)
    sink = open_sink(topic)
    kafka.refuse(NOT_LEADER, NOT_LEADER)
    assert sink.deliver([envelope("e-1")]) == [None]
    assert [id_of(m) for m in kafka.read(topic, count=1)] == ["e-1"]


@pytest.mark.parametrize(("code", "kind"), [(TOPIC_FORBIDDEN, Unavailable), (POLICY, Undeliverable)])
def test_other_refusals_keep_their_meaning(kafka: KafkaCluster, open_sink: Opener, code: int, kind: type) -> None:
    sink = open_sink(kafka.create_topic(partitions=1))
    kafka.refuse(code)
    (refused,) = sink.deliver([envelope("e-1")])
    assert isinstance(refused, kind)
    assert sink.deliver([envelope("e-1")]) == [None], "the sink does not work any more"


def test_nobody_there_is_tried_again_and_nothing_is_sent_later() -> None:
    sink = KafkaSink(f"127.0.0.1:{free_port()}", topic="t", timeout=timedelta(seconds=1))
    started = time.monotonic()
    outcomes = sink.deliver([envelope("e-1"), envelope("e-2", aggregate="b")])
    assert time.monotonic() - started < 6
    assert all(isinstance(o, Unavailable) for o in outcomes)
    assert len(sink._producers.get()) == 0
    sink.close()


@pytest.mark.parametrize("purged", [False, True])
def test_a_cluster_that_stalls_neither_loses_nor_reorders_anything(
    outbox_store: Store, clock: FrozenClock, kafka: KafkaCluster, open_sink: Opener, purged: bool
) -> None:
    topic = kafka.create_topic(partitions=3)
    sink = open_sink(topic, seconds=20.0 if purged else 4.0)
    assert sink.deliver([envelope("warm", aggregate="warm")]) == [None]
    if purged:  # the sink's patience ends before the library's
        sink._seconds = -1.5
    told = announce(outbox_store, projects=4, messages=3)
    relay = Relay(outbox_store, sink, owner="r")
    with kafka.stalled():
        assert relay.run_once().postponed == 4
        assert len(sink._producers.get()) == 0, "something would be sent behind the relay's back"
    sink._seconds = 20.0
    clock.advance(timedelta(minutes=6))
    assert tell_everything(relay, clock).published == 12
    found = [a for a in arrivals(kafka.read(topic, count=13)) if a[0] != "warm"]
    assert in_order_of_arrival(found) == told
    first = {ids[0] for ids in told.values()}
    copies = Counter(i for _, i in found)
    assert {i for i, n in copies.items() if n > 1} <= first, "an acknowledged message was sent again"


def test_calls_take_turns_so_that_one_which_gives_up_touches_nothing_of_another(
    kafka: KafkaCluster, open_sink: Opener
) -> None:
    """Giving up empties the producer, which all calls share."""
    topic, turns = kafka.create_topic(), list[str]()

    def topic_of(type: str) -> str:
        turns.append(type)
        if type == "first":
            other.start()
            other.join(0.2)  # it would come in at once if it could
        return topic

    sink = open_sink(topic_of)
    other = Thread(target=sink.deliver, args=([envelope("e-3", aggregate="c", type="other")],))
    sent = [envelope("e-1", type="first"), envelope("e-2", aggregate="b", type="second")]
    assert sink.deliver(sent) == [None, None]
    other.join()
    assert turns == ["first", "second", "other"]
    assert {id_of(m) for m in kafka.read(topic, count=3)} == {"e-1", "e-2", "e-3"}


def test_a_dead_letter_can_be_revived(
    outbox_store: Store, clock: FrozenClock, kafka: KafkaCluster, open_sink: Opener
) -> None:
    topic = kafka.create_topic()
    ((first, second),) = announce(outbox_store, projects=1, messages=2).values()
    relay = Relay(outbox_store, open_sink(topic), owner="r")
    kafka.refuse(POLICY)
    done = tell_everything(relay, clock)
    assert (done.published, done.buried) == (0, 1)
    (dead,) = dead_letters(outbox_store)
    assert dead.event_id == first
    revive(outbox_store, dead, by="ann")
    assert tell_everything(relay, clock).published == 2
    assert [i for _, i in arrivals(kafka.read(topic, count=2))] == [first, second], "what was held back follows"


FORKING = """
import os, sys
from datetime import timedelta
from penstock.sinks import KafkaSink
from tests.sinks.outbox import envelope

sink = KafkaSink(sys.argv[1], topic=sys.argv[2], timeout=timedelta(seconds=20))
assert sink.deliver([envelope("parent")]) == [None]
child = os.fork()
assert sink.deliver([envelope("after", aggregate=str(child))]) == [None]
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_a_forked_child_opens_its_own_producer_and_ends_in_peace(kafka: KafkaCluster) -> None:
    topic = kafka.create_topic()
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FORKING, kafka.url, topic]
    done = subprocess.run(command, timeout=60, capture_output=True, text=True, env=here)
    assert done.returncode == 0, done.stderr
    assert sorted(id_of(m) for m in kafka.read(topic, count=3)) == ["after", "after", "parent"]


def test_options_that_cannot_be_are_refused_without_touching_a_message() -> None:
    sink = KafkaSink("127.0.0.1:1", topic="t", options={"no.such.option": 1})
    with pytest.raises(Misconfigured, match=r"no\.such\.option"):
        sink.deliver([envelope()])


def test_options_cannot_take_the_promises_away(kafka: KafkaCluster, open_sink: Opener) -> None:
    sink = open_sink(kafka.create_topic(), acks=0, enable_idempotence=False)
    assert sink._settings["acks"] == "all"
    assert sink._settings["enable.idempotence"] is True
    assert sink.deliver([envelope()]) == [None]


def test_no_messages_are_no_trouble(kafka: KafkaCluster, open_sink: Opener) -> None:
    assert open_sink(kafka.create_topic()).deliver([]) == []
