"""One switch has requests, the tasks they ask for and what both ask of the store told to a collector, as one trace."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from penstock.ports.spans import NoSpans, spans
from tests.cli.test_serving import LONG_ENOUGH, is_ready
from tests.servers import free_port
from tests.work.soon import soon

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


class Collector:
    """Takes spans by OTLP over HTTP, as a collector does."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services: set[str] = set()

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        for told in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services |= {a.value.string_value for a in told.resource.attributes if a.key == "service.name"}
            self.spans += [span for scope in told.scope_spans for span in scope.spans]

    def of_trace(self) -> list[Any]:
        return [span for span in self.spans if span.trace_id.hex() == TRACE]


@pytest.fixture
def collector() -> Iterator[tuple[Collector, str]]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
            collector.take(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield collector, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@contextmanager
def up(folder: Path, **environment: str) -> Iterator[str]:
    port = free_port()
    told = {**os.environ, "PENSTOCK_DOMAINS": "speech", "OTEL_BSP_SCHEDULE_DELAY": "100", **environment}
    with open(folder / "log", "wb") as log:
        command = [sys.executable, "-m", "penstock", "up", "--port", str(port)]
        process = subprocess.Popen(command, cwd=folder, env=told, stdout=log, stderr=log)
    try:
        soon(lambda: is_ready(f"http://127.0.0.1:{port}"), seconds=LONG_ENOUGH)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0, (folder / "log").read_text()[-3000:]


def test_a_request_its_task_and_their_calls_of_the_store_are_one_trace(
    tmp_path: Path, collector: tuple[Collector, str]
) -> None:
    told, url = collector
    with up(tmp_path, PENSTOCK_TELEMETRY=url) as at:
        headers = {"Content-Type": "application/json", "traceparent": f"00-{TRACE}-{PARENT}-01"}
        body = json.dumps({"text": "hello"}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{at}/public/tts/jobs", body, headers), timeout=30).close()
        soon(lambda: any(span.name.startswith("speech.") for span in told.of_trace()), seconds=LONG_ENOUGH)
    found = told.of_trace()
    (request,) = [span for span in found if span.name == "POST /public/tts/jobs"]
    (task,) = [span for span in found if span.name.startswith("speech.")]
    assert request.parent_span_id.hex() == PARENT, "in the trace that its caller has begun"
    ids = {span.span_id for span in found}
    assert task.parent_span_id in ids, "what was asked for in the request"
    assert {a.key: a.value.string_value for a in task.attributes}["penstock.task.outcome"] == "done"
    for parent in (request, task):
        calls = {span.name for span in found if span.parent_span_id == parent.span_id}
        assert "commit sqlite" in calls, f"{parent.name}: {calls}"
    assert told.services == {"penstock"}
    assert "hello" not in str(told.spans), "what is in a record is nobody's who reads traces"
    asked = [span for span in told.spans if not span.parent_span_id]
    assert not [span for span in asked if span.name.endswith(" sqlite")], "what nobody asked for is not told"


def test_off_it_is_nothing() -> None:
    assert isinstance(spans(), NoSpans)
    probe = (
        "import sys, penstock.cli, penstock.runtime.service; print([m for m in sys.modules if 'opentelemetry' in m])"
    )
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True).stdout.strip() == "[]"
