"""Webhooks: each message is posted to a URL as a CloudEvent, signed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

from penstock.errors import SINK, AddressRefused, Misconfigured, Throttled, Unanswered, Unavailable, telling
from penstock.net import open_client
from penstock.net.exchange import ClientLimits, Response
from penstock.net.url import Url, read_url
from penstock.net.words import fit_to_show
from penstock.ports.clock import Clock
from penstock.ports.sink import Envelope, Undeliverable
from penstock.sinks.cloud_event import CONTENT_TYPE, cloud_event, encoded
from penstock.sinks.webhook_signature import HEADER, sign, verify

__all__ = ["WebhookSink", "verify"]

_LATER = frozenset({408, 425, 429})
_FIT_FOR_A_HEADER = re.compile(r"[\x21-\x7e]{1,256}")
_SILENCES = 3
"How many messages a receiver may leave unanswered before the rest of a batch is not tried."
_LONGEST_ANSWER = 64 * 1024


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
        ca_bundle: str | None = None,
    ) -> None:
        if not secret:
            raise Misconfigured("a webhook needs a secret to sign its messages with")
        if not source:
            raise Misconfigured("a webhook needs a source, the URI that tells receivers who speaks")
        self._url = _address(url)
        # It is the operator's own, so it may be on this machine, and without TLS.
        self._client = open_client(trusted=[url], ca_bundle=ca_bundle, connections=connections)
        self.name = f"the webhook at {self._url.host}"
        "What it is called when it is away; its URL may hold a token."
        self._timeout = timeout
        self._secret, self._source, self._clock, self._connections = secret, source, clock, connections

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        batch = _Batch()
        if len(messages) <= 1:
            return [self._tell(m, batch) for m in messages]
        with ThreadPoolExecutor(min(self._connections, len(messages)), "penstock-webhook") as threads:
            return list(threads.map(lambda m: self._tell(m, batch), messages))

    def close(self) -> None:
        """Give back every connection; the sink may be used again."""
        self._client.close()

    def _tell(self, message: Envelope, batch: _Batch) -> Exception | None:
        receiver = self._url.host
        if batch.hopeless:
            return Unanswered(f"{receiver}: not tried, it answers to no other message either")
        try:
            body, headers = self._request(message)
            status, retry_after = self._post(body, headers)
        except Unavailable as silence:
            batch.silences += 1
            return silence
        except AddressRefused as refused:
            return Undeliverable(f"{receiver}: {refused}")
        except Exception as error:
            return error
        batch.answered = True
        return outcome(status, retry_after, receiver)

    def _post(self, body: bytes, headers: dict[str, str]) -> tuple[int, str | None]:
        """Send a body and tell the answer's status, or raise Unavailable: it may have arrived all the same."""
        limits = ClientLimits(wait=self._timeout, total=self._timeout, most=_LONGEST_ANSWER)
        with self._client.exchange("POST", self._url, headers=headers, content=body, limits=limits) as response:
            _read_past(response)
            return response.status, fit_to_show(response.headers.get("retry-after"))

    def _request(self, message: Envelope) -> tuple[bytes, dict[str, str]]:
        if not _FIT_FOR_A_HEADER.fullmatch(message.id):
            raise Undeliverable("the message's id cannot be sent as a header; ids are 1 to 256 printable characters")
        body = encoded(cloud_event(message, source=self._source))
        return body, {
            "Content-Type": CONTENT_TYPE,
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


def outcome(status: int, retry_after: str | None, receiver: str) -> Exception | None:
    """What an answer means for the message."""
    if 200 <= status < 300:
        return None
    said = f"{receiver} answered {status}"
    if retry_after:
        said += f", retry after {retry_after}"
    if status == 429:
        return telling(Throttled(said, part=SINK), said)
    if status in _LATER or status >= 500 or status < 200:
        return telling(Unavailable(said, part=SINK), said)
    if status < 400:
        return Undeliverable(f"{said}; redirects are not followed, give the webhook its new URL")
    return Undeliverable(said)


def _read_past(response: Response) -> None:
    """The status is the answer; its body is read for the sake of the next request on the connection only."""
    with suppress(Unavailable):
        for _ in response.pieces:
            pass


def _address(url: str) -> Url:
    """Where a webhook is. No error repeats its URL: it may hold a token."""
    try:
        return read_url(url)
    except ValueError as wrong:
        raise Misconfigured(f"the webhook's URL {wrong}; write https://host/path") from None
