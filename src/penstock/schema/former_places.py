"""What former layouts of an entity had, and nobody has any more: columns or attributes, indexes and whole tables.

Only what a layout is remembered to have had is told here: whatever else stands in a table is somebody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from penstock.schema.differences import are_apart, place_of
from penstock.schema.fingerprint import Fingerprint, StoredKey


class FormerPlaces(Struct, frozen=True):
    """What is left of an entity's former layouts, as far as layouts tell."""

    fields: tuple[str, ...] = ()
    "Columns or attributes of its records, where they are now."
    indexes: tuple[str, ...] = ()
    "What indexes were called there,"
    had_indexes: tuple[str, ...] = ()
    "with those that layouts still have, the entity's or another's."
    homes: dict[str, tuple[str, ...]] = {}
    "Tables that it has left, with all columns or attributes that it had in each."
    used: tuple[str, ...] = ()
    "The tables that anybody has now."

    @property
    def are_none(self) -> bool:
        return not (self.fields or self.indexes or self.homes)


def former_places(
    formers: Iterable[Fingerprint], layout: Fingerprint, others: Iterable[Fingerprint], *, key_texts: bool
) -> FormerPlaces:
    """What former layouts had beyond the one that holds, and beyond what other entities of the store have."""
    every, known = list(others), list(formers)
    here = _home(layout, key_texts)
    used = {here, *(_home(other, key_texts) for other in every)}
    same = [former for former in known if _home(former, key_texts) == here]
    beside = [other for other in every if _home(other, key_texts) == here]
    had = {name for each in (layout, *same, *beside) for name in _indexes(each, key_texts)}
    fields = {name for former in same for name in _fields(former, key_texts)} - set(_fields(layout, key_texts))
    indexes = had - {name for each in (layout, *beside) for name in _indexes(each, key_texts)}
    fields -= {name for o in beside if not _is_told_from(layout, o, key_texts) for name in _fields(o, key_texts)}
    homes: dict[str, set[str]] = {}
    for former in known:
        if _is_left(former, here, every, key_texts):
            homes.setdefault(former.table if key_texts else former.relation, set()).update(_fields(former, key_texts))
    return FormerPlaces(
        tuple(sorted(fields)),
        tuple(sorted(indexes)),
        tuple(sorted(had)),
        {name: tuple(sorted(had)) for name, had in sorted(homes.items())},
        tuple(sorted(used)),
    )


def _is_left(former: Fingerprint, here: str, others: Sequence[Fingerprint], key_texts: bool) -> bool:
    """Is what stands there the entity's, and another place than the one that it has now?"""
    there = _home(former, key_texts)
    return there != here and all(_is_told_from(former, o, key_texts) for o in others if _home(o, key_texts) == there)


def _is_told_from(layout: Fingerprint, other: Fingerprint, key_texts: bool) -> bool:
    """Can no record in a table that two entities have be both one's and the other's?"""
    if not key_texts:
        return False
    if layout.tag is not None and other.tag is not None and layout.tag != other.tag:
        return True
    return are_apart(layout.partition, other.partition) or are_apart(layout.sort, other.sort)


def _home(layout: Fingerprint, key_texts: bool) -> str:
    """What tells one table of a store from another."""
    return layout.table if key_texts else f"{layout.label.partition('.')[0]}_{layout.relation}"


def _fields(layout: Fingerprint, key_texts: bool) -> Iterator[str]:
    """All columns of a layout, or all attributes."""
    yield from (place_of(field, key_texts=key_texts) for field in layout.fields.values())
    if key_texts:
        yield from _attributes(layout.partition, layout.sort)
        for index in layout.indexes.values():
            yield from _attributes(index.partition, index.sort)
        if layout.tag is not None:
            yield layout.tag[0]


def _attributes(*keys: StoredKey | None) -> Iterator[str]:
    return (key.attribute for key in keys if key is not None)


def _indexes(layout: Fingerprint, key_texts: bool) -> Iterator[str]:
    """What a layout's indexes are called, before a table's name is put before it."""
    yield from layout.indexes
    if not key_texts:
        yield from ("_".join(name.lstrip("-") for name in names) for names in layout.sql_indexes)
        if layout.expiry is not None:
            yield f"{layout.fields[layout.expiry].column}_end"
