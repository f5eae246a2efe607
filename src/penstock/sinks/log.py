"""The log as a sink: one line a message, for development and for those who ship their logs anyway."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

from penstock.ports.sink import Envelope
from penstock.sinks.cloud_event import USUAL_SOURCE, cloud_event

_logger = logging.getLogger("penstock.outbox")


class LogSink:
    """Writes each message as a CloudEvent, one line of JSON, to the logger ``penstock.outbox``.

    Handlers that know structure find the same fields as ``record.outbox``. The payload, its ``data``, may be private,
    so it is left out unless asked for.
    """

    def __init__(self, *, source: str = USUAL_SOURCE, payload: bool = False, level: int = logging.INFO) -> None:
        self._source, self._payload, self._level = source, payload, level

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        return [self._write(m) for m in messages]

    def _write(self, message: Envelope) -> Exception | None:
        fields = cloud_event(message, source=self._source)
        if not self._payload:
            del fields["data"], fields["datacontenttype"]
        try:
            # ASCII, so that no character of a message can end the line.
            _logger.log(self._level, "%s", json.dumps(fields, default=str), extra={"outbox": fields})
        except Exception as error:
            return error
        return None
