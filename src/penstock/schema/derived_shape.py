"""Derived shapes: a declaration seen through the layout that a store has.

Its fields keep their names and their meaning, and lie where the layout says. What the layout has and the declaration
does not know is carried along: fields under their names, so that no write erases them, and keys of every index, so
that others find what is written here. What the declaration has and the layout does not know yet is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from penstock.errors import LayoutMismatch
from penstock.schema.computation import Computation
from penstock.schema.conversion import Conversion, conversion_of, placed
from penstock.schema.derived_places import (
    incomplete_indexes,
    indexes_in,
    own_indexes,
    place_in,
    placed_as,
    read_text,
)
from penstock.schema.differences import is_moved, place_of
from penstock.schema.fingerprint import Fingerprint, StoredField, fingerprint_of
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.layout_names import named_as
from penstock.schema.lost_choices import choice_conversion
from penstock.schema.migration_stage import MigrationStage
from penstock.schema.shape import EntityShape


class StoredValues:
    """The values of a record as they lie in the store, with those that the declaration does not know."""

    __slots__ = ("__dict__", "__shape__")

    def __init__(self, shape: EntityShape, values: dict[str, Any]) -> None:
        self.__dict__, self.__shape__ = values, shape


@dataclass(frozen=True, eq=False)
class Twin:
    """The second place of a field whose values are on their way from one to another."""

    name: str
    "What the shape calls it."
    follow: Callable[[Any], Any] | None
    "Makes what is stored there of what is stored at the first; None where this declaration cannot."

    @property
    def is_copy(self) -> bool:
        """Is the same stored at both?"""
        return self.follow is _same


@dataclass(frozen=True, eq=False)
class DerivedShape:
    """A declaration, and the shape by which an engine reads and writes its records in one store."""

    declared: EntityShape
    shape: EntityShape
    "What the engine is given; it makes `StoredValues`."
    absent: Mapping[str, FieldShape]
    "Declared fields that the store does not know yet."
    needed: frozenset[str]
    "Declared fields of which every record must have a value for others to read it, though it is optional here."
    unknown: Mapping[str, Any]
    "Fields that the declaration does not know, with what a new record has of each,"
    unfilled: tuple[str, ...]
    "and those of which nobody here knows what a new record should have."
    incomplete: frozenset[str] = field(default_factory=frozenset)
    "Declared indexes that do not have every record yet."
    conversions: Mapping[str, Conversion] = field(default_factory=dict)
    "Declared fields that are stored as another type."
    twins: Mapping[str, Twin] = field(default_factory=dict)
    "The second places of fields, by their names."
    beginning: Mapping[str, Computation] = field(default_factory=dict)
    "Declared fields that some records do not have yet, with the rules that say what they are."
    mirror: EntityShape | None = None
    "The same records at their other place, while they are on their way to it or from it."
    refused: Mapping[str, frozenset[str]] = field(default_factory=dict)
    "Choices that no record may have any more, though they are declared here."
    computing: frozenset[str] = field(default_factory=frozenset)
    "Those among the beginning that are computed, so that what is stored of them says nothing."
    claiming: frozenset[str] = field(default_factory=frozenset)
    "Declared fields that are unique, of which some records have not claimed their values."


def through(
    declared: EntityShape,
    layout: Fingerprint,
    *,
    announced: Fingerprint | None = None,
    stage: MigrationStage | None = None,
    key_texts: bool,
    is_former: bool = False,
) -> DerivedShape:
    """A declaration seen through a layout; LayoutMismatch where its records cannot be read or written by it.

    What is ``announced`` beside the layout is carried along already, as others may go by it soon; where records are on
    their way to it, ``stage`` says how far they are. ``is_former``: the store has left the declaration behind.
    """
    if stage is MigrationStage.PROPOSED:
        announced = stage = None
    own = fingerprint_of(declared)
    layout = named_as(layout, own)
    carried = layout if announced is None else named_as(announced, own)
    read = carried if stage in _READ_ANEW else layout
    demanded = layout if stage in (None, MigrationStage.ANNOUNCED, MigrationStage.FILLING) else carried
    keyed = layout if stage is MigrationStage.ANNOUNCED else carried
    if not read.fields:
        raise LayoutMismatch(f"{declared.label}: its records are dropped, as no newer declaration has them")
    _check_missing(declared, own, read, demanded)
    if is_former:
        _check_rules(declared, own, demanded)
    absent = {n: f for n, f in declared.fields.items() if n not in read.fields}
    conversions = _conversions(declared, read) if is_former else _with_choices(declared, read)
    _conversions(declared, demanded)  # which shuts out whoever has none
    known = {n: _placed(declared.fields[n], read, conversions) for n in declared.fields if n not in absent}
    strangers = {n: s for n, s in {**carried.fields, **read.fields}.items() if n not in known and n not in absent}
    fields = {**known, **{n: stranger(n, s) for n, s in strangers.items()}}
    beginning = {n: f.begins for n, f in declared.fields.items() if n in known and f.begins and read.fields[n].made}
    computing = {} if is_former else _computing(declared, own, read)
    beginning |= computing
    for name in beginning:
        fields[name] = replace(fields[name], optional=True)
    twins: dict[str, Twin] = {}
    other = layout if read is carried else carried
    if stage is not None:
        for name in moved_fields(read, other, key_texts=key_texts):
            twins[name], fields[twin_name(name)] = _twin(declared, name, read, other)
    shape = replace(
        placed_as(replace(declared, fields=fields), declared, read),
        indexes=indexes_in(declared, fields, {**carried.indexes, **keyed.indexes}, place_in(declared, read))
        if key_texts
        else own_indexes(declared, own, fields),
        expiry=next((n for n in (declared.expiry, carried.expiry) if n in fields), None),
        patterns={},
        files=(),
    )
    shape.build = lambda values: StoredValues(shape, values)
    kept = {n: fields[n] for n in (*strangers, *(t.name for t in twins.values()))}
    shape.check = _checked(declared, shape, kept, conversions, beginning)
    unknown = {n: declared.gone[n] if n in declared.gone else _value(s) for n, s in strangers.items()}
    unknown |= {t.name: unknown[n] for n, t in twins.items() if n in strangers}
    return DerivedShape(
        declared,
        shape,
        absent,
        frozenset(n for n in known if declared.fields[n].optional and _is_read_by_others(layout.fields.get(n))),
        unknown,
        tuple(
            n for n, s in strangers.items() if n not in declared.gone and not demanded.fields.get(n, s).may_be_missing
        ),
        incomplete_indexes(own, layout, carried) if key_texts else frozenset(),
        conversions,
        twins,
        beginning,
        placed_as(shape, declared, other)
        if stage in _MIRRORED and is_moved(read, other, key_texts=key_texts)
        else None,
        _refused(own, demanded) if is_former else {},
        frozenset(computing),
        frozenset(
            f.name
            for f in declared.unique
            if f.name in beginning or _differ_in_uniqueness(f.name, own, layout.fields.get(f.name))
        ),
    )


def _is_read_by_others(former: StoredField | None) -> bool:
    """Must it have a value until the last who reads it so has heard that it need have none?"""
    return former is not None and not former.may_be_missing


_READ_ANEW = (MigrationStage.SWITCHED, MigrationStage.LEAVING, MigrationStage.DROPPING)
_MIRRORED = (MigrationStage.FILLING, MigrationStage.CLOSED, MigrationStage.SWITCHED)


def twin_name(name: str) -> str:
    """What a shape calls the second place of a field."""
    return f"{name}__2"


def moved_fields(layout: Fingerprint, other: Fingerprint, *, key_texts: bool) -> list[str]:
    """The fields that lie elsewhere in another layout."""
    return [
        name
        for name, stored in layout.fields.items()
        if name in other.fields
        and place_of(stored, key_texts=key_texts) != place_of(other.fields[name], key_texts=key_texts)
    ]


def _twin(declared: EntityShape, name: str, read: Fingerprint, other: Fingerprint) -> tuple[Twin, FieldShape]:
    label, stored = twin_name(name), other.fields[name]
    given = declared.fields.get(name)
    if given is None:
        return Twin(label, None), stranger(label, stored)
    where = f"{declared.label}.{name}"
    here = conversion_of(where, given, read.fields[name]) or choice_conversion(where, given, read.fields[name])
    try:
        there = conversion_of(where, given, stored) or choice_conversion(where, given, stored)
    except LayoutMismatch:  # what is to follow is beyond this declaration; whoever migrates makes it anew
        return Twin(label, None), stranger(label, stored)
    follow = there.dump if there is not None else here.follow if here is not None else _same
    shape = placed(given, stored, there, None)
    return Twin(label, follow), replace(shape, name=label, optional=True, default=None, computation=None, state=False)


def _same(value: Any) -> Any:
    return value


def _check_missing(declared: EntityShape, own: Fingerprint, read: Fingerprint, demanded: Fingerprint) -> None:
    for name, given in own.fields.items():
        if given.may_be_missing or given.begins:
            continue
        if name not in read.fields:
            raise LayoutMismatch(
                f"{declared.label}.{name} is declared as a value that every record has, and the store's records have "
                f"none; give it a default, or make it optional"
            )
        stored = demanded.fields.get(name)
        if stored is None or stored.optional:
            raise LayoutMismatch(
                f"{declared.label}.{name} is declared as a value that every record has, and the store's records need "
                f"none any more; go on with a newer declaration"
            )


def _check_rules(declared: EntityShape, own: Fingerprint, demanded: Fingerprint) -> None:
    """Shut out whoever does not keep to what every record is by now."""
    for name, stored in demanded.fields.items():
        given = own.fields.get(name)
        if stored.computed_of and not stored.made and (given is None or given.computed_of != stored.computed_of):
            raise LayoutMismatch(
                f"{declared.label}.{name} is computed of {' and '.join(stored.computed_of)} by now, of which this "
                f"declaration knows nothing; go on with a newer one"
            )
        if given is not None and stored.unique_within is not None and given.unique_within != stored.unique_within:
            raise LayoutMismatch(
                f"{declared.label}.{name} is unique by now, of which this declaration knows nothing; go on with a "
                f"newer one"
            )


def _computing(declared: EntityShape, own: Fingerprint, read: Fingerprint) -> dict[str, Computation]:
    """Computed fields that records may not have, or not as they are computed."""
    found = {}
    for given in declared.computed:
        stored = read.fields.get(given.name)
        if stored is not None and (stored.made or stored.computed_of != own.fields[given.name].computed_of):
            assert given.computation is not None
            found[given.name] = given.computation
    return found


def _differ_in_uniqueness(name: str, own: Fingerprint, stored: StoredField | None) -> bool:
    return stored is not None and stored.unique_within != own.fields[name].unique_within


def _conversions(declared: EntityShape, layout: Fingerprint) -> dict[str, Conversion]:
    found = {
        name: conversion_of(f"{declared.label}.{name}", field, layout.fields[name])
        for name, field in declared.fields.items()
        if name in layout.fields
    }
    return {name: conversion for name, conversion in found.items() if conversion is not None}


def _with_choices(declared: EntityShape, layout: Fingerprint) -> dict[str, Conversion]:
    """The conversions, with those of fields that lie as they are declared, but may be of former choices."""
    found = _conversions(declared, layout)
    for name, given in declared.fields.items():
        if name in layout.fields and name not in found and given.choices:
            conversion = choice_conversion(f"{declared.label}.{name}", given, layout.fields[name])
            found |= {} if conversion is None else {name: conversion}
    return found


def _refused(own: Fingerprint, demanded: Fingerprint) -> dict[str, frozenset[str]]:
    lost = {
        n: set(f.choices).difference(demanded.fields[n].choices) for n, f in own.fields.items() if n in demanded.fields
    }
    return {name: frozenset(texts) for name, texts in lost.items() if texts and demanded.fields[name].choices}


def _placed(given: FieldShape, layout: Fingerprint, conversions: Mapping[str, Conversion]) -> FieldShape:
    """A declared field where the layout has it."""
    stored = layout.fields[given.name]
    return placed(given, stored, conversions.get(given.name), _value(stored))


def stranger(name: str, stored: StoredField) -> FieldShape:
    """A field that the declaration does not know, as far as that is needed to carry it along."""
    kind = Kind(stored.kind)
    return FieldShape(
        name=name,
        attribute=stored.attribute,
        column=stored.column,
        kind=Kind.TEXT if kind is Kind.CHOICE else kind,
        optional=True,
        stored=not stored.in_key_only,
        digits=stored.digits,
        python=_PYTHON.get(kind, object),
    )


_PYTHON: Mapping[Kind, Any] = {
    Kind.TEXT: str,
    Kind.CHOICE: str,
    Kind.IDENTIFIER: UUID,
    Kind.INTEGER: int,
    Kind.FLOAT: float,
    Kind.DECIMAL: Decimal,
    Kind.FLAG: bool,
    Kind.BYTES: bytes,
    Kind.DAY: date,
}


def _value(stored: StoredField) -> Any:
    """What a new record has of a field, by its default."""
    return None if stored.default is None else read_text(Kind(stored.kind), stored.default)


def _checked(
    declared: EntityShape,
    shape: EntityShape,
    kept: Mapping[str, FieldShape],
    conversions: Mapping[str, Conversion],
    beginning: Mapping[str, Computation],
) -> Callable[[dict[str, Any]], Any]:
    """Makes the values of a record that was written in another way, or before a field was declared."""

    def check(values: dict[str, Any]) -> StoredValues:
        own = {n: v for n, v in values.items() if n not in kept and not (n in beginning and v is None)}
        logical = {n: conversions[n].load(v) if n in conversions else v for n, v in own.items()}
        stored = dict(vars(declared.check(logical)))
        for name, conversion in conversions.items():
            value = values.get(name)
            stored[name] = None if value is None else conversion.retyping.check(value)
        stored |= {n: values.get(n) for n in beginning}
        return StoredValues(shape, stored | {n: _coerced(field, values.get(n)) for n, field in kept.items()})

    return check


def _coerced(field: FieldShape, value: Any) -> Any:
    """A value of a field's own type, of one that may be written in another way; itself where it is none."""
    kind = datetime if field.kind is Kind.INSTANT else _PYTHON.get(field.kind)
    if value is None or kind is None:
        return value
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        return value
