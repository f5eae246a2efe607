"""Kafka: messages are produced to a topic, keyed by what they are about."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

from penstock.errors import SINK, Misconfigured, Unavailable
from penstock.net.per_process import PerProcess
from penstock.ports.sink import Envelope, Undeliverable
from penstock.sinks.cloud_event import CONTENT_TYPE, USUAL_SOURCE, cloud_event, encoded

if TYPE_CHECKING:  # the driver is an extra, and loaded with the first message
    from confluent_kafka import KafkaError, Producer

_GRACE = 2.0
"librdkafka looks for messages whose time is over once a second."

_logger = logging.getLogger("penstock.kafka")


class TooLargeForKafka(Undeliverable):
    """The broker, or its client, takes no message of this size."""


class KafkaSink:
    """Produces CloudEvents with ``acks=all`` and idempotence, the aggregate as key.

    They are in structured mode; the headers ``ce_id`` and ``ce_type`` tell a consumer what to skip unread.

    Messages about the same thing share a partition, so their order holds for whoever consumes it. What is not
    acknowledged in time is given up before the call returns, so that nothing is sent behind the relay's back; it may
    have arrived all the same. ``options`` are librdkafka's own, for TLS and SASL for example.
    """

    def __init__(
        self,
        servers: str,
        *,
        topic: str | Callable[[str], str],
        source: str = USUAL_SOURCE,
        timeout: timedelta = timedelta(seconds=10),
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if find_spec("confluent_kafka") is None:
            raise Misconfigured("confluent-kafka is not installed; run: pip install 'penstock[kafka]'")
        self.name = f"Kafka at {servers}"
        self._topic, self._source, self._seconds = topic, source, timeout.total_seconds()
        self._settings = {
            # As Java's clients do, so that other producers of the topic choose the same partition for a key.
            "partitioner": "murmur2_random",
            **(options or {}),
            "bootstrap.servers": servers,
            "enable.idempotence": True,
            "acks": "all",
            "message.timeout.ms": int(self._seconds * 1000),
        }
        self._producers: PerProcess[Producer] = PerProcess(self._open)
        self._locks: PerProcess[Lock] = PerProcess(Lock)

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        # One call at a time: giving up what is late must not touch another call's messages.
        with self._locks.get():
            outcomes = self._produce(messages)
            for position, outcome in enumerate(outcomes):
                # Brokers refuse a batch as a whole; by itself a message shows whether it was the reason.
                if isinstance(outcome, TooLargeForKafka) and len(messages) > 1:
                    outcomes[position] = self._produce([messages[position]])[0]
            return outcomes

    def close(self) -> None:
        """Give back every connection; the sink may be used again."""
        with self._locks.get():
            self._producers.drop()

    def _produce(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        """Hand the messages over and wait until each is acknowledged, refused or given up."""
        producer = self._producers.get()
        outcomes: list[Exception | None] = [Unavailable("Kafka: not acknowledged in time", part=SINK)] * len(messages)
        refusals: list[KafkaError] = []

        def note(position: int, error: KafkaError | None) -> None:
            outcomes[position] = None if error is None else _meaning(error)
            if error is not None:
                refusals.append(error)

        for position, message in enumerate(messages):
            try:
                self._enqueue(producer, message, lambda error, _, position=position: note(position, error))
            except Exception as error:
                if (refusal := _refusal(error)) is None:
                    outcomes[position] = error
                else:
                    note(position, refusal)
        if producer.flush(self._seconds + _GRACE):
            producer.purge()
            producer.flush(_GRACE)
        if any(_outlasts(error) for error in refusals):
            self._producers.drop()
        return outcomes

    def _enqueue(self, producer: Producer, message: Envelope, noted: Any) -> None:
        producer.produce(
            self._topic_of(message.type),
            encoded(cloud_event(message, source=self._source)),
            message.aggregate.encode(),
            headers=[
                ("content-type", CONTENT_TYPE.encode()),
                ("ce_id", message.id.encode()),
                ("ce_type", message.type.encode()),
            ],
            timestamp=int(message.at.timestamp() * 1000),
            on_delivery=noted,
        )

    def _topic_of(self, type: str) -> str:
        if isinstance(self._topic, str):
            return self._topic
        try:
            return self._topic(type)
        except Exception as error:
            raise Undeliverable(f"no Kafka topic is known for {type!r}: {error!r}") from error

    def _open(self) -> Producer:
        from confluent_kafka import KafkaException, Producer

        try:
            return Producer(self._settings, logger=_logger)
        except (KafkaException, ValueError, TypeError) as error:
            raise Misconfigured(f"Kafka cannot be used with these options: {error}") from error


def _refusal(error: Exception) -> KafkaError | None:
    """Kafka's own reason why a message could not even be handed over."""
    from confluent_kafka import KafkaError, KafkaException

    if isinstance(error, KafkaException):
        refusal: KafkaError = error.args[0]
        return refusal
    return KafkaError(KafkaError._QUEUE_FULL) if isinstance(error, BufferError) else None


def _outlasts(error: KafkaError) -> bool:
    """Would this producer go on refusing after the cause is gone? It remembers topics it may not write or find."""
    from confluent_kafka import KafkaError

    remembered = (
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
    )
    return error.fatal() or error.code() in remembered


def _meaning(error: KafkaError) -> Exception:
    """What a refusal means for the message."""
    from confluent_kafka import KafkaError

    if error.code() in (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE):
        return TooLargeForKafka(f"Kafka: {error.str()}; emit a key to the data instead of it")
    never = (KafkaError.TOPIC_EXCEPTION, KafkaError.INVALID_RECORD, KafkaError.POLICY_VIOLATION)
    said = f"Kafka: {error.name()}: {error.str()}"
    return Undeliverable(said) if error.code() in never else Unavailable(said, part=SINK)
