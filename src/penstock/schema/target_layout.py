"""The layout that a migration leads to: as much of a declaration as records can be brought to, step by step."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from penstock.schema.differences import (
    Difference,
    Takes,
    differences,
    has_same_attributes,
    kept_fields,
    key_fields,
    place_of,
    why_fixed,
)
from penstock.schema.fingerprint import Fingerprint, StoredField, StoredIndex
from penstock.schema.layout_names import named_as

_TAKES = (Takes.BACKFILL, Takes.MIGRATION, Takes.MORE_WORDS)


class TargetLayout(Struct, frozen=True):
    """Where a migration leads."""

    grown: Fingerprint
    "What the store has, with the fields that are new: it takes everybody's knowing alone, and comes first."
    layout: Fingerprint
    "What the store has in the end."
    steps: tuple[Difference, ...]
    "What is done for it,"
    left: tuple[Difference, ...]
    "and what cannot be done: the declaration has to say it otherwise."


def target_layout(stored: Fingerprint, declared: Fingerprint, *, key_texts: bool) -> TargetLayout:
    """What becomes of a store's layout for a declaration."""
    before = named_as(stored, declared)
    new = {
        n: replace(f, made=f.made or f.begins or bool(f.computed_of))
        for n, f in declared.fields.items()
        if n not in before.fields
    }
    layout = _layout(before, declared, key_texts)
    left = [d for d in differences(layout, declared, key_texts=key_texts) if d.takes in _TAKES]
    todo = [d for d in differences(stored, declared, key_texts=key_texts) if d.takes in _TAKES and d not in left]
    return TargetLayout(
        replace(stored, fields={**stored.fields, **new}) if new and todo else stored,
        layout,
        tuple(todo),
        tuple(left),
    )


def keeps_from_migrating(left: Difference) -> bool:
    """Is it impossible to go on to the declared layout without it? What is made by the next write is no such thing."""
    return left.takes is not Takes.BACKFILL


def shuts_out(stored: Fingerprint, following: Fingerprint) -> bool:
    """Are there declarations that fit what the store has, and not what it will have?"""
    before = named_as(stored, following).fields
    return any(_ends_others(before.get(name), field) for name, field in following.fields.items())


def _layout(before: Fingerprint, declared: Fingerprint, key_texts: bool) -> Fingerprint:
    fields = {n: _field(before.fields.get(n), f, key_texts) for n, f in declared.fields.items()}
    for name in key_fields(declared):  # whose former values keep their places
        former = before.fields.get(name)
        if former is not None and former.kind == fields[name].kind:
            choices = tuple(sorted({*former.choices, *fields[name].choices}))
            fields[name] = replace(fields[name], choices=choices)
    indexes = {**before.indexes, **declared.indexes}
    home = before if why_fixed(before, declared, key_texts=key_texts) else declared
    return replace(
        declared,
        table=home.table,
        relation=home.relation,
        partition=home.partition,
        sort=home.sort,
        tag=home.tag,
        expiry=before.expiry or declared.expiry,
        fields={**kept_fields(before, declared), **fields},
        indexes={**indexes, **_fixed_indexes(before, declared)} if key_texts else indexes,
        sql_indexes=tuple(sorted({*before.sql_indexes, *declared.sql_indexes})),
        feed=before.feed or declared.feed,
    )


def _fixed_indexes(before: Fingerprint, declared: Fingerprint) -> dict[str, StoredIndex]:
    """Those that cannot become what is declared."""
    return {n: i for n, i in before.indexes.items() if not has_same_attributes(i, declared.indexes.get(n, i))}


def _field(former: StoredField | None, field: StoredField, key_texts: bool) -> StoredField:
    """A field as it will be; as it is, where that is all there can be."""
    if former is None:
        return field
    if former.form != field.form and (
        field.retyped_from != former.form
        or place_of(former, key_texts=key_texts) == place_of(field, key_texts=key_texts)
    ):
        return former
    if former.may_be_missing and not field.may_be_missing and not field.begins:
        return former
    return replace(
        field,
        in_key_only=former.in_key_only,
    )


def _ends_others(former: StoredField | None, field: StoredField) -> bool:
    """Are there records, by and by, that an older declaration cannot read, or must not write?"""
    if former is None:
        return field.begins or bool(field.computed_of)
    if field.computed_of and (former.made or former.computed_of != field.computed_of):
        return True
    if field.unique_within is not None and former.unique_within != field.unique_within:
        return True
    if former.form != field.form or (field.begins and former.made) or (field.optional and not former.may_be_missing):
        return True
    return bool(field.choices) and not set(former.choices) <= set(field.choices)
