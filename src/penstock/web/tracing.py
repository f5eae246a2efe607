"""OpenTelemetry: a span for every request, in the trace its caller has begun. An extra, imported when it is asked for.

Where spans go the setting `telemetry` says, or OpenTelemetry's own configuration.
"""

from __future__ import annotations

from importlib.util import find_spec

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.errors import Misconfigured
from penstock.web.requests import route_of


class Tracing:
    """Begins and ends the span of a request."""

    def __init__(self, app: ASGIApp) -> None:
        if find_spec("opentelemetry") is None:
            raise Misconfigured("opentelemetry is not installed; run: pip install 'penstock[otel]'")
        from opentelemetry import propagate, trace

        self._app, self._propagate, self._trace = app, propagate, trace
        self._tracer = trace.get_tracer("penstock")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(Request(scope).headers)
        kind = self._trace.SpanKind.SERVER
        context = self._propagate.extract(headers)
        with self._tracer.start_as_current_span(scope["method"], context=context, kind=kind) as span:

            async def told(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self._app(scope, receive, told)
            finally:
                # The query string is left out: signatures are in it.
                span.update_name(f"{scope['method']} {route_of(scope)}")
                span.set_attribute("http.request.method", scope["method"])
                span.set_attribute("http.route", route_of(scope))
