"""Kafka: three brokers of librdkafka's mock cluster in a process of their own; topics, errors and stalls at will."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tests.servers.process import Process, is_open
from tests.servers.server import Server, Unavailable

if TYPE_CHECKING:
    from confluent_kafka import Message

PRODUCE = 0
_counter = itertools.count()


class KafkaCluster(Server):
    """A cluster that forgets everything when it stops."""

    name: ClassVar[str] = "kafka"
    stop_signal: ClassVar[signal.Signals] = signal.SIGKILL

    @property
    def url(self) -> str:
        return str(self._ask("bootstraps"))

    def create_topic(self, *, partitions: int = 3) -> str:
        name = f"topic-{next(_counter)}"
        assert self._ask("topic", name, partitions) == 0
        return name

    def refuse(self, *codes: int) -> None:
        """Answer the next produce requests with these errors."""
        self._ask("refuse", PRODUCE, list(codes))

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """While it lasts connections stand and nothing answers."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._process.pid, signal.SIGCONT)

    def read(self, topic: str, *, count: int, seconds: float = 30.0) -> list[Message]:
        """Everything in a topic, once there are at least so many messages and nothing follows."""
        from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.url, "group.id": "tests", "enable.partition.eof": True})
        found: list[Message] = []
        try:
            partitions = consumer.list_topics(topic, timeout=seconds).topics[topic].partitions
            consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
            deadline = time.monotonic() + seconds
            ended: set[int | None] = set()
            while len(found) < count or len(ended) < len(partitions):
                assert time.monotonic() < deadline, f"{len(found)} of {count} messages after {seconds:g} s"
                message = consumer.poll(0.1)
                if message is None:
                    continue
                if message.error() is None:
                    found.append(message)
                    ended.discard(message.partition())
                else:
                    ended.add(message.partition())
        finally:
            consumer.close()
        return found

    def _launch(self, home: Path) -> Process:
        if find_spec("confluent_kafka") is None:
            raise Unavailable("kafka: confluent-kafka is not installed; run: pip install 'penstock[kafka]'")
        program = Path(__file__).with_name("kafka_mock.py")
        return Process([sys.executable, str(program), str(self.port)], home / "log")

    def _answers(self) -> bool:
        return is_open(self.port)

    def _ask(self, *command: Any) -> Any:
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(json.dumps(command).encode() + b"\n")
            with connection.makefile("rb") as answer:
                return json.loads(answer.read())
