"""Every sink tells the same CloudEvent, so that a receiver reads one form wherever it listens."""

from __future__ import annotations

import json
import logging

import pytest

from penstock import FrozenClock
from penstock.runtime.composition import open_sink
from penstock.runtime.settings import Settings
from penstock.sinks.cloud_event import cloud_event
from penstock.sinks.eventbridge import EventBridgeSink
from tests.sinks.kafka_cluster import KafkaCluster
from tests.sinks.outbox import envelope
from tests.sinks.receiver import Receiver

SOURCE = "https://penstock.example"
MESSAGE = envelope("e-7", word="café")
EVENT = {
    "specversion": "1.0",
    "id": "e-7",
    "source": SOURCE,
    "type": "project.edited",
    "subject": "Project(1)",
    "project": "p-1",
    "time": "2037-01-01T12:00:00.123456Z",
    "datacontenttype": "application/json",
    "data": {"word": "café"},
}


def test_all_sinks_of_a_deployment_tell_the_same_cloud_event(
    receiver: Receiver, kafka: KafkaCluster, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "penstock.outbox")
    topic = kafka.create_topic()
    for url in (receiver.url, f"kafka://{kafka.url}/{topic}", "log:"):
        settings = Settings(sink=url, public_url=SOURCE, webhook_secret="secret")
        assert open_sink(settings, clock=clock).deliver([MESSAGE]) == [None]
    bus = open_sink(Settings(sink="eventbridge://bus", public_url=SOURCE, aws_region="us-east-1"), clock=clock)
    assert isinstance(bus, EventBridgeSink)
    (produced,) = kafka.read(topic, count=1)
    (line,) = [r.getMessage() for r in caplog.records if r.name == "penstock.outbox"]
    assert receiver.taken[0].event == EVENT
    assert json.loads(produced.value() or b"") == EVENT
    assert json.loads(bus._entry(MESSAGE)["Detail"]) == EVENT
    without_data = {name: value for name, value in EVENT.items() if not name.startswith("data")}
    assert json.loads(line) == without_data, "what is told may be private, and the log is everybody's"


def test_what_is_of_no_project_says_none() -> None:
    message = envelope("e-8")
    bare = type(message)(message.id, message.type, message.aggregate, None, message.payload, message.at)
    assert "project" not in cloud_event(bare, source=SOURCE)
