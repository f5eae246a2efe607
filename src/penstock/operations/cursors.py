"""Cursors: where a page ended, as an opaque, URL-safe, signed text that means the same on every engine."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.errors import InvalidCursor
from penstock.operations.reads import Query
from penstock.schema.kinds import from_key_text, key_text

_SIGNATURE = 12  # bytes: a cursor guards against mistakes and tampering, not against years of guessing


def encode_cursor(query: Query[Any], last: Mapping[str, Any], secret: bytes) -> str:
    """The cursor behind a record of this query."""
    fields = query.pattern.entity.fields
    payload = msgspec.json.encode([key_text(fields[n], last[n]) for n in _names(query)])
    return base64.urlsafe_b64encode(_sign(query, payload, secret) + payload).rstrip(b"=").decode()


def decode_cursor(query: Query[Any], cursor: str, secret: bytes) -> dict[str, Any]:
    """The values a cursor stands for; InvalidCursor when it was altered or is of another query."""
    fields = query.pattern.entity.fields
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raise _invalid(query) from None
    signature, payload = raw[:_SIGNATURE], raw[_SIGNATURE:]
    if not hmac.compare_digest(signature, _sign(query, payload, secret)):
        raise _invalid(query)
    texts = msgspec.json.decode(payload, type=list[str])
    return {n: from_key_text(fields[n], t) for n, t in zip(_names(query), texts, strict=True)}


def _invalid(query: Query[Any]) -> InvalidCursor:
    return InvalidCursor(
        f"the cursor is not one of this {query.pattern.label} query; pass back the cursor of the page before, "
        f"with the same parameters, or leave it out to start again"
    )


def _names(query: Query[Any]) -> tuple[str, ...]:
    """The fields that fix a record's place in the order: those of the walked key, then those of the record's own."""
    return tuple(dict.fromkeys(query.pattern.key.fields + query.pattern.entity.key.fields))


def _sign(query: Query[Any], payload: bytes, secret: bytes) -> bytes:
    """Sign the place together with the question, so that a cursor answers no other one."""
    fields = query.pattern.entity.fields
    ranged = fields[query.pattern.ranged] if query.pattern.ranged else None
    bounds = query.range
    asked = [
        query.pattern.label,
        query.backwards,
        sorted((n, key_text(fields[n], v)) for n, v in query.values.items()),
        [None if v is None or ranged is None else key_text(ranged, v) for v in (bounds.low, bounds.high)],
        [bounds.open_low, bounds.open_high, bounds.prefix],
    ]
    return hmac.new(secret, msgspec.json.encode(asked) + payload, hashlib.sha256).digest()[:_SIGNATURE]
