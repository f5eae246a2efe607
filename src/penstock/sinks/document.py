"""A message as a JSON document, the same for every receiver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from penstock.ports.sink import Envelope, Undeliverable

_encoder = msgspec.json.Encoder(decimal_format="number")


def document(message: Envelope) -> dict[str, Any]:
    """Everything a receiver may want to know of a message."""
    return {
        "id": message.id,
        "type": message.type,
        "aggregate": message.aggregate,
        "project": message.project,
        "at": moment(message.at),
        "payload": message.payload,
    }


def encoded(document: Mapping[str, Any]) -> bytes:
    """The document in UTF-8, or Undeliverable when it holds something that JSON has no word for."""
    try:
        return _encoder.encode(document)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Undeliverable(f"the message cannot be written as JSON: {error}") from error


def moment(at: datetime) -> str:
    """A moment in UTC, with a fixed width."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
