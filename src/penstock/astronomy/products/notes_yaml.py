"""Notes as YAML that cannot be misread: every text in double quotes, on one line, in ASCII.

astropy's own way breaks texts over several lines and takes off what they begin with, which changes texts that are made
of line breaks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_PAIR = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})")
_LONG_KEY = 100
"Longer keys are marked as such; a reader looks for the colon of others within a thousand characters only."


def yaml_lines(notes: Mapping[str, Any]) -> Iterator[str]:
    """One line for each note."""
    for key, value in notes.items():
        yield f"{_text(key)}: {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    return _number(value) if isinstance(value, float) else json.dumps(value)


def _key(key: str) -> str:
    text = _text(key)
    return text if len(text) <= _LONG_KEY else f"? {text} "


def _number(value: float) -> str:
    """YAML takes 1e-05 for a text, and 1.0e-05 for a number."""
    digits, mark, exponent = repr(value).partition("e")
    return digits + (".0" if mark and "." not in digits else "") + mark + exponent


def _text(text: str) -> str:
    quoted = _PAIR.sub(_whole_sign, json.dumps(text))
    return quoted.replace("\x7f", "\\x7f")


def _whole_sign(pair: re.Match[str]) -> str:
    """JSON writes a sign beyond the first 65,536 as two halves, which YAML would not put together."""
    high, low = (int(half, 16) for half in pair.groups())
    return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08x}"
