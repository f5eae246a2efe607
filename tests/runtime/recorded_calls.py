"""Records every call to AWS's services, and by which process of a deployment it would have been made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import botocore.client
import pytest

from penstock.engines.dynamodb.wire.wire import Wire
from penstock.events.relay import Relay
from penstock.objects.s3.urls import S3Presigner
from penstock.schema.shape import TablePlace
from penstock.workers.manual import ManualWorkers
from tests.runtime.iam import ACCOUNT, REGION, Call, calls_of, file_calls


@dataclass
class Recorder:
    """What was called, by role. One thing happens after the other, so the role is one for all threads."""

    keys: dict[str, str]
    calls: dict[str, set[Call]] = field(default_factory=dict)
    role: str = "Api"
    _stream: str = ""

    @contextmanager
    def being(self, role: str) -> Iterator[None]:
        outer, self.role = self.role, role
        try:
            yield
        finally:
            self.role = outer

    def add(self, *calls: Call) -> None:
        self.calls.setdefault(self.role, set()).update(_frozen(call) for call in calls)

    def dynamodb(self, operation: str, request: dict[str, Any]) -> None:
        if operation == "GetRecords":  # it names an iterator alone, which is of the stream that was asked for it
            self.add(Call("dynamodb:GetRecords", self._stream))
            return
        if operation in ("CreateTable", "UpdateTable", "UpdateTimeToLive"):
            return  # the template does so
        calls = list(calls_of(operation, request, self.keys))
        if operation == "GetShardIterator":
            self._stream = calls[0].resource
        self.add(*calls)

    def botocore(self, service: str, operation: str, request: dict[str, Any]) -> None:
        if service == "s3":
            self.add(*file_calls(operation, request))
        elif service == "events":
            for entry in request["Entries"]:
                bus = entry.get("EventBusName", "default")
                self.add(Call("events:PutEvents", f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/{bus}"))


def partition_keys(places: list[TablePlace], names: dict[str, str]) -> dict[str, str]:
    """The partition attribute of each table and index."""
    found = {}
    for place in places:
        name = names.get(place.name, place.name)
        found[name] = place.partition.name
        found |= {f"{name}/{index.name}": index.partition.name for index in place.indexes.values()}
    return found


def record(monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    """Have everything recorded from now on."""
    send, ask = Wire.call, botocore.client.BaseClient._make_api_call

    def call(self: Wire, operation: str, body: bytes) -> Any:
        recorder.dynamodb(operation, json.loads(body))
        return send(self, operation, body)

    def api_call(self: Any, operation: str, request: dict[str, Any]) -> Any:
        recorder.botocore(self.meta.service_model.service_name, operation, request)
        return ask(self, operation, request)

    monkeypatch.setattr(Wire, "call", call)
    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", api_call)
    _as_role(monkeypatch, recorder, ManualWorkers, "run_one", "Worker")
    _as_role(monkeypatch, recorder, ManualWorkers, "drain", "Worker")
    _as_role(monkeypatch, recorder, Relay, "drain", "Relay")
    _record_signed(monkeypatch, recorder)


def _as_role(monkeypatch: pytest.MonkeyPatch, recorder: Recorder, kind: Any, name: str, role: str) -> None:
    done = getattr(kind, name)

    def within(*given: Any, **more: Any) -> Any:
        with recorder.being(role):
            return done(*given, **more)

    monkeypatch.setattr(kind, name, within)


def _record_signed(monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    """Whoever has a signed URL calls with the rights of whoever signed it."""
    sign = S3Presigner._signed

    def signed(self: Any, operation: str, method: str, key: str, *given: Any, **more: Any) -> Any:
        named = "".join(word.capitalize() for word in operation.split("_"))
        recorder.add(*file_calls(named, {"Bucket": self._connection.bucket, "Key": self._prefix + key}))
        return sign(self, operation, method, key, *given, **more)

    monkeypatch.setattr(S3Presigner, "_signed", signed)


def _frozen(call: Call) -> Call:
    """A call that can be in a set; what differs in the names of keys alone is the same one."""
    context = {name: tuple(sorted(values)) for name, values in call.context.items()}
    return _Frozen(call.action, re.sub(r"(arn:aws:s3:::[^/]+/).*", r"\1file", call.resource), context)


class _Frozen(Call):
    def __hash__(self) -> int:
        return hash((self.action, self.resource, tuple(sorted(self.context.items()))))
