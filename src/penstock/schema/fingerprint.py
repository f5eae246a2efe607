"""Fingerprints: how the records of one entity lie in a store, as a plain value that the store keeps.

A declaration is what a process has in mind; a fingerprint is what stands. It names all that two processes must agree on
to read each other's records: places, keys, fields, indexes and lifetimes. Its digest is the same for the same layout,
in whichever order a class declares its fields, and does not change when Penstock learns to tell more of a layout.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from penstock.schema.kinds import FieldShape, Kind, instant_text, key_text
from penstock.schema.shape import EntityShape, IndexShape, KeyAttribute
from penstock.schema.template import Template

_canonical = msgspec.json.Encoder(order="sorted").encode


class StoredKey(Struct, frozen=True, omit_defaults=True):
    """One attribute of a key: its name, and the template that makes its text."""

    attribute: str
    template: str
    number: bool = False


class StoredField(Struct, frozen=True, omit_defaults=True):
    """One field as it is stored."""

    attribute: str
    column: str
    kind: str
    optional: bool = False
    in_key_only: bool = False
    digits: int = 0
    default: str | None = None
    "The text of what a missing value reads as."
    made: bool = False
    "Is a missing value made anew with each reading?"
    choices: tuple[str, ...] = ()
    computed_of: tuple[str, ...] = ()
    unique_within: tuple[str, ...] | None = None
    formerly: tuple[str, ...] = ()
    "The names that older declarations have for it."
    retyped_from: str | None = None
    "What it was, where the declaration knows how to make the one of the other."
    begins: bool = False
    "Does a rule say what records from before it have?"

    @property
    def form(self) -> str:
        """What its values are stored as."""
        return f"{self.kind} with {self.digits} digits" if self.digits else self.kind

    @property
    def may_be_missing(self) -> bool:
        """Is a record without it a sound one?"""
        return self.optional or self.default is not None or self.made or bool(self.computed_of)


class StoredIndex(Struct, frozen=True, omit_defaults=True):
    """An entity's part in one index."""

    partition: StoredKey
    sort: StoredKey | None = None
    when: dict[str, tuple[str, ...]] = {}
    "The values that fields must have, as texts."


class Fingerprint(Struct, frozen=True, omit_defaults=True):
    """How the records of one entity lie in a store."""

    label: str
    table: str
    relation: str
    partition: StoredKey
    sort: StoredKey | None
    fields: dict[str, StoredField]
    indexes: dict[str, StoredIndex] = {}
    tag: tuple[str, str] | None = None
    "The attribute that tells its entity, and what it says."
    expiry: str | None = None
    "The field that holds a record's last second."
    feed: bool = False
    version: str | None = None
    sql_indexes: tuple[tuple[str, ...], ...] = ()
    lifetimes: tuple[str, ...] = ()
    gone: dict[str, str] = {}
    "Fields that older declarations need, with the text of what is written there for their sake."

    @property
    def digest(self) -> str:
        """The same for the same layout, and for no other."""
        return hashlib.sha256(_canonical(self)).hexdigest()[:32]

    @property
    def document(self) -> dict[str, Any]:
        """The fingerprint as JSON has it."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


def read_fingerprint(document: Mapping[str, Any]) -> Fingerprint:
    """A fingerprint that was stored; what a later Penstock tells beyond it is passed over."""
    return msgspec.convert(document, Fingerprint)


def fingerprint_of(shape: EntityShape) -> Fingerprint:
    """How the records of a declaration lie in a store."""
    place, key = shape.table, shape.key
    return Fingerprint(
        label=shape.label,
        table=place.name,
        relation=shape.relation,
        partition=_key(key.partition_attribute, key.partition),
        sort=_sort(key.sort_attribute, key.sort),
        fields={name: _field(field) for name, field in shape.fields.items()},
        indexes={name: _index(shape, index) for name, index in shape.indexes.items()},
        tag=(place.tag, shape.tag) if place.tag is not None and shape.tag is not None else None,
        expiry=shape.expiry,
        feed=place.feed and not place.watched,
        version=shape.version,
        sql_indexes=tuple(sorted(shape.sql_indexes)),
        lifetimes=tuple(sorted(shape.lifetimes)),
        gone={name: _text(value) for name, value in shape.gone.items()},
    )


def digest_of(shape: EntityShape) -> str:
    """The digest of a declaration's fingerprint, worked out once."""
    known = _DIGESTS.setdefault(shape, {})
    if shape.label not in known:  # an entity is in no domain at first
        known[shape.label] = fingerprint_of(shape).digest
    return known[shape.label]


_DIGESTS: WeakKeyDictionary[EntityShape, dict[str, str]] = WeakKeyDictionary()


def _key(attribute: KeyAttribute, template: Template) -> StoredKey:
    return StoredKey(attribute.name, template.text, attribute.number)


def _sort(attribute: KeyAttribute | None, template: Template | None) -> StoredKey | None:
    return None if attribute is None or template is None else _key(attribute, template)


def _field(field: FieldShape) -> StoredField:
    return StoredField(
        attribute=field.attribute,
        column=field.column,
        kind=field.kind.value,
        optional=field.optional,
        in_key_only=not field.stored,
        digits=field.digits,
        default=_default(field),
        made=field.made,
        choices=field.choices,
        computed_of=field.computation.of if field.computation is not None else (),
        unique_within=field.unique_within,
        formerly=field.formerly,
        retyped_from=None if field.retyping is None else _field(field.retyping.former).form,
        begins=field.begins is not None,
    )


def form_of(field: FieldShape) -> str:
    """What a field's values are stored as."""
    return _field(field).form


def _default(field: FieldShape) -> str | None:
    if field.default is None:
        return None
    if field.kind is Kind.DOCUMENT:
        return _canonical(field.dump(field.default) if field.dump is not None else field.default).decode()
    if field.kind is Kind.TEXTS:
        return _canonical(sorted(field.default)).decode()
    return field.default.hex() if isinstance(field.default, bytes) else key_text(field, field.default)


def _text(value: Any) -> str:
    """The text of a value of which only its type is known."""
    if isinstance(value, datetime):
        return instant_text(value, 6)
    if isinstance(value, frozenset):
        return _canonical(sorted(value)).decode()
    if isinstance(value, list | dict):
        return _canonical(value).decode()
    return value.hex() if isinstance(value, bytes) else str(value)


def _index(shape: EntityShape, index: IndexShape) -> StoredIndex:
    return StoredIndex(
        partition=_key(index.key.partition_attribute, index.key.partition),
        sort=_sort(index.key.sort_attribute, index.key.sort),
        when={name: tuple(sorted(key_text(shape.fields[name], v) for v in of)) for name, of in index.when.items()},
    )
