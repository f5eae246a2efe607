"""Finds the object keys, or the folders, within the values of a field, by what its annotation says they are."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from penstock.schema.object_key import HoldsFolder, HoldsKey

KeysOf = Callable[[Any], Iterable[str]]
Mark = type[HoldsKey] | type[HoldsFolder]

_SEVERAL = (list, tuple, set, frozenset)


def keys_within(
    annotation: Any,
    metadata: Sequence[Any] = (),
    *,
    marked: Mark = HoldsKey,
    inside: frozenset[type] = frozenset(),
) -> KeysOf | None:
    """How to find the keys in a value of this type that are ``marked`` so; None when it can hold none.

    A model inside itself is not looked into again.
    """
    marker = next((m for m in metadata if isinstance(m, marked)), None)
    if marker is not None:
        key_of = marker.key_of
        return _itself if key_of is str else lambda value: (key_of(value),)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return keys_within(arguments[0], arguments[1:], marked=marked, inside=inside)
    if origin in (Union, types.UnionType):
        return _of_union([a for a in arguments if a is not type(None)], marked, inside)
    if origin is dict:
        return _each(keys_within(arguments[1], marked=marked, inside=inside), lambda value: value.values())
    if origin in _SEVERAL:
        found = (keys_within(a, marked=marked, inside=inside) for a in arguments)
        return _each(next((keys for keys in found if keys is not None), None), lambda value: value)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in inside:
        return _of_model(annotation, marked, inside | {annotation})
    return None


def _itself(key: str) -> tuple[str]:
    return (key,)


def _of_union(members: Sequence[Any], marked: Mark, inside: frozenset[type]) -> KeysOf | None:
    found = [(m, keys) for m in members if (keys := keys_within(m, marked=marked, inside=inside)) is not None]
    if len(members) == 1 or not found:
        return found[0][1] if found else None
    holding = [(_types_of(member), keys) for member, keys in found]
    other: Mark = HoldsKey if marked is HoldsFolder else HoldsFolder
    either = any(str in _types_of(m) and keys_within(m, marked=other) is not None for m in members)

    def keys_of(value: Any) -> list[str]:
        keys = [key for kinds, keys in holding if isinstance(value, kinds) for key in keys(value)]
        # Where a text may be either, its end tells which it is.
        return [key for key in keys if key.endswith("/") is (marked is HoldsFolder)] if either else keys

    return keys_of


def _types_of(member: Any) -> tuple[Any, ...]:
    """What values of a member of a union are, also on their way to an engine, where a model is a plain dict."""
    origin, arguments = get_origin(member), get_args(member)
    if origin is Annotated:
        return _types_of(arguments[0])
    if origin in (Union, types.UnionType):
        return tuple(kind for each in arguments for kind in _types_of(each))
    if origin in _SEVERAL:
        return _SEVERAL
    if isinstance(member, type) and issubclass(member, BaseModel):
        return (dict, member)
    return (origin or member,)


def _each(keys: KeysOf | None, members: Callable[[Any], Iterable[Any]]) -> KeysOf | None:
    if keys is None:
        return None
    if keys is _itself:  # as most are, and every put asks
        return lambda value: [member for member in members(value) if member is not None]
    return lambda value: [key for member in members(value) if member is not None for key in keys(member)]


def _of_model(model: type[BaseModel], marked: Mark, inside: frozenset[type]) -> KeysOf | None:
    fields = [
        (n, keys_within(i.annotation, i.metadata, marked=marked, inside=inside)) for n, i in model.model_fields.items()
    ]
    holding = [(name, keys) for name, keys in fields if keys is not None]
    if not holding:
        return None

    def keys_of(value: Any) -> list[str]:
        # On its way to an engine a model has become a plain dict.
        values = value if isinstance(value, dict) else value.__dict__
        return [key for name, keys in holding if values.get(name) is not None for key in keys(values[name])]

    return keys_of
