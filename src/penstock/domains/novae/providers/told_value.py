"""What somebody told, as it is repeated in a finding: short, and no deeper than a text or a number."""

from __future__ import annotations

from typing import Any

_LONGEST = 60


def told_value(value: Any) -> str:
    """A value in a few words; of what is no value only what it is."""
    if isinstance(value, str):
        return repr(value[:_LONGEST])
    if value is None or isinstance(value, int | float):
        return str(value)[:_LONGEST]
    return f"a {type(value).__name__}"
