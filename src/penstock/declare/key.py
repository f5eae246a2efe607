"""Keys: the one a record is found by, and the sparse ones it has in indexes.

A key is declared as a typed function, so that a type checker knows its parts:

    @key("PROJECT#{project_id}", "SCENE#{sequence:03d}")
    def at(self, *, project_id: UUID, sequence: int) -> None:
        "A scene by its number."
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from penstock.declare.checks import keyword_parameters
from penstock.declare.table import TableIndex
from penstock.errors import DeclarationError, InvalidKey
from penstock.operations.reads import Ref
from penstock.schema.kinds import INTEGER_LIMIT, FieldShape, Kind, coerce
from penstock.schema.number_bounds import Bounds
from penstock.schema.shape import EntityShape
from penstock.schema.template import Template

E = TypeVar("E")
P = ParamSpec("P")


class KeyOf(Generic[E, P]):
    """An entity's key. Called with the key's parts, it names one record."""

    shape: EntityShape
    _fields: tuple[str, ...]
    _parts: tuple[tuple[str, FieldShape, type | None], ...]
    "Each field of the key, with the type whose values need no coercion."
    _templates: tuple[Template, ...]
    "The templates that may refuse a value."
    _bounded: tuple[FieldShape, ...]
    "The numbers of which it is declared what they may be."
    _ranges: tuple[tuple[str, int, int], ...] | None
    "What each number of the key may be, where nothing else of it may be refused: all that is looked at then."

    def __init__(self, partition: str, sort: str | None, signature: Callable[Concatenate[E, P], None]) -> None:
        self.partition, self.sort, self.signature = partition, sort, signature

    def bind(self, shape: EntityShape) -> None:
        """Tie the key to its entity; the function's parameters must be the key's fields."""
        self.shape = shape
        self._fields = shape.key.fields
        self._parts = tuple((n, shape.fields[n], _exact(shape.fields[n])) for n in self._fields)
        templates = (shape.key.partition, *((shape.key.sort,) if shape.key.sort else ()))
        self._templates = tuple(t for t in templates if t.can_refuse)
        self._bounded = tuple(field for _, field, _ in self._parts if field.bounds is not None)
        others = any(field.kind is not Kind.INTEGER for field in self._bounded)
        only_numbers = not others and not any(t.can_refuse_texts for t in templates)
        self._ranges = tuple(_ranges(shape, templates)) if only_numbers else None
        where = f"{shape.name}.{getattr(self.signature, '__name__', 'key')}"
        given = tuple(p.name for p in keyword_parameters(where, self.signature))
        if set(given) != set(self._fields):
            raise DeclarationError(
                f"{shape.name}: the key function takes ({', '.join(given)}), but the templates are made of "
                f"({', '.join(self._fields)}); make them the same"
            )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Ref[E]:
        parts: dict[str, Any] = {}
        try:
            for name, field, exact in self._parts:
                value = kwargs[name]
                parts[name] = value if type(value) is exact else coerce(field, value)
        except KeyError:
            raise self._wrong() from None
        if args or len(kwargs) != len(parts):
            raise self._wrong()
        return self._ref(parts)

    def _ref(self, parts: dict[str, Any]) -> Ref[E]:
        if self._ranges is not None:  # nothing but numbers could be refused
            for name, low, high in self._ranges:
                value = parts[name]
                if type(value) is not int or not low <= value <= high:
                    break
            else:
                return Ref(self.shape, parts)
        return self._checked(parts)

    def _checked(self, parts: dict[str, Any]) -> Ref[E]:
        for template in self._templates:
            template.check(parts)
        for field in self._bounded:
            self._check_bounds(field, parts[field.name])
        return Ref(self.shape, parts)

    def _check_bounds(self, field: FieldShape, value: Any) -> None:
        """A key that no record can have is a mistake, and not a record that is missing."""
        assert field.bounds is not None
        if field.bounds.is_below(value) or field.bounds.is_above(value):
            raise InvalidKey(f"{self.shape.name}.{field.name} = {value} is part of a key; it is {field.bounds}")

    def _wrong(self) -> InvalidKey:
        return InvalidKey(f"{self.shape.name} is found by {', '.join(self._fields)}; give each by name, once")

    def of(self, values: Mapping[str, Any]) -> Ref[E]:
        """The record whose key these values, perhaps with others, make."""
        try:
            return self._ref({name: values[name] for name in self._fields})
        except KeyError:
            raise self._wrong() from None


def key(partition: str, sort: str | None = None) -> Callable[[Callable[Concatenate[E, P], None]], KeyOf[E, P]]:
    """Declare the key of an entity by its templates and a typed function of its parts."""

    def declare(signature: Callable[Concatenate[E, P], None]) -> KeyOf[E, P]:
        return KeyOf(partition, sort, signature)

    return declare


def _ranges(shape: EntityShape, templates: Iterable[Template]) -> Iterator[tuple[str, int, int]]:
    """Of each number in a key the smallest and the largest that both its template and its field take."""
    for part in (part for template in templates for part in template.parts if part.field.kind is Kind.INTEGER):
        bounds = shape.fields[part.field.name].bounds or Bounds()
        low, high = part.smallest, INTEGER_LIMIT if part.largest is None else part.largest
        yield (
            part.field.name,
            low if bounds.low is None else max(low, int(bounds.low)),
            high if bounds.high is None else min(high, int(bounds.high)),
        )


def _exact(field: FieldShape) -> type | None:
    return None if field.kind in (Kind.INSTANT, Kind.CHOICE) else field.python


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
