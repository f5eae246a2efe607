"""Amazon EventBridge: messages are put on an event bus, where rules pick them by source and type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from importlib.util import find_spec
from typing import Any, TypeAlias

from penstock.errors import SINK, Misconfigured, Throttled, Unavailable
from penstock.net.per_process import PerProcess
from penstock.ports.sink import Envelope, Undeliverable
from penstock.sinks.document import document, encoded

SENDS = ("events:PutEvents",)
"What is called, as policies name it."
_MOST_ENTRIES = 10
_MOST_BYTES = 256 * 1024
_TIME_BYTES = 14
"What a timestamp counts for in the size of an entry."

_THROTTLED = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"})
_INTERNAL = frozenset({"InternalFailure", "InternalException", "InternalServerError", "ServiceUnavailable"})
_INVALID = frozenset({"ValidationException", "ValidationError", "InvalidParameterValue", "InvalidArgument"})

Entry: TypeAlias = dict[str, Any]
Outcomes: TypeAlias = list[Exception | None]


class EventBridgeSink:
    """Puts messages on one bus, at most ten and 256 KB a request; each is answered for by itself.

    The detail of an event holds ``id``, ``aggregate``, ``project``, ``at`` and ``payload``. EventBridge itself promises
    no order: a receiver that needs one compares ``at``. Credentials come from where AWS's own tools find them.
    """

    def __init__(
        self,
        *,
        source: str,
        region: str,
        bus: str = "default",
        endpoint: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        session_token: str | None = None,
        timeout: timedelta = timedelta(seconds=10),
    ) -> None:
        if find_spec("boto3") is None:
            raise Misconfigured("boto3 is not installed; run: pip install 'penstock[eventbridge]'")
        self.name = f"the bus {bus} of EventBridge"
        self._source, self._bus = source, bus
        self._region, self._endpoint, self._seconds = region, endpoint, timeout.total_seconds()
        self._access_key, self._secret_key, self._session_token = access_key, secret_key, session_token
        self._clients: PerProcess[Any] = PerProcess(self._connect)

    def deliver(self, messages: Sequence[Envelope]) -> Outcomes:
        outcomes: Outcomes = [None] * len(messages)
        ready: list[tuple[int, Entry]] = []
        for position, message in enumerate(messages):
            try:
                ready.append((position, self._entry(message)))
            except Exception as error:
                outcomes[position] = error
        client = self._clients.get() if ready else None
        silence: Exception | None = None
        for part in _parts(ready):
            if silence is None:
                answers, silence = _put(client, [entry for _, entry in part])
            else:
                answers = [Unavailable(f"not tried after: {silence}", part=SINK)] * len(part)
            for (position, _), answer in zip(part, answers, strict=True):
                outcomes[position] = answer
        return outcomes

    def close(self) -> None:
        """Give back every connection; the sink may be used again."""
        client = self._clients.drop()
        if client is not None:
            client.close()

    def _entry(self, message: Envelope) -> Entry:
        detail = document(message)
        kind = detail.pop("type")
        entry = {
            "Time": message.at,
            "Source": self._source,
            "DetailType": kind,
            "Detail": encoded(detail).decode(),
            "EventBusName": self._bus,
        }
        if (size := _size(entry)) > _MOST_BYTES:
            raise Undeliverable(
                f"the message is {size} bytes and EventBridge takes {_MOST_BYTES}; emit a key to the data instead of it"
            )
        return entry

    def _connect(self) -> Any:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        config = Config(
            connect_timeout=self._seconds,
            read_timeout=self._seconds,
            retries={"mode": "standard", "total_max_attempts": 2},
        )
        try:
            # A session of its own: boto3's default one is shared by everybody in the process and not safe for threads.
            return boto3.session.Session(
                aws_access_key_id=self._access_key,
                aws_secret_access_key=self._secret_key,
                aws_session_token=self._session_token,
                region_name=self._region,
            ).client("events", endpoint_url=self._endpoint, config=config)
        except (BotoCoreError, ValueError) as error:
            raise Misconfigured(f"EventBridge cannot be used: {error}") from error


def _put(client: Any, entries: list[Entry]) -> tuple[Outcomes, Exception | None]:
    """Put entries in one request: the outcome of each, and the error if EventBridge could not be reached at all."""
    from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

    try:
        answer = client.put_events(Entries=entries)
    except (ParamValidationError, ClientError) as refused:
        if isinstance(refused, ClientError) and refused.response["Error"]["Code"] not in _INVALID:
            return [_later(refused)] * len(entries), None
        if len(entries) == 1:
            return [Undeliverable(f"EventBridge refuses the message: {refused}")], None
        # The request was refused as a whole; by itself each entry shows whether it was the reason.
        return [_put(client, [entry])[0][0] for entry in entries], None
    except BotoCoreError as error:
        silence = Unavailable(f"EventBridge could not be asked: {error}", part=SINK)
        return [silence] * len(entries), silence
    results = answer["Entries"]
    if len(results) != len(entries):
        few = Unavailable(f"EventBridge answered for {len(results)} of {len(entries)} messages", part=SINK)
        return [few] * len(entries), None
    return [_outcome(result) for result in results], None


def _outcome(result: dict[str, Any]) -> Exception | None:
    """What became of one entry."""
    code = result.get("ErrorCode")
    if code is None:
        return None
    said = f"EventBridge: {code}: {result.get('ErrorMessage', '')}"
    if code in _THROTTLED:
        return Throttled(said, part=SINK)
    return Unavailable(said, part=SINK) if code in _INTERNAL else Undeliverable(said)


def _later(refused: Any) -> Exception:
    """A whole request was refused for load, a failure or missing rights: not the fault of any message."""
    kind = Throttled if refused.response["Error"]["Code"] in _THROTTLED else Unavailable
    return kind(f"EventBridge: {refused}", part=SINK)


def _parts(ready: Sequence[tuple[int, Entry]]) -> Iterator[list[tuple[int, Entry]]]:
    """The entries in order, as many at a time as a request may hold."""
    part: list[tuple[int, Entry]] = []
    held = 0
    for position, entry in ready:
        size = _size(entry)
        if part and (len(part) == _MOST_ENTRIES or held + size > _MOST_BYTES):
            yield part
            part, held = [], 0
        part.append((position, entry))
        held += size
    if part:
        yield part


def _size(entry: Entry) -> int:
    """The size of an entry as EventBridge counts it."""
    return _TIME_BYTES + sum(len(entry[name].encode()) for name in ("Source", "DetailType", "Detail"))
