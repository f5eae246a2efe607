"""Access patterns: named, typed questions that a key or an index can answer without reading more than the answer.

    @pattern(by_creation)
    def by_status(self, *, status: Status, created_at: Range[datetime] = ANYTHING) -> None:
        "Projects in a state, oldest first."

A parameter without default must be given; one with default ``None`` may narrow the question further; one with default
``ANYTHING`` takes a range: `between`, `after`, `since`, `before`, `until`, `starting_with`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from msgspec.structs import replace

from penstock.declare.checks import keyword_parameters
from penstock.declare.key import IndexKey, KeyOf
from penstock.errors import DeclarationError, InvalidKey
from penstock.operations.reads import ANYTHING, Query, Range
from penstock.schema.kinds import FieldShape, Kind, coerce
from penstock.schema.shape import EntityShape, IndexShape, PatternShape

E = TypeVar("E")
P = ParamSpec("P")
T = TypeVar("T")


def between(low: T, high: T) -> Range[T]:
    """From low to high, both included."""
    return Range(low, high)


def after(value: T) -> Range[T]:
    """Beyond the value, without it."""
    return Range(low=value, open_low=True)


def since(value: T) -> Range[T]:
    """The value and what comes after it."""
    return Range(low=value)


def before(value: T) -> Range[T]:
    """What comes before the value, without it."""
    return Range(high=value, open_high=True)


def until(value: T) -> Range[T]:
    """What comes before the value, and the value."""
    return Range(high=value)


def starting_with(prefix: str) -> Range[str]:
    """Texts that begin so."""
    return Range(prefix=prefix)


class Pattern(Generic[E, P]):
    """A declared access pattern. Called with its parameters, it is a query."""

    shape: PatternShape

    def __init__(
        self, over: KeyOf[Any, ...] | IndexKey, backwards: bool, signature: Callable[Concatenate[E, P], None]
    ) -> None:
        self.over, self.backwards, self.signature = over, backwards, signature

    def bind(self, name: str, entity: EntityShape, index: IndexShape | None) -> None:
        """Tie the pattern to its entity; its parameters must lead the key it walks."""
        self.shape = _compile(name, entity, index, self)
        entity.patterns[name] = self.shape

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Query[E]:
        if args:
            raise InvalidKey(f"{self.shape.label} takes {', '.join(self.shape.parameters)}; give each by name")
        return ask(self.shape, kwargs)


def ask(shape: PatternShape, given: Mapping[str, Any]) -> Query[Any]:
    """Bind a pattern's parameters, a `Range` for the one that takes it; InvalidKey for what does not fit."""
    values: dict[str, Any] = {}
    bounds: Range[Any] = ANYTHING
    for name, value in given.items():
        if name not in shape.parameters:
            raise InvalidKey(f"{shape.label} takes {', '.join(shape.parameters)}, not {name}")
        field = shape.entity.fields[name]
        if isinstance(value, Range):
            bounds = _coerced(field, value)
        elif value is not None:
            values[name] = coerce(field, value)
    if any(n not in values for n in shape.parameters if n not in shape.optional and n != shape.ranged):
        raise InvalidKey(f"{shape.label} takes {', '.join(shape.parameters)}; give each by name")
    _check_values(shape, values, bounds)
    return Query(shape, values, bounds, shape.backwards)


def pattern(
    over: KeyOf[Any, ...] | IndexKey, *, backwards: bool = False
) -> Callable[[Callable[Concatenate[E, P], None]], Pattern[E, P]]:
    """Declare an access pattern over the entity's key or one of its index keys."""

    def declare(signature: Callable[Concatenate[E, P], None]) -> Pattern[E, P]:
        return Pattern(over, backwards, signature)

    return declare


def _compile(name: str, entity: EntityShape, index: IndexShape | None, declared: Pattern[Any, ...]) -> PatternShape:
    key = index.key if index else entity.key
    where = f"{entity.name}.{name}"
    parameters = keyword_parameters(where, declared.signature)
    for parameter in parameters:
        if parameter.name not in key.fields:
            raise DeclarationError(
                f"{where}: {parameter.name!r} is not part of the key it walks; the parts are {', '.join(key.fields)}"
            )
    ranged = [p.name for p in parameters if isinstance(p.default, Range)]
    optional = [p.name for p in parameters if p.default is None]
    if missing := [n for n in key.partition.names if n not in [p.name for p in parameters]]:
        raise DeclarationError(f"{where}: the partition needs {', '.join(missing)}; add it to the parameters")
    order = [n for n in key.sort_fields if n in [p.name for p in parameters]]
    if order != list(key.sort_fields[: len(order)]) or ranged not in ([], order[-1:]):
        raise DeclarationError(
            f"{where}: parameters must lead the sort key "
            f"({', '.join(key.sort_fields)}), and only the last may be a range"
        )
    _check_defaults(where, order, parameters)
    if any(n in key.partition.names for n in ranged + optional):
        raise DeclarationError(f"{where}: a part of the partition key must be given; remove its default")
    summary = " ".join((inspect.getdoc(declared.signature) or "").split())
    return PatternShape(
        name,
        entity,
        key,
        index,
        tuple(p.name for p in parameters),
        frozenset(optional),
        ranged[0] if ranged else None,
        declared.backwards,
        summary,
    )


def _check_defaults(where: str, order: list[str], parameters: list[inspect.Parameter]) -> None:
    """A parameter may be left out only if those behind it may."""
    by_name = {p.name: p for p in parameters}
    for parameter in parameters:
        if parameter.default not in (parameter.empty, None) and not isinstance(parameter.default, Range):
            raise DeclarationError(f"{where}: {parameter.name} has a default; it may only be None or ANYTHING")
    for former, later in pairwise(order):
        if by_name[former].default is not inspect.Parameter.empty and by_name[later].default is inspect.Parameter.empty:
            raise DeclarationError(
                f"{where}: {later} must be given, but {former} before it need not; give it a default"
            )


def _coerced(field: FieldShape, bounds: Range[Any]) -> Range[Any]:
    low, high = (None if v is None else coerce(field, v) for v in (bounds.low, bounds.high))
    return replace(bounds, low=low, high=high)


def _check_values(shape: PatternShape, values: dict[str, Any], bounds: Range[Any]) -> None:
    """Refuse parameters that no key could hold, and a range behind an open part."""
    key = shape.key
    key.partition.check(values)
    if key.sort is None:
        return
    bound = key.bound_sort_parts(values)
    head = key.sort.head(values, bound)  # refuses parts that do not fit
    behind = [n for n in key.sort.names[bound:] if n in values]
    if behind or (bounds != ANYTHING and key.sort.names[bound : bound + 1] != (shape.ranged,)):
        raise InvalidKey(f"{shape.label}: give the parts of the sort key in order: {', '.join(key.sort_fields)}")
    if bounds.prefix is not None and not isinstance(bounds.prefix, str):
        raise InvalidKey(f"{shape.label}: a prefix is a text, not a {type(bounds.prefix).__name__}")
    if bounds.prefix is not None and shape.entity.fields[shape.ranged or ""].kind is not Kind.TEXT:
        raise InvalidKey(f"{shape.label}: {shape.ranged} is not a text; use between, after or before")
    key.sort.check_length(head)
    _check_bounds(shape, bounds, head)


def _check_bounds(shape: PatternShape, bounds: Range[Any], head: str) -> None:
    """Refuse a bound that no key could hold, on every engine alike."""
    assert shape.key.sort is not None
    part = next((p for p in shape.key.sort.parts if p.field.name == shape.ranged), None)
    for bound in (bounds.low, bounds.high, bounds.prefix or None):
        if part is not None and bound is not None:
            # What follows the part belongs to every key that has it.
            shape.key.sort.check_length(head + part.encode(bound, shape.entity.name) + ("" if part.last else "#"))
