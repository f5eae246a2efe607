"""A message as a CloudEvent 1.0 in JSON, the same from every sink."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from penstock.ports.sink import Envelope, Undeliverable

CONTENT_TYPE = "application/cloudevents+json; charset=utf-8"
USUAL_SOURCE = "penstock"
"Who speaks, where nobody says more; services say their URL."

_encoder = msgspec.json.Encoder(decimal_format="number")


def cloud_event(message: Envelope, *, source: str) -> dict[str, Any]:
    """The message as a CloudEvent 1.0, in structured mode."""
    event = {
        "specversion": "1.0",
        "id": message.id,
        "source": source,
        "type": message.type,
        "subject": message.aggregate,
        "time": moment(message.at),
        "datacontenttype": "application/json",
        "data": message.payload,
    }
    return event if message.project is None else {**event, "project": message.project}


def encoded(event: Mapping[str, Any]) -> bytes:
    """The event in UTF-8, or Undeliverable when it holds something that JSON has no word for."""
    try:
        return _encoder.encode(event)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Undeliverable(f"the message cannot be written as JSON: {error}") from error


def moment(at: datetime) -> str:
    """A moment in UTC, with a fixed width."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
