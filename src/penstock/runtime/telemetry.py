"""OpenTelemetry, switched on by one setting: requests, the tasks they ask for, and what both ask of the store, as spans
of one trace. They go to a collector by OTLP over HTTP. An extra, imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from penstock.errors import Misconfigured
from penstock.ports.spans import Tell, choose_spans

_TRACES = "/v1/traces"


class Telemetry:
    """The spans of one process, on their way to a collector."""

    def __init__(self, url: str) -> None:
        if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter") is None:
            raise Misconfigured("opentelemetry is not installed; run: pip install 'penstock[otel]'")
        from opentelemetry import propagate, trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        named = Resource({"service.name": "penstock"}).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=named)
        exporter = OTLPSpanExporter(endpoint=f"{url.rstrip('/').removesuffix(_TRACES)}{_TRACES}")
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        trace.set_tracer_provider(self._provider)
        self._trace, self._propagate = trace, propagate
        self._tracer = self._provider.get_tracer("penstock")

    @contextmanager
    def span(self, name: str, *, parent: str | None = None) -> Iterator[Tell]:
        context = None if parent is None else self._propagate.extract({"traceparent": parent})
        kind = self._trace.SpanKind.CONSUMER
        with self._tracer.start_as_current_span(name, context=context, kind=kind) as span:
            yield span.set_attribute

    @contextmanager
    def within(self, name: str) -> Iterator[Tell]:
        if not self._trace.get_current_span().get_span_context().is_valid:
            yield _silent
            return
        with self._tracer.start_as_current_span(name, kind=self._trace.SpanKind.CLIENT) as span:
            yield span.set_attribute

    def here(self) -> str | None:
        carrier: dict[str, str] = {}
        self._propagate.inject(carrier)
        return carrier.get("traceparent")

    def flush(self) -> None:
        """Send what waits to be sent."""
        self._provider.force_flush(timeout_millis=2000)


@cache
def start_telemetry(url: str) -> Telemetry:
    """Tell a collector at a URL of all that this process does; once, however many ask for it."""
    telemetry = Telemetry(url)
    choose_spans(telemetry)
    return telemetry


def _silent(name: str, value: Any) -> None: ...
