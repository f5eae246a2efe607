"""A DynamoDB that answers from memory: always the same scenes, as fast as Python can send them.

`python -m bench.canned_server CHAIN KEY` prints its ports as one line of JSON, and ends when its standard input does,
which is when its parent is gone.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import re
import ssl
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from bench import items
from bench.certificate import Certificate, make_certificate
from bench.contender import Canned

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
TARGET = re.compile(rb"\r\nx-amz-target: *\w+\.(\w+)", re.IGNORECASE)
EXPECT = re.compile(rb"\r\nexpect: *100-continue", re.IGNORECASE)
CAPACITY = re.compile(rb'"ReturnConsumedCapacity" *: *"(?:TOTAL|INDEXES)"')

TABLE = f'"{Canned.table}"'.encode()
"The only table that there is."

LAST_PUT = "LastPut"
"Not DynamoDB's: gives back the body of the newest PutItem, so that a harness can see what was sent."


@dataclass(frozen=True)
class Answer:
    """One operation's complete HTTP response, without and with the consumed capacity in it."""

    plain: bytes
    metered: bytes


def bodies() -> dict[str, dict[str, object]]:
    """What each operation answers."""
    scenes = [items.typed(items.item(items.fields(n))) for n in range(1, items.SCENES + 1)]
    return {
        "GetItem": {"Item": scenes[0]},
        "Query": {"Count": len(scenes), "Items": scenes, "ScannedCount": len(scenes)},
        "PutItem": {},
        "UpdateItem": {},
        "DeleteItem": {},
        "TransactWriteItems": {},
        "BatchWriteItem": {"UnprocessedItems": {}},
        "DescribeTable": {"Table": _table()},
    }


def respond(body: bytes, status: str = "200 OK") -> bytes:
    """A response with the headers DynamoDB sends."""
    head = (
        f"HTTP/1.1 {status}\r\n"
        "Server: Server\r\n"
        "Date: Mon, 17 Nov 2025 10:05:00 GMT\r\n"
        "Content-Type: application/x-amz-json-1.0\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: keep-alive\r\n"
        "x-amzn-RequestId: 7P2QK1UDJ0A5B0KT1MCQ3L6G3NVV4KQNSO5AEMVJF66Q9ASUAAJG\r\n"
        f"x-amz-crc32: {zlib.crc32(body)}\r\n\r\n"
    )
    return head.encode() + body


def answers() -> dict[bytes, Answer]:
    """Every response, made before the first request comes."""
    units = {"GetItem": 0.5, "Query": 13.0, "PutItem": 2.0, "UpdateItem": 2.0, "DeleteItem": 2.0}
    made = {}
    for operation, body in bodies().items():
        capacity = {"TableName": Canned.table, "CapacityUnits": units.get(operation, 1.0)}
        made[operation.encode()] = Answer(_json(body), _json(body | {"ConsumedCapacity": capacity}))
    return made


class Connection(asyncio.Protocol):
    """One keep-alive connection; requests are read only as far as choosing the answer needs."""

    answers: Mapping[bytes, Answer] = {}
    last_put = b"{}"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end]
            length = LENGTH.search(head)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self.received) < whole:
                if EXPECT.search(head) and len(self.received) == end + 4:
                    self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                return
            body, self.received = self.received[end + 4 : whole], self.received[whole:]
            self.transport.write(self.answer(head, body))

    def answer(self, head: bytes, body: bytes) -> bytes:
        target = TARGET.search(head)
        operation = target[1] if target else b""
        if operation == LAST_PUT.encode():
            return respond(Connection.last_put)
        if operation == b"PutItem":
            Connection.last_put = body
        if operation not in self.answers:
            return _error("com.amazon.coral.service#UnknownOperationException")
        if TABLE not in body:
            return _error("com.amazonaws.dynamodb.v20120810#ResourceNotFoundException")
        answer = self.answers[operation]
        return answer.metered if CAPACITY.search(body) else answer.plain


def _error(kind: str) -> bytes:
    return respond(json.dumps({"__type": kind}).encode(), "400 Bad Request")


async def serve(chain: str, key: str) -> None:
    """Listen on two free ports, say which, and answer until standard input ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    Connection.answers = answers()
    loop = asyncio.get_running_loop()
    plain = await loop.create_server(Connection, "127.0.0.1", 0)
    secure = await loop.create_server(Connection, "127.0.0.1", 0, ssl=context)
    http, https = (server.sockets[0].getsockname()[1] for server in (plain, secure))
    print(json.dumps({"http": http, "https": https}), flush=True)
    await asyncio.to_thread(sys.stdin.buffer.read)


@cache
def _certificate() -> Certificate:
    """One for all servers of this process: pydynox asks only once whom to trust."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return make_certificate(Path(folder.name))


@contextmanager
def canned_server() -> Iterator[tuple[Canned, Canned]]:
    """Run the server in a process of its own: the plain target and the one over TLS."""
    certificate = _certificate()
    command = (sys.executable, "-m", "bench.canned_server", certificate.chain, certificate.key)
    # A session of its own: Ctrl-C is for the parent, whose end the server then sees by itself.
    with Popen(command, stdin=PIPE, stdout=PIPE, start_new_session=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            said = json.loads(process.stdout.readline())
            yield (
                Canned("dynamodb-http", f"http://127.0.0.1:{said['http']}", certificate.authority),
                Canned("dynamodb-tls", f"https://127.0.0.1:{said['https']}", certificate.authority),
            )
        finally:
            process.stdin.close()


def last_put(target: Canned) -> dict[str, object]:
    """The newest item a client has sent, under the names of `items.fields`."""
    address = urlsplit(target.endpoint)
    connection = HTTPConnection(address.netloc)
    if address.scheme == "https":
        trust = ssl.create_default_context(cafile=target.authority)
        connection = HTTPSConnection(address.netloc, context=trust)
    connection.request("POST", "/", headers={"X-Amz-Target": f"Bench.{LAST_PUT}"})
    sent = items.untyped(json.loads(connection.getresponse().read())["Item"])
    connection.close()
    fields = items.from_item(sent)
    assert items.item(fields).items() >= {name: sent[name] for name in ("PK", "SK", "entityType")}.items()
    return fields


def _table() -> dict[str, object]:
    keys = (("PK", "HASH"), ("SK", "RANGE"))
    return {
        "TableName": Canned.table,
        "TableStatus": "ACTIVE",
        "TableArn": f"arn:aws:dynamodb:us-east-1:123456789012:table/{Canned.table}",
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in keys],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
        "ItemCount": items.SCENES,
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    }


def _json(body: Mapping[str, object]) -> bytes:
    return respond(json.dumps(body, separators=(",", ":")).encode())


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
