"""Attribute values of any kind as plain Python values, for whatever has no type compiled for it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from penstock.engines.dynamodb.layout import Value

NO_RAW = msgspec.Raw()
"A part of an answer that is not there; msgspec has no ``Raw | None``."

_INT_RANGE = 2**63


def there(raw: msgspec.Raw) -> msgspec.Raw | None:
    """A part of an answer, or None when it is missing or null."""
    return None if bytes(raw) in (b"", b"null") else raw


def number(text: str) -> int | float:
    """A number of a document: whole within 64 bits as an int, else as a float."""
    if text.lstrip("-").isdigit():
        whole = int(text)
        if -_INT_RANGE <= whole < _INT_RANGE:
            return whole
    return float(text)


def python_value(value: Value) -> Any:
    """A document as plain JSON values; a set becomes a list."""
    for kind, inner in value.items():
        return inner if kind in _AS_IT_IS else _CONVERSIONS[kind](inner)
    return {}  # DynamoDB Local's streams write an empty map as nothing at all


_AS_IT_IS = frozenset({"S", "BOOL", "SS"})
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "N": number,
    "M": lambda inner: {name: python_value(v) for name, v in inner.items()},
    "L": lambda inner: [python_value(v) for v in inner],
    "NULL": lambda _: None,
    "NS": lambda inner: [number(n) for n in inner],
    "B": base64.b64decode,
    "BS": lambda inner: [base64.b64decode(b) for b in inner],
}


_EMPTY_MAP: tuple[str, Any] = ("M", {})


def canonical(item: Mapping[str, Value]) -> dict[str, Any]:
    """An item in a form that is equal for equal items, however numbers and sets were written."""
    return {name: _canonical(value) for name, value in item.items()}


def _canonical(value: Value) -> Any:
    kind, inner = next(iter(value.items()), _EMPTY_MAP)
    if kind == "N":
        return kind, Decimal(inner)
    if kind == "NS":
        return kind, frozenset(Decimal(n) for n in inner)
    if kind in ("SS", "BS"):
        return kind, frozenset(inner)
    if kind == "M":
        return kind, {name: _canonical(v) for name, v in inner.items()}
    if kind == "L":
        return kind, [_canonical(v) for v in inner]
    return kind, inner


def same(one: Value | None, other: Value | None) -> bool:
    """Do two attribute values, either of which may be missing, mean the same?"""
    if one is None or other is None:
        return one is other
    return bool(_canonical(one) == _canonical(other))
