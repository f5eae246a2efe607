"""Finds the object keys within the values of a field, by what its annotation says they are."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from penstock.schema.object_key import HoldsKey

KeysOf = Callable[[Any], Iterable[str]]


def keys_within(
    annotation: Any, metadata: Sequence[Any] = (), *, inside: frozenset[type] = frozenset()
) -> KeysOf | None:
    """How to find the keys in a value of this type; None when it can hold none.

    A model inside itself is not looked into again.
    """
    marker = next((m for m in metadata if isinstance(m, HoldsKey)), None)
    if marker is not None:
        key_of = marker.key_of
        return lambda value: (key_of(value),)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return keys_within(arguments[0], arguments[1:], inside=inside)
    if origin in (Union, types.UnionType):
        return _first([keys_within(a, inside=inside) for a in arguments if a is not type(None)])
    if origin is dict:
        return _each(keys_within(arguments[1], inside=inside), lambda value: value.values())
    if origin in (list, tuple, set, frozenset):
        return _each(_first([keys_within(a, inside=inside) for a in arguments]), lambda value: value)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in inside:
        return _of_model(annotation, inside | {annotation})
    return None


def _first(found: Iterable[KeysOf | None]) -> KeysOf | None:
    return next((keys for keys in found if keys is not None), None)


def _each(keys: KeysOf | None, members: Callable[[Any], Iterable[Any]]) -> KeysOf | None:
    if keys is None:
        return None
    return lambda value: [key for member in members(value) if member is not None for key in keys(member)]


def _of_model(model: type[BaseModel], inside: frozenset[type]) -> KeysOf | None:
    fields = [(n, keys_within(i.annotation, i.metadata, inside=inside)) for n, i in model.model_fields.items()]
    holding = [(name, keys) for name, keys in fields if keys is not None]
    if not holding:
        return None

    def keys_of(value: Any) -> list[str]:
        # On its way to an engine a model has become a plain dict.
        values = value if isinstance(value, dict) else value.__dict__
        return [key for name, keys in holding if values.get(name) is not None for key in keys(values[name])]

    return keys_of
