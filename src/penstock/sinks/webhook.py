"""Webhooks: each message is posted to a URL as a CloudEvent, signed."""

from __future__ import annotations

import re
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from penstock.errors import Misconfigured, Throttled, Unavailable
from penstock.ports import Clock, Envelope, Undeliverable
from penstock.sinks.document import encoded, moment
from penstock.sinks.postbox import Answer, Postbox
from penstock.sinks.signature import HEADER, sign, verify

__all__ = ["WebhookSink", "cloud_event", "verify"]

_LATER = frozenset({408, 425, 429})
_FIT_FOR_A_HEADER = re.compile(r"[\x21-\x7e]{1,256}")
_SILENCES = 3
"How many messages a receiver may leave unanswered before the rest of a batch is not tried."


class WebhookSink:
    """Posts messages to one URL, several at a time.

    A 2xx is success; 408, 425, 429, 5xx and silence are tried again later; anything else never is, redirects included.
    ``verify`` tells a receiver that the signature is right; the header ``Idempotency-Key`` and the event's ``id`` tell
    it a repetition.
    """

    def __init__(
        self,
        url: str,
        *,
        secret: str | bytes,
        source: str,
        clock: Clock,
        timeout: timedelta = timedelta(seconds=10),
        connections: int = 4,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if not secret:
            raise Misconfigured("a webhook needs a secret to sign its messages with")
        if not source:
            raise Misconfigured("a webhook needs a source, the URI that tells receivers who speaks")
        self._postbox = Postbox(url, timeout=timeout, tls=tls)
        self._secret, self._source, self._clock, self._connections = secret, source, clock, connections

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        batch = _Batch()
        if len(messages) <= 1:
            return [self._tell(m, batch) for m in messages]
        with ThreadPoolExecutor(min(self._connections, len(messages)), "penstock-webhook") as threads:
            return list(threads.map(lambda m: self._tell(m, batch), messages))

    def close(self) -> None:
        """Give back every connection; the sink may be used again."""
        self._postbox.close()

    def _tell(self, message: Envelope, batch: _Batch) -> Exception | None:
        receiver = self._postbox.receiver
        if batch.hopeless:
            return Unavailable(f"{receiver}: not tried, it answers to no other message either")
        try:
            body, headers = self._request(message)
            answer = self._postbox.post(body, headers)
        except Unavailable as silence:
            batch.silences += 1
            return silence
        except Exception as error:
            return error
        batch.answered = True
        return outcome(answer, receiver)

    def _request(self, message: Envelope) -> tuple[bytes, dict[str, str]]:
        if not _FIT_FOR_A_HEADER.fullmatch(message.id):
            raise Undeliverable("the message's id cannot be sent as a header; ids are 1 to 256 printable characters")
        body = encoded(cloud_event(message, source=self._source))
        return body, {
            "Content-Type": "application/cloudevents+json; charset=utf-8",
            "Accept-Encoding": "identity",
            "User-Agent": "penstock",
            "Idempotency-Key": message.id,
            HEADER: sign(self._secret, body, now=self._clock.now()),
        }


class _Batch:
    """What is known of the receiver from the messages of one call: any answer at all means that it is there."""

    def __init__(self) -> None:
        self.silences = 0
        self.answered = False

    @property
    def hopeless(self) -> bool:
        return self.silences >= _SILENCES and not self.answered


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


def outcome(answer: Answer, receiver: str) -> Exception | None:
    """What an answer means for the message."""
    status = answer.status
    if 200 <= status < 300:
        return None
    said = f"{receiver} answered {status}"
    if answer.retry_after:
        said += f", retry after {answer.retry_after}"
    if status == 429:
        return Throttled(said)
    if status in _LATER or status >= 500 or status < 200:
        return Unavailable(said)
    if status < 400:
        return Undeliverable(f"{said}; redirects are not followed, give the webhook its new URL")
    return Undeliverable(said)
