"""Fields that begin with a rule: records from before a field was declared have what the rule makes of the others.

    seconds: int
    is_short: bool = begins(lambda seconds: seconds < 60, of="seconds")

It is a field like any other from then on, given and changed; `penstock migrate` writes it to the records that stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo

from penstock.declare.attribute import StoredAs
from penstock.declare.computed import ComputedOf
from penstock.errors import DeclarationError
from penstock.schema.computation import Computation
from penstock.schema.shape import EntityShape

T = TypeVar("T")


class BeginsWith:
    """What `begins` says about a field, kept among the field's metadata."""

    __slots__ = ("rule",)

    def __init__(self, rule: ComputedOf) -> None:
        self.rule = rule


def begins(
    rule: Callable[..., T], *, of: str | tuple[str, ...], name: str | None = None, column: str | None = None
) -> T:
    """A new field of which every record has a value: a pure function of fields declared before it says which.

    ``name`` and ``column`` are what the documents and SQL call it.
    """
    mark = ComputedOf(rule, (of,) if isinstance(of, str) else tuple(of))
    info: FieldInfo = Field(default_factory=mark.made)
    info.metadata += [StoredAs(name, column), BeginsWith(mark)]
    return info  # type: ignore[return-value] # as pydantic's own Field is of whatever type is wanted


def beginning(annotation: Any, metadata: Sequence[Any]) -> Computation | None:
    """What a field begins with; None where it has always been."""
    mark = next((m.rule for m in metadata if isinstance(m, BeginsWith)), None)
    if mark is None:
        return None
    return Computation(mark.of, mark.function, TypeAdapter(annotation).validate_python)


def check_begins(shape: EntityShape) -> None:
    """Refuse rules that speak of what is not known."""
    order = list(shape.fields)
    for field in shape.fields.values():
        if field.begins is None:
            continue
        where = f"{shape.name}.{field.name}"
        if field.optional or field.name in shape.key.fields or field.name in shape.indexed:
            raise DeclarationError(f"{where} begins with a rule, and cannot be optional, nor part of a key or an index")
        for name in field.begins.of:
            source = shape.fields.get(name)
            if source is None or source.begins is not None or order.index(name) > order.index(field.name):
                raise DeclarationError(f"{where} begins with a rule of {name!r}, which is no field declared before it")
