"""Rows of the simulated engine: what is stored of a record, and what is read of it.

A row is never changed, only replaced, so that versions, images of the feed and copies of the whole store share it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from typing import Any
from uuid import UUID

import msgspec
from pydantic import ValidationError

from penstock.operations.reads import Ref, Unreadable, damage, named
from penstock.schema.documents import as_stored, canonical
from penstock.schema.kinds import FieldShape, Kind, key_text
from penstock.schema.shape import EntityShape

Identity = tuple[Any, ...]
_DAMAGES = (ValueError, KeyError, TypeError, AttributeError, ValidationError, RecursionError)
_TYPES: dict[Kind, type | tuple[type, ...]] = {
    Kind.TEXT: str,
    Kind.IDENTIFIER: UUID,
    Kind.INTEGER: int,
    Kind.FLOAT: (int, float),
    Kind.DECIMAL: Decimal,
    Kind.FLAG: bool,
    Kind.BYTES: bytes,
    Kind.INSTANT: datetime,
    Kind.DAY: date,
    Kind.TEXTS: frozenset,
}
_json = msgspec.json.Encoder().encode
_canonical = msgspec.msgpack.Encoder(order="deterministic").encode


class StoredRow:
    """One record as it is stored, by the names of its columns, with the index keys that were written with it."""

    __slots__ = ("_digest", "_read", "index_keys", "values")

    def __init__(self, values: dict[str, Any], index_keys: Mapping[str, tuple[Any, Any]]) -> None:
        self.values, self.index_keys = values, index_keys
        self._digest: bytes | None = None
        self._read: tuple[EntityShape, dict[str, Any]] | None = None

    @property
    def digest(self) -> bytes:
        """The same for rows that hold the same."""
        if self._digest is None:
            told = _canonical([self.values, list(self.index_keys.items())])
            self._digest = blake2b(told, digest_size=12).digest()
        return self._digest

    def record(self, shape: EntityShape) -> Any:
        """The record; ValueError and the like where it does not fit the declaration. Its documents are its own."""
        if self._read is None or self._read[0] is not shape:
            self._read = (shape, self._simple_values(shape))
        values = dict(self._read[1])
        for field in shape.documents:
            values[field.name] = read_value(field, self.values.get(field.column))
        absent = [f.name for f in shape.fields.values() if values[f.name] is None and not f.optional]
        if not absent:
            return shape.build(values)
        # From before the table grew: what each record makes for itself, its declaration makes now.
        return shape.build(dict(vars(shape.check({n: v for n, v in values.items() if n not in absent}))))

    def _simple_values(self, shape: EntityShape) -> dict[str, Any]:
        documents = set(shape.documents)
        return {
            name: None if field in documents else read_value(field, self.values.get(field.column))
            for name, field in shape.fields.items()
        }

    def some(self, shape: EntityShape, names: Iterable[str]) -> dict[str, Any]:
        """Some fields as they are read; one that does not fit its declaration as it is stored."""
        found = {}
        for name in names:
            field = shape.fields[name]
            try:
                found[name] = read_value(field, self.values.get(field.column))
            except _DAMAGES:
                found[name] = self.values.get(field.column)
        return found

    def read(self, shape: EntityShape) -> Any:
        """The record, or what is told of one that cannot be read."""
        try:
            return self.record(shape)
        except _DAMAGES as error:
            return self._unreadable(shape, error)

    def _unreadable(self, shape: EntityShape, error: Exception) -> Unreadable:
        stored = {n: self.values.get(shape.fields[n].column) for n in shape.key.fields}
        name = named(shape, {n: str(v) for n, v in stored.items()})
        why = (
            f"{name} is stored in a form its declaration does not allow ({type(error).__name__}); "
            f"correct the row in {shape.relation}"
        )
        project = self.values.get(shape.project.column) if shape.project is not None else None
        return Unreadable(shape, name, why, self._key(shape), None if project is None else str(project))

    def _key(self, shape: EntityShape) -> dict[str, Any] | None:
        try:
            return {n: read_value(shape.fields[n], self.values.get(shape.fields[n].column)) for n in shape.key.fields}
        except _DAMAGES:
            return None

    def is_live(self, shape: EntityShape, now: int) -> bool:
        """Has its end not come?"""
        end = self.values.get(shape.fields[shape.expiry].column) if shape.expiry else None
        return end is None or end > now

    def order(self, shape: EntityShape, names: Iterable[str]) -> tuple[Any, ...]:
        """What it sorts by."""
        return tuple(ordered(shape.fields[n], self.values.get(shape.fields[n].column)) for n in names)


def chosen_fields(shape: EntityShape, row: StoredRow, names: Iterable[str]) -> tuple[Any, ...] | Unreadable:
    """Some fields of a row; Unreadable where one of them cannot be read."""
    try:
        return (
            tuple(row.record(shape).__dict__[n] for n in names)
            if _may_lack(shape, row, names)
            else tuple(read_value(shape.fields[n], row.values.get(shape.fields[n].column)) for n in names)
        )
    except _DAMAGES as error:
        return row._unreadable(shape, error)


def _may_lack(shape: EntityShape, row: StoredRow, names: Iterable[str]) -> bool:
    """Is there a field among them that only a whole record makes?"""
    fields = (shape.fields[n] for n in names)
    return any(not f.optional and f.default is None and row.values.get(f.column) is None for f in fields)


def got(refs: Iterable[Ref[Any]], rows: Iterable[StoredRow | None]) -> list[Any | None]:
    """The records of rows; DamagedRecord tells of those that cannot be read."""
    found = [None if row is None else row.read(ref.shape) for ref, row in zip(refs, rows, strict=True)]
    unreadable = [each for each in found if isinstance(each, Unreadable)]
    records = [None if isinstance(each, Unreadable) else each for each in found]
    if unreadable:
        raise damage(unreadable, records)
    return records


def stored_value(field: FieldShape, value: Any) -> Any:
    """A value in the form in which it is stored: nothing that somebody else could change."""
    if value is None:
        return None
    if field.kind is Kind.DOCUMENT:
        return _json(value)
    if isinstance(value, Enum):
        return value.value
    return frozenset(value) if field.kind is Kind.TEXTS else value


def read_value(field: FieldShape, stored: Any) -> Any:
    """A value as it is read; a missing one is its default."""
    if stored is None:
        return copy.deepcopy(field.counted_as)
    if field.kind is Kind.DOCUMENT:
        value = msgspec.json.decode(stored)
        return value if field.load is None else field.load(value)
    if field.kind is Kind.CHOICE:
        return field.python(stored)
    if not isinstance(stored, _TYPES[field.kind]):
        raise ValueError(f"{field.name} is stored as {type(stored).__name__}")
    return canonical(stored) if isinstance(stored, Decimal) else stored


def plain_value(field: FieldShape, stored: Any) -> Any:
    """A value as updates take it: documents are plain lists and maps."""
    if field.kind is not Kind.DOCUMENT:
        return read_value(field, stored)
    if stored is not None:
        return msgspec.json.decode(stored)
    return None if field.counted_as is None else as_stored(field, field.counted_as)


def ordered(field: FieldShape, stored: Any) -> Any:
    return stored if field.kind is Kind.INTEGER else key_text(field, stored).encode()


def identity(shape: EntityShape, key: Mapping[str, Any]) -> Identity:
    """What tells a record of a table from every other."""
    return tuple(stored_value(shape.fields[n], key[n]) for n in shape.key.fields)
