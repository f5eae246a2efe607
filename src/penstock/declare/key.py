"""Keys: the one a record is found by, and the sparse ones it has in indexes.

A key is declared as a typed function, so that a type checker knows its parts:

    @key("PROJECT#{project_id}", "SCENE#{sequence:03d}")
    def at(self, *, project_id: UUID, sequence: int) -> None:
        "A scene by its number."
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from penstock.declare.table import TableIndex
from penstock.errors import DeclarationError, InvalidKey
from penstock.kinds import coerce
from penstock.ops import Ref
from penstock.shape import EntityShape

E = TypeVar("E")
P = ParamSpec("P")


class KeyOf(Generic[E, P]):
    """An entity's key. Called with the key's parts, it names one record."""

    shape: EntityShape
    _fields: tuple[str, ...]

    def __init__(self, partition: str, sort: str | None, signature: Callable[Concatenate[E, P], None]) -> None:
        self.partition, self.sort, self.signature = partition, sort, signature

    def bind(self, shape: EntityShape) -> None:
        """Tie the key to its entity; the function's parameters must be the key's fields."""
        self.shape = shape
        self._fields = shape.key.fields
        given = tuple(inspect.signature(self.signature).parameters)[1:]
        if set(given) != set(self._fields):
            raise DeclarationError(
                f"{shape.name}: the key function takes ({', '.join(given)}), but the templates are made of "
                f"({', '.join(self._fields)}); make them the same"
            )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Ref[E]:
        if args or len(kwargs) != len(self._fields):
            raise InvalidKey(f"{self.shape.name} is found by {', '.join(self._fields)}; give each by name, once")
        fields = self.shape.fields
        return self.of({name: coerce(fields[name], value) for name, value in kwargs.items() if name in fields})

    def of(self, values: Mapping[str, Any]) -> Ref[E]:
        """The record whose key these values, perhaps with others, make."""
        key = self.shape.key
        try:
            parts = {name: values[name] for name in self._fields}
        except KeyError as missing:
            raise InvalidKey(
                f"{self.shape.name} is found by {', '.join(self._fields)}; {missing} is not given"
            ) from None
        key.partition.check(parts)
        if key.sort is not None:
            key.sort.check(parts)
        return Ref(self.shape, parts)


def key(partition: str, sort: str | None = None) -> Callable[[Callable[Concatenate[E, P], None]], KeyOf[E, P]]:
    """Declare the key of an entity by its templates and a typed function of its parts."""

    def declare(signature: Callable[Concatenate[E, P], None]) -> KeyOf[E, P]:
        return KeyOf(partition, sort, signature)

    return declare


class IndexKey:
    """An entity's key in an index of its table.

    The entity takes part only while every field of the key has a value, and while each field named in ``when`` has
    one of the values given there.
    """

    def __init__(
        self,
        index: TableIndex,
        partition: str,
        sort: str | None = None,
        *,
        when: Mapping[str, Any] | None = None,
    ) -> None:
        self.index, self.partition, self.sort = index, partition, sort
        self.when = {name: _several(value) for name, value in (when or {}).items()}


def _several(value: Any) -> frozenset[Any]:
    return frozenset(value) if isinstance(value, tuple | list | set | frozenset) else frozenset({value})
