"""The events of an object store, read: which objects have come, whatever envelope tells of them.

| envelope | keys |
|---|---|
| S3 notification: `Records`, several | URL-encoded, with `+` for a space |
| the same in SNS (`Message`) or SQS (`body`) | the same |
| EventBridge: `detail` | as they are |
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from penstock.errors import InvalidValue

MOST_RECORDS = 1000
_DEEPEST = 3
_LONGEST_KEY = 3072
"Bytes of a key, each of which may be written with three."


@dataclass(frozen=True, slots=True)
class StoreEvent:
    """That an object has come."""

    bucket: str
    key: str
    etag: str | None = None
    size: int | None = None
    sequencer: str | None = None
    "Later events of a key have a greater one."

    @property
    def identity(self) -> str:
        """The same for the same event, however often it is delivered."""
        return "|".join([self.bucket, self.key, self.etag or "", self.sequencer or ""])


@dataclass(frozen=True, slots=True)
class ReadEvents:
    """What an envelope tells."""

    events: tuple[StoreEvent, ...]
    ignored: int
    "Records that tell of something else, such as a removal."


def read_events(body: Mapping[str, Any]) -> ReadEvents:
    """The objects that an envelope tells of; InvalidValue if it is none."""
    found: list[StoreEvent] = []
    ignored = 0
    for record in _records(body, _DEEPEST):
        event = _event(record)
        if event is None:
            ignored += 1
        else:
            found.append(event)
        if len(found) + ignored > MOST_RECORDS:
            raise InvalidValue(f"an event has at most {MOST_RECORDS} records; send several")
    return ReadEvents(tuple(found), ignored)


def _records(body: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
    if depth == 0:
        raise InvalidValue("the event lies in more envelopes than are opened")
    if isinstance(body.get("Records"), list):
        for each in body["Records"]:
            if isinstance(each, Mapping):
                yield from _records(_inner(each), depth - 1) if _is_letter(each) else iter([each])
    elif isinstance(body.get("detail"), Mapping):
        yield body
    elif _is_letter(body):
        yield from _records(_inner(body), depth - 1)
    elif body.get("Event") != "s3:TestEvent":
        raise InvalidValue("this is no event of an object store: it has neither Records nor a detail")


def _is_letter(body: Mapping[str, Any]) -> bool:
    sns = body.get("Sns")
    return any(isinstance(body.get(name), str) for name in ("body", "Message")) or isinstance(sns, Mapping)


def _inner(letter: Mapping[str, Any]) -> Mapping[str, Any]:
    sns = letter.get("Sns")
    text = letter.get("body") or letter.get("Message") or (sns.get("Message") if isinstance(sns, Mapping) else None)
    try:
        told = json.loads(str(text))
    except (ValueError, RecursionError):
        raise InvalidValue("what lies in the envelope is no JSON") from None
    if not isinstance(told, Mapping):
        raise InvalidValue("what lies in the envelope is no event of an object store")
    return told


def _event(record: Mapping[str, Any]) -> StoreEvent | None:
    """One object that has come; None for what tells of something else."""
    detail = record.get("detail")
    if isinstance(detail, Mapping):
        return _told(detail, encoded=False) if record.get("detail-type") == "Object Created" else None
    name = record.get("eventName")
    came = isinstance(name, str) and name.removeprefix("s3:").startswith("ObjectCreated:")
    place = record.get("s3")
    return _told(place, encoded=True) if came and isinstance(place, Mapping) else None


def _told(place: Mapping[str, Any], *, encoded: bool) -> StoreEvent:
    bucket, thing = place.get("bucket"), place.get("object")
    name = bucket.get("name") if isinstance(bucket, Mapping) else None
    key = thing.get("key") if isinstance(thing, Mapping) else None
    if not isinstance(thing, Mapping) or not isinstance(name, str) or not isinstance(key, str) or not name or not key:
        raise InvalidValue("a record of the event names no bucket, or no key")
    if len(key) > _LONGEST_KEY or len(name) > 255:
        raise InvalidValue("a record of the event has a name that no bucket, or a key that no object can have")
    etag, size, sequencer = thing.get("eTag", thing.get("etag")), thing.get("size"), thing.get("sequencer")
    return StoreEvent(
        name,
        unquote_plus(key) if encoded else key,
        etag if isinstance(etag, str) else None,
        size if isinstance(size, int) and size >= 0 else None,
        sequencer if isinstance(sequencer, str) else None,
    )
