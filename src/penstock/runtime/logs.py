"""How a running process logs: a line of text for people, or one JSON object a line for programs."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from penstock.errors import Misconfigured

_LONGEST, _LONGEST_FIELD, _LONGEST_TRACE = 2000, 500, 16_000
"Characters of a message, of anything said beside it, and of an exception: no line grows with what somebody sent."
_MOST_LINES = 200

_STANDARD = frozenset(vars(logging.makeLogRecord({})))


class JsonLines(logging.Formatter):
    """One object a line: when, how bad, who, what, and whatever else was said."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _cut(record.getMessage(), _LONGEST),
        }
        beside = {k: v for k, v in vars(record).items() if k not in _STANDARD and k not in ("message", "asctime")}
        told.update({k: _short(v) for k, v in beside.items()})
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        # ASCII, so that nothing in a message can end the line.
        return json.dumps(told, default=str)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return _trace(super().formatException(ei))


class TextLines(logging.Formatter):
    """A line of text, and the exception beneath it."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        request = getattr(record, "request_id", None)
        told = record.message if request is None else f"{record.message} (request {request})"
        record.message = _one_line(_cut(told, _LONGEST))
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return _trace(super().formatException(ei))


def log_to_terminal(form: str, level: int = logging.INFO) -> None:
    """Log to standard error, as text or as JSON."""
    if form not in ("text", "json"):
        raise Misconfigured(f"PENSTOCK_LOG_FORMAT is text or json, not {form!r}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    logging.getLogger("botocore").setLevel(logging.WARNING)
    logging.captureWarnings(True)  # or Python would print them, in a form of its own


def _short(value: Any) -> Any:
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**64:
        return value
    return _cut(str(value), _LONGEST_FIELD)


def _cut(text: str, longest: int) -> str:
    """A text without its middle, if it is too long: the beginning says what it is, and the end what went wrong."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {len(text) - 2 * half} characters … {text[-half:]}"


def _trace(text: str) -> str:
    """An exception's text: each line of it may hold what was sent, and there may be many."""
    lines = text.split("\n", _MOST_LINES * 100)
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES // 2], f"… {len(lines) - _MOST_LINES} lines …", *lines[-_MOST_LINES // 2 :]]
    return _cut("\n".join(_cut(line, _LONGEST) for line in lines), _LONGEST_TRACE)


def _one_line(text: str) -> str:
    """A message that ends no line but its own; what it says beneath itself, such as a table, is indented."""
    return text.replace("\r", " ").replace("\n", "\n    ")
