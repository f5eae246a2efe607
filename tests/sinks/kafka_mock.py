"""Run as a program: librdkafka's mock cluster, and a port on which it is told what to do.

The library is asked directly, because its Python wrapper offers neither topics with a chosen number of partitions nor
brokers that refuse on demand. Commands are lines of JSON: ``["bootstraps"]``, ``["topic", name, partitions]``,
``["refuse", api_key, [code, …]]``.
"""

from __future__ import annotations

import ctypes
import json
import socketserver
import sys
from pathlib import Path
from typing import Any

PRODUCER = 0


def library() -> ctypes.CDLL:
    import confluent_kafka

    found = list((Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs").glob("librdkafka*.so*"))
    if not found:
        sys.exit("librdkafka was not found beside confluent_kafka")
    loaded = ctypes.CDLL(str(found[0]))
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(loaded, name).restype = ctypes.c_void_p
    loaded.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return loaded


class Cluster:
    """Three brokers."""

    def __init__(self) -> None:
        self._library = library()
        reason = ctypes.create_string_buffer(512)
        settings = ctypes.c_void_p(self._library.rd_kafka_conf_new())
        self._handle = ctypes.c_void_p(self._library.rd_kafka_new(PRODUCER, settings, reason, ctypes.c_size_t(512)))
        self._cluster = ctypes.c_void_p(self._library.rd_kafka_mock_cluster_new(self._handle, 3))

    def bootstraps(self) -> str:
        servers: bytes = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster)
        return servers.decode()

    def topic(self, name: str, partitions: int) -> int:
        code: int = self._library.rd_kafka_mock_topic_create(self._cluster, name.encode(), partitions, 3)
        return code

    def refuse(self, api: int, codes: list[int]) -> None:
        """Answer the next requests of a kind with these errors."""
        array = (ctypes.c_int * len(codes))(*codes)
        self._library.rd_kafka_mock_push_request_errors_array(
            self._cluster, ctypes.c_int16(api), ctypes.c_size_t(len(codes)), array
        )


def serve(port: int) -> None:
    cluster = Cluster()

    class Command(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if line := self.rfile.readline():
                name, *arguments = json.loads(line)
                answer: Any = getattr(cluster, name)(*arguments)
                self.wfile.write(json.dumps(answer).encode())

    class Door(socketserver.TCPServer):
        allow_reuse_address = True

    with Door(("127.0.0.1", port), Command) as door:
        door.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
