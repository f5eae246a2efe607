"""A line of a task's log as it may be kept: short, on one line, and without what opens doors."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from penstock.schema.documents import kept

LONGEST_LINE = 500
HIDDEN = "[…]"
"What stands where something secret stood."


def _without_query(address: re.Match[str]) -> str:
    plain, mark, _ = address[0].partition("?")
    return f"{plain}?{HIDDEN}" if mark else plain


_SECRETS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    # All of an address is taken, and then cut: what signs it is in its question.
    (re.compile(r"https?://[^\s\"'<>]*", re.I), _without_query),
    (re.compile(r"(?<=://)[^\s/@]{1,200}@"), f"{HIDDEN}@"),
    (re.compile(r"\b(bearer|basic)\s{1,4}[\w.~+/=-]{6,}", re.I), rf"\1 {HIDDEN}"),
    (re.compile(r"\b(?:pk|sk|rk|r8|hf|ghp|gho|xoxb|xoxp)[_-][\w-]{12,}"), HIDDEN),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}"), HIDDEN),
    (
        re.compile(
            r"(\b(?:[\w-]{0,40}(?:secret|password|passwd|token(?!s)|signature|credential|api[_-]?key|access[_-]?key)"
            r"[\w-]{0,40}|sig|auth)[\"']?\s{0,3}[:=]\s{0,3}[\"']?)(?!\[…\])[^\s\"'&,;]+",
            re.I,
        ),
        rf"\1{HIDDEN}",
    ),
)
"How keys, passwords and signatures look where people and programs write them, and what is left of each."


def log_line(level: int, msg: object, args: tuple[object, ...]) -> str:
    """What is kept of something that was logged."""
    said = _message(level, msg, args).replace("\n", " ⏎ ")
    return kept(f"{logging.getLevelName(level)} {without_secrets_in(said)}", LONGEST_LINE)


def without_secrets_in(line: str) -> str:
    """A line without what looks like a key, a password, or the signature of a URL."""
    # No more is looked at than could be kept, and a secret at the end of that is cut off with the rest.
    for pattern, left in _SECRETS:
        line = pattern.sub(left, line[: 4 * LONGEST_LINE])
    return line


def _message(level: int, msg: object, args: tuple[object, ...]) -> str:
    try:
        return logging.LogRecord("", level, "", 0, msg, args, None).getMessage()
    except Exception:  # a line that cannot be formatted is not worth failing for
        return str(msg)
