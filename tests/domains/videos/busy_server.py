"""A DynamoDB that has too much to do: in front of a real one, it refuses, or does only a part of what it is told."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_TOO_MUCH = {"__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException", "message": "too much"}


class BusyServer:
    """Forwards what it does not refuse."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url).netloc
        self.refusing: dict[str, int] = {}
        "How many of the next requests of an operation are refused."
        self.most: int | None = None
        "How many members of a batch are dealt with at once; the others come back unprocessed."
        self.asked: Counter[str] = Counter()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = server.answer(self.headers["X-Amz-Target"], dict(self.headers), body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *said: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, target: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        operation = target.rpartition(".")[2]
        self.asked[operation] += 1
        if self.refusing.get(operation, 0) > 0:
            self.refusing[operation] -= 1
            return 400, json.dumps(_TOO_MUCH).encode()
        left: dict[str, Any] = {}
        if operation in ("BatchGetItem", "BatchWriteItem") and self.most is not None:
            body, left = self._some_of(operation, json.loads(body), self.most)
        status, told = self._forwarded(headers, body)
        if left and status == 200:
            name = "UnprocessedKeys" if operation == "BatchGetItem" else "UnprocessedItems"
            told = json.dumps({**json.loads(told), name: left}).encode()
        return status, told

    def _some_of(self, operation: str, request: dict[str, Any], most: int) -> tuple[bytes, dict[str, Any]]:
        done: dict[str, Any] = {}
        left: dict[str, Any] = {}
        for table, asked in request["RequestItems"].items():
            members = asked["Keys"] if operation == "BatchGetItem" else asked
            for kept, some in ((done, members[:most]), (left, members[most:])):
                if some:
                    kept[table] = {**asked, "Keys": some} if operation == "BatchGetItem" else some
        return json.dumps({**request, "RequestItems": done}).encode(), left

    def _forwarded(self, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        connection = HTTPConnection(self._target, timeout=30)
        try:
            kept = {n: v for n, v in headers.items() if n.lower() not in ("content-length", "host", "accept-encoding")}
            connection.request("POST", "/", body, kept)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()
