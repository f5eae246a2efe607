"""The log sink: one line a message, nothing private in it."""

from __future__ import annotations

import json
import logging

import pytest

from penstock import FrozenClock, Store
from penstock.events.relay import Relay
from penstock.sinks import LogSink
from tests.sinks.outbox import announce, envelope, tell_everything


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.name == "penstock.outbox"]


def test_a_message_is_one_line_without_its_payload(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "penstock.outbox")
    assert LogSink().deliver([envelope("e-1", secret="hush"), envelope("e-2", aggregate="two\nlines\u2028here")]) == [
        None,
        None,
    ]
    first, second = lines(caplog)
    assert json.loads(first) == {
        "specversion": "1.0",
        "id": "e-1",
        "source": "penstock",
        "type": "project.edited",
        "subject": "Project(1)",
        "project": "p-1",
        "time": "2037-01-01T12:00:00.123456Z",
    }
    assert "hush" not in caplog.text
    assert len(second.splitlines()) == 1
    assert vars(caplog.records[0])["outbox"]["id"] == "e-1"


def test_the_payload_is_logged_when_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "penstock.outbox")
    LogSink(payload=True, level=logging.DEBUG).deliver([envelope(n=1)])
    assert json.loads(lines(caplog)[0])["data"] == {"n": 1}
    assert caplog.records[0].levelno == logging.DEBUG


def test_the_relay_tells_everything_to_the_log(
    outbox_store: Store, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "penstock.outbox")
    told = announce(outbox_store, projects=2, messages=3)
    assert tell_everything(Relay(outbox_store, LogSink(), owner="r"), clock).published == 6
    logged = [json.loads(line) for line in lines(caplog)]
    assert {a: [x["id"] for x in logged if x["subject"] == a] for a in told} == told
