"""How a running process logs: a line of text for people, or one JSON object a line for programs."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from penstock.errors import Misconfigured

_STANDARD = frozenset(vars(logging.makeLogRecord({})))


class JsonLines(logging.Formatter):
    """One object a line: when, how bad, who, what, and whatever else was said."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        told.update({k: v for k, v in vars(record).items() if k not in _STANDARD and k not in ("message", "asctime")})
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        # ASCII, so that nothing in a message can end the line.
        return json.dumps(told, default=str)


def log_to_terminal(form: str, level: int = logging.INFO) -> None:
    """Log to standard error, as text or as JSON."""
    if form not in ("text", "json"):
        raise Misconfigured(f"PENSTOCK_LOG_FORMAT is text or json, not {form!r}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines() if form == "json" else logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    logging.getLogger("botocore").setLevel(logging.WARNING)
