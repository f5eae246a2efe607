"""Differences between the layout that a store has and the one that a declaration asks for, each by what it takes.

Which of them matter depends on what a store keeps: one that keeps the texts of keys has a record elsewhere as soon as a
template changes, and finds by an index only what has its key; one that keeps columns does not care for templates, and
an index is only speed. ``key_texts`` says which it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from string import Formatter

from msgspec import Struct
from msgspec.structs import replace

from penstock.schema.fingerprint import Fingerprint, StoredField, StoredIndex, StoredKey
from penstock.schema.layout_names import named_as


class Takes(StrEnum):
    """What it takes to bring a store from one layout to another."""

    NOTHING_MORE = "additive"
    "`ensure` does it; no record need be touched."
    BACKFILL = "needs a backfill"
    "Records that stand have to be brought into it."
    MIGRATION = "needs a migration"
    "Records that stand have to be written otherwise."
    NOBODY = "leftover"
    "It stands and is declared no longer; it is kept until somebody asks to drop it."
    MORE_WORDS = "refused"
    "The declaration does not say what becomes of records that stand."


class Difference(Struct, frozen=True):
    """One thing in which a declaration differs from what is stored."""

    takes: Takes
    what: str
    detail: str = ""


def differences(stored: Fingerprint, declared: Fingerprint, *, key_texts: bool) -> list[Difference]:
    """Everything in which a declaration differs from the layout that a store has."""
    if stored == declared:
        return []  # as at nearly every start
    return list(_all(named_as(stored, declared), declared, key_texts))


def ensured(stored: Fingerprint, declared: Fingerprint, *, key_texts: bool) -> Fingerprint:
    """The layout that a store has once tables, columns and indexes are there: what is additive is in it, what takes a
    backfill is not yet, and what is declared no longer still is.

    Of a declaration that takes more than that nothing is done, and the layout stays.
    """
    if stored == declared:
        return stored
    if any(d.takes in (Takes.MIGRATION, Takes.MORE_WORDS) for d in differences(stored, declared, key_texts=key_texts)):
        return stored
    stored = named_as(stored, declared)
    pairs = {n: (stored.fields.get(n), f) for n, f in declared.fields.items()}
    fields = {n: _begun(*pair) for n, pair in pairs.items() if not _is_backfilled(*pair)}
    indexes = {} if key_texts else declared.indexes
    return replace(
        declared,
        fields={**kept_fields(stored, declared), **fields},
        indexes={**stored.indexes, **indexes},
        sql_indexes=tuple(sorted({*stored.sql_indexes, *declared.sql_indexes})),
        feed=stored.feed or declared.feed,
    )


def kept_fields(stored: Fingerprint, declared: Fingerprint) -> dict[str, StoredField]:
    """The fields of a layout; those that are gone have what is written there for the sake of others."""
    return {n: f if n in declared.fields else _kept(f, declared.gone.get(n)) for n, f in stored.fields.items()}


def _kept(field: StoredField, written: str | None) -> StoredField:
    """A field that is declared no longer: nobody makes it of others, or sees to it that it is unique."""
    if field.computed_of:
        field = replace(field, computed_of=(), optional=True)
    return replace(field, default=field.default if written is None else written, unique_within=None)


def _begun(former: StoredField | None, field: StoredField) -> StoredField:
    """A field as it is at first: made by its rule wherever it is missing."""
    is_new = former is None or former.made
    return replace(field, made=True) if field.begins or (field.computed_of and is_new) else field


def _is_backfilled(former: StoredField | None, field: StoredField) -> bool:
    if former is None:
        return False
    if field.begins and not former.made:
        return former == field
    computed = former.computed_of != field.computed_of and bool(field.computed_of)
    return computed or (former.unique_within != field.unique_within and field.unique_within is not None)


def _all(stored: Fingerprint, declared: Fingerprint, key_texts: bool) -> Iterator[Difference]:
    yield from _places(stored, declared, key_texts)
    for name, field in declared.fields.items():
        former = stored.fields.get(name)
        if former is None:
            yield from _new_field(declared, name, field)
        else:
            yield from _bound(declared, name, former, field, key_texts)
            yield from _field(f"{declared.label}.{name}", former, field, key_texts)
            yield from _choices(f"{declared.label}.{name}", former, field, is_key=name in key_fields(declared))
    for name, former in stored.fields.items():
        if name not in declared.fields:
            yield _lost_field(f"{stored.label}.{name}", former, is_gone=name in declared.gone)
    yield from _indexes(stored, declared, key_texts)
    yield from _rules(stored, declared)


# Places and keys


def _places(stored: Fingerprint, declared: Fingerprint, key_texts: bool) -> Iterator[Difference]:
    why = why_fixed(stored, declared, key_texts=key_texts)
    for what, was, wanted in _compared_places(stored, declared, key_texts):
        if was != wanted:
            takes, told = (Takes.MORE_WORDS, f": {why}") if why else (Takes.MIGRATION, "")
            yield Difference(takes, f"{declared.label} {what}", f"{was} → {wanted}{told}")


def _compared_places(stored: Fingerprint, declared: Fingerprint, key_texts: bool) -> Iterator[tuple[str, str, str]]:
    if key_texts:
        yield "table", stored.table, declared.table
        yield "partition key", _said(stored.partition), _said(declared.partition)
        yield "sort key", _said(stored.sort), _said(declared.sort)
        yield "tag", _tag(stored), _tag(declared)
    else:
        yield "relation", stored.relation, declared.relation
        yield "primary key", ", ".join(key_fields(stored)), ", ".join(key_fields(declared))


def is_moved(stored: Fingerprint, declared: Fingerprint, *, key_texts: bool) -> bool:
    """Are records elsewhere, or under another key?"""
    return any(was != wanted for _, was, wanted in _compared_places(stored, declared, key_texts))


def why_fixed(stored: Fingerprint, declared: Fingerprint, *, key_texts: bool) -> str | None:
    """What keeps records from moving to where a declaration has them; None where nothing does."""
    if not is_moved(stored, declared, key_texts=key_texts):
        return None
    if key_fields(stored) != key_fields(declared):
        return "a record would be named by other fields, or in another order; declare a new entity"
    if stored.feed:
        return "it has a feed, which tells of one place; declare a new entity"
    if not key_texts or stored.table != declared.table:
        return None
    if _attributes_of_key(stored) != _attributes_of_key(declared):
        return "the attributes of a table's key cannot be others; declare another table"
    if not are_apart(stored.partition, declared.partition) and not are_apart(stored.sort, declared.sort):
        return "a former key could be the key of another record; begin it with another word, or declare another table"
    return None


def _attributes_of_key(layout: Fingerprint) -> list[tuple[str, bool]]:
    keys = (layout.partition, *((layout.sort,) if layout.sort else ()))
    return [(key.attribute, key.number) for key in keys]


def are_apart(former: StoredKey | None, key: StoredKey | None) -> bool:
    """Can no text be made by both templates? So it is where both begin with words, and neither with the other's."""
    if former is None or key is None:
        return False
    one, other = (k.template.partition("{")[0] for k in (former, key))
    return not one.startswith(other) and not other.startswith(one)


def key_fields(layout: Fingerprint) -> tuple[str, ...]:
    """The fields of a layout's key, the partition's first."""
    keys = (layout.partition, *((layout.sort,) if layout.sort else ()))
    return tuple(dict.fromkeys(name for key in keys for name in template_fields(key.template)))


def template_fields(template: str) -> tuple[str, ...]:
    """The fields that a template names."""
    return tuple(name for _, name, _, _ in Formatter().parse(template) if name)


def _said(key: StoredKey | None) -> str:
    return "none" if key is None else f"{key.attribute} = {key.template!r}{' as a number' if key.number else ''}"


def _tag(layout: Fingerprint) -> str:
    return "none" if layout.tag is None else f"{layout.tag[0]} = {layout.tag[1]!r}"


# Fields


def _new_field(declared: Fingerprint, name: str, field: StoredField) -> Iterator[Difference]:
    what = f"{declared.label}.{name}"
    if not field.may_be_missing and not field.begins:
        yield Difference(
            Takes.MORE_WORDS,
            what,
            "records that stand have no value of this new field; give it a default, or a rule that it begins with, or "
            "make it optional",
        )
        return
    yield Difference(Takes.NOTHING_MORE, what, f"new field, {field.kind}")
    if field.begins or field.computed_of:
        yield _to_be_filled(what, field)


def _to_be_filled(what: str, field: StoredField) -> Difference:
    if field.computed_of:
        return _computed(what, field)
    return Difference(Takes.BACKFILL, what, "records that stand get what the rule says that it begins with")


def _lost_field(what: str, former: StoredField, *, is_gone: bool) -> Difference:
    if former.may_be_missing or is_gone:
        return Difference(Takes.NOBODY, what, "no longer declared; its values stay as they are")
    return Difference(
        Takes.MORE_WORDS,
        what,
        "older declarations need a value of this field in every record, and this one would write none; say what is "
        "written for their sake, with Gone",
    )


def place_of(field: StoredField, *, key_texts: bool) -> str:
    """Where a store has a field's values."""
    return field.attribute if key_texts else field.column


def _moved(what: str, former: StoredField, field: StoredField, key_texts: bool) -> Iterator[Difference]:
    """Where it lies, and what its values are."""
    was, now = place_of(former, key_texts=key_texts), place_of(field, key_texts=key_texts)
    place = "stored as" if key_texts else "column"
    if former.form == field.form:
        if was != now:
            yield Difference(Takes.MIGRATION, what, f"{place} {was} → {now}")
    elif was == now:
        yield Difference(
            Takes.MORE_WORDS,
            what,
            f"{place} {was}, where older declarations have {former.form}, not {field.form}; store it elsewhere, with "
            f'attribute("{now}_2", column="{field.column}_2"), and say what it was, with Retyped',
        )
    elif field.retyped_from != former.form:
        yield Difference(
            Takes.MORE_WORDS, what, f"{former.form} → {field.form}; say how the one is made of the other, with Retyped"
        )
    else:
        yield Difference(Takes.MIGRATION, what, f"{former.form} → {field.form}, {place} {was} → {now}")


def _bound(
    declared: Fingerprint, name: str, former: StoredField, field: StoredField, key_texts: bool
) -> Iterator[Difference]:
    """Those that cannot lie elsewhere."""
    was, now = place_of(former, key_texts=key_texts), place_of(field, key_texts=key_texts)
    is_bound = name == declared.expiry or (not key_texts and name in key_fields(declared))
    if is_bound and was != now:
        why = "ends records" if name == declared.expiry else "is part of the primary key"
        word = f'attribute("{was}")' if key_texts else f'attribute(column="{was}")'
        yield Difference(Takes.MORE_WORDS, f"{declared.label}.{name}", f"it {why}, and stays where it is: {word}")


def _field(what: str, former: StoredField, field: StoredField, key_texts: bool) -> Iterator[Difference]:
    moved = list(_moved(what, former, field, key_texts))
    yield from moved
    if former.formerly != field.formerly and not moved:
        yield Difference(Takes.NOTHING_MORE, what, f"formerly {', '.join(field.formerly) or 'nothing else'}")
    if key_texts and former.in_key_only != field.in_key_only:
        yield Difference(
            Takes.MIGRATION, what, "in the key alone" if field.in_key_only else "no longer in the key alone"
        )
    if former.computed_of != field.computed_of:
        yield _computed(what, field)
    else:
        yield from _presence(what, former, field)
    if former.unique_within != field.unique_within:
        if field.unique_within is None:
            yield Difference(Takes.NOTHING_MORE, what, "no longer unique")
        else:
            yield Difference(Takes.BACKFILL, what, "unique: each record that stands claims its value")


def _presence(what: str, former: StoredField, field: StoredField) -> Iterator[Difference]:
    """Whether a value may be missing, and what stands for it."""
    if (field.begins or field.computed_of) and former.made:
        yield _to_be_filled(what, field)
    elif former.may_be_missing and not field.may_be_missing:
        yield Difference(
            Takes.MORE_WORDS, what, "records that stand may have no value of this field; give it a default"
        )
    elif field.may_be_missing and not former.may_be_missing:
        if field.optional or field.made:
            yield Difference(
                Takes.MIGRATION, what, "no longer required: older declarations cannot read it where missing"
            )
        else:
            yield Difference(Takes.NOTHING_MORE, what, f"default {field.default}")
    elif former.default != field.default or former.optional != field.optional:
        yield Difference(Takes.NOTHING_MORE, what, f"where missing it reads as {field.default or 'nothing'}")


def _choices(what: str, former: StoredField, field: StoredField, *, is_key: bool) -> Iterator[Difference]:
    if former.kind != field.kind or not field.choices:
        return
    if new := sorted(set(field.choices) - set(former.choices)):
        told = "older declarations cannot read records that have them"
        yield Difference(Takes.NOTHING_MORE, what, f"new values {', '.join(new)}; {told}")
    if lost := sorted(set(former.choices) - set(field.choices)):
        yield _lost_choices(what, ", ".join(lost), is_key=is_key)


def _lost_choices(what: str, lost: str, *, is_key: bool) -> Difference:
    if is_key:
        return Difference(Takes.MORE_WORDS, what, f"keys of records may be made of {lost}; keep them declared")
    told = "`penstock migrate --dry-run` counts them; say what stands instead, with Instead"
    return Difference(Takes.MIGRATION, what, f"records may still have the values {lost}: {told}")


def _computed(what: str, field: StoredField) -> Difference:
    if not field.computed_of:
        return Difference(Takes.NOTHING_MORE, what, "no longer computed")
    of = " and ".join(field.computed_of)
    return Difference(Takes.BACKFILL, what, f"computed of {of}: records that stand get it")


# Indexes and rules


def _indexes(stored: Fingerprint, declared: Fingerprint, key_texts: bool) -> Iterator[Difference]:
    for name, index in declared.indexes.items():
        what = f"{declared.label} in {name}"
        former = stored.indexes.get(name)
        if former is None:
            takes = Takes.BACKFILL if key_texts else Takes.NOTHING_MORE
            yield Difference(takes, what, f"new index: {_index_said(index)}")
        elif _differ(former, index, key_texts):
            yield _changed_index(what, former, index, key_texts)
    for name in stored.indexes:
        if name not in declared.indexes:
            yield Difference(Takes.NOBODY, f"{stored.label} in {name}", "no longer declared; its keys are kept true")
    for names in declared.sql_indexes:
        if names not in stored.sql_indexes and not key_texts:
            yield Difference(Takes.NOTHING_MORE, f"{declared.label} in SQL", f"new index: {', '.join(names)}")
    for names in stored.sql_indexes:
        if names not in declared.sql_indexes and not key_texts:
            yield Difference(Takes.NOBODY, f"{declared.label} in SQL", f"no longer declared: {', '.join(names)}")


def _changed_index(what: str, former: StoredIndex, index: StoredIndex, key_texts: bool) -> Difference:
    changed = f"{_index_said(former)} → {_index_said(index)}"
    if not key_texts:
        return Difference(Takes.NOTHING_MORE, what, changed)
    if not has_same_attributes(former, index):
        told = "the attributes of an index cannot be others; declare an index under another name"
        return Difference(Takes.MORE_WORDS, what, f"{changed}: {told}")
    return Difference(Takes.MIGRATION, what, f"{changed}; nobody can ask by it from its beginning to its end")


def has_same_attributes(former: StoredIndex, index: StoredIndex) -> bool:
    """Can the keys of one index become those of the other where they lie?"""
    return _attributes(former) == _attributes(index)


def _attributes(index: StoredIndex) -> list[tuple[str, bool]]:
    keys = (index.partition, *((index.sort,) if index.sort else ()))
    return [(key.attribute, key.number) for key in keys]


def _differ(former: StoredIndex, index: StoredIndex, key_texts: bool) -> bool:
    if key_texts:
        return former != index
    return former.when != index.when or _index_fields(former) != _index_fields(index)


def _index_fields(index: StoredIndex) -> tuple[tuple[str, ...], ...]:
    keys = (index.partition, *((index.sort,) if index.sort else ()))
    return tuple(template_fields(key.template) for key in keys)


def _index_said(index: StoredIndex) -> str:
    text = _said(index.partition) + (f", {_said(index.sort)}" if index.sort else "")
    when = " and ".join(f"{name} is {' or '.join(values)}" for name, values in sorted(index.when.items()))
    return f"{text} when {when}" if when else text


def _rules(stored: Fingerprint, declared: Fingerprint) -> Iterator[Difference]:
    def other(what: str, was: object, wanted: object) -> Iterator[Difference]:
        if was != wanted:
            yield Difference(Takes.NOTHING_MORE, f"{declared.label} {what}", f"{was or 'none'} → {wanted or 'none'}")

    yield from other("lifetimes", ", ".join(stored.lifetimes), ", ".join(declared.lifetimes))
    yield from other("version", stored.version, declared.version)
    if declared.feed and not stored.feed:
        yield Difference(Takes.NOTHING_MORE, f"{declared.label} feed", "its changes are told from now on")
    if stored.feed and not declared.feed:
        yield Difference(
            Takes.NOBODY, f"{declared.label} feed", "no longer declared; its changes are told all the same"
        )
