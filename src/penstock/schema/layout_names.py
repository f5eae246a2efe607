"""A layout in the field names of one declaration, whichever of the two is the older."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from penstock.schema.fingerprint import Fingerprint, StoredIndex, StoredKey


def named_as(layout: Fingerprint, declared: Fingerprint) -> Fingerprint:
    """The layout, in which each field that the declaration has under another name is called by that."""
    names = _names(layout, declared)
    if not names:
        return layout

    def called(name: str) -> str:
        return names.get(name, name)

    return replace(
        layout,
        partition=_key(layout.partition, names),
        sort=None if layout.sort is None else _key(layout.sort, names),
        fields={
            called(name): replace(field, computed_of=tuple(map(called, field.computed_of)))
            for name, field in layout.fields.items()
        },
        indexes={name: _index(index, names) for name, index in layout.indexes.items()},
        expiry=None if layout.expiry is None else called(layout.expiry),
        version=None if layout.version is None else called(layout.version),
        sql_indexes=tuple(tuple(_directed(n, names) for n in index) for index in layout.sql_indexes),
    )


def _names(layout: Fingerprint, declared: Fingerprint) -> dict[str, str]:
    """What the declaration calls fields that have another name in the layout."""
    found: dict[str, str] = {}
    for name, field in declared.fields.items():
        if name not in layout.fields:
            found |= {former: name for former in field.formerly if former in layout.fields}
    for name, field in layout.fields.items():
        if name not in declared.fields:
            former = [n for n in field.formerly if n in declared.fields and n not in layout.fields]
            if former:
                found[name] = former[0]
    return found


def _key(key: StoredKey, names: Mapping[str, str]) -> StoredKey:
    text = re.sub(r"\{(\w+)", lambda found: "{" + names.get(found[1], found[1]), key.template)
    return replace(key, template=text)


def _index(index: StoredIndex, names: Mapping[str, str]) -> StoredIndex:
    return replace(
        index,
        partition=_key(index.partition, names),
        sort=None if index.sort is None else _key(index.sort, names),
        when={names.get(name, name): values for name, values in index.when.items()},
    )


def _directed(name: str, names: Mapping[str, str]) -> str:
    plain = name.lstrip("-")
    return name[: len(name) - len(plain)] + names.get(plain, plain)
