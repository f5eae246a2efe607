"""Cursors: where a page ended, as an opaque, URL-safe, signed text that means the same on every engine.

One that stands behind a record which was not shown (it did not fit a filter, it could not be read) is sealed as well:
it tells nobody which record that is, and goes on in the store that made it only.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from penstock.errors import InvalidCursor
from penstock.operations.item_collection import ItemCollection, Places
from penstock.operations.reads import Query, RawPlace
from penstock.schema.kinds import from_key_text, key_text

_SIGNATURE = 12  # bytes: a cursor guards against mistakes and tampering, not against years of guessing
_SEALED = b"\0"
"What a sealed payload begins with; a plain one is JSON."
_Question = Query[Any] | ItemCollection[Any]


def encode_cursor(query: _Question, place: Any, secret: bytes) -> str:
    """The cursor behind a place in the order of this query, a record's values for example."""
    raw = _raw(query, place)
    if raw is not None:
        payload = _SEALED + msgspec.msgpack.encode(raw)
        signature = _sign(query, payload, secret)
        payload = _SEALED + _crypt(payload[1:], signature, secret)
    else:
        payload = msgspec.json.encode(_texts(query, place))
        signature = _sign(query, payload, secret)
    return base64.urlsafe_b64encode(signature + payload).rstrip(b"=").decode()


def decode_cursor(query: _Question, cursor: str, secret: bytes) -> Any:
    """The place a cursor stands for; InvalidCursor when it was altered or is of another query."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except ValueError:
        raise _invalid(query) from None
    signature, payload = raw[:_SIGNATURE], raw[_SIGNATURE:]
    if payload[:1] == _SEALED:
        payload = _SEALED + _crypt(payload[1:], signature, secret)
    if not hmac.compare_digest(signature, _sign(query, payload, secret)):
        raise _invalid(query)
    if payload[:1] == _SEALED:
        return _from_raw(query, msgspec.msgpack.decode(payload[1:]))
    return _from_texts(query, msgspec.json.decode(payload))


def _invalid(query: _Question) -> InvalidCursor:
    label = query.label if isinstance(query, ItemCollection) else query.pattern.label
    return InvalidCursor(
        f"the cursor is not one of this {label} query; pass back the cursor of the page before, "
        f"with the same parameters, or leave it out to start again"
    )


# Places that records stand for


def _texts(query: _Question, place: Any) -> list[Any]:
    if isinstance(query, ItemCollection):
        told = [None if p is None else _texts(m, p) for m, p in zip(query.members, place.members, strict=True)]
        return [place.last, *told]
    fields = query.pattern.entity.fields
    return [key_text(fields[n], place[n]) for n in _names(query)]


def _from_texts(query: _Question, texts: list[Any]) -> Any:
    if isinstance(query, ItemCollection):
        last, *told = texts
        places = (None if t is None else _from_texts(m, t) for m, t in zip(query.members, told, strict=True))
        return Places(tuple(places), last)
    fields = query.pattern.entity.fields
    return {n: from_key_text(fields[n], t) for n, t in zip(_names(query), texts, strict=True)}


def _names(query: Query[Any]) -> tuple[str, ...]:
    """The fields that fix a record's place in the order: those of the walked key, then those of the record's own."""
    return tuple(dict.fromkeys(query.pattern.key.fields + query.pattern.entity.key.fields))


# Places that none stands for


def _raw(query: _Question, place: Any) -> list[Any] | None:
    """What is sealed of a place; None where records that were shown stand for it."""
    if isinstance(place, RawPlace):
        return [_plain(v) for v in place.values]
    if not isinstance(query, ItemCollection) or not any(isinstance(p, RawPlace) for p in place.members):
        return None
    return [place.last, *(_member(m, p) for m, p in zip(query.members, place.members, strict=True))]


def _member(query: Query[Any], place: Any) -> list[Any] | None:
    """The place of one member, with whether it is raw."""
    if place is None:
        return None
    raw = _raw(query, place)
    return [False, _texts(query, place)] if raw is None else [True, raw]


def _from_raw(query: _Question, told: list[Any]) -> Any:
    # DynamoDB's own place of a collection is one text, and not one for each member.
    if not isinstance(query, ItemCollection) or len(told) == 1:
        return RawPlace(tuple(_value(v) for v in told))
    last, *members = told
    places = []
    for member, place in zip(query.members, members, strict=True):
        made = None if place is None else (_from_raw if place[0] else _from_texts)(member, place[1])
        places.append(made)
    return Places(tuple(places), last)


def _plain(value: Any) -> Any:
    """A value that msgpack tells from others."""
    if isinstance(value, UUID | Decimal):
        return [type(value).__name__, str(value)]
    return ["date", value.isoformat()] if type(value) is date else value


def _value(told: Any) -> Any:
    return _SPELT[told[0]](told[1]) if isinstance(told, list) else told


_SPELT: dict[str, Callable[[str], Any]] = {"UUID": UUID, "Decimal": Decimal, "date": date.fromisoformat}


# Signing


def _crypt(payload: bytes, signature: bytes, secret: bytes) -> bytes:
    """Seal and open alike. No two payloads have one signature, so no two are sealed by the same bytes."""
    stream = hashlib.shake_256(b"cursor:" + secret + signature).digest(len(payload))
    return bytes(a ^ b for a, b in zip(payload, stream, strict=True))


def _sign(query: _Question, payload: bytes, secret: bytes) -> bytes:
    """Sign the place together with the question, so that a cursor answers no other one."""
    asked = [_asked(m) for m in query.members] if isinstance(query, ItemCollection) else _asked(query)
    return hmac.digest(secret, msgspec.json.encode(asked) + payload, "sha256")[:_SIGNATURE]


def _asked(query: Query[Any]) -> list[Any]:
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
    return asked if query.filter is None else [*asked, repr(query.filter)]
