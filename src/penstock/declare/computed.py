"""Computed fields: stored as any other, made of fields of the same record, and never given.

    title: str
    title_folded: str = computed(str.casefold, of="title")

They may be part of index keys and patterns, unique, compared and shown. The function is pure: the same values make the
same result, on every machine and in every version, as what is stored is only made anew when one of them changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, GetCoreSchemaHandler, TypeAdapter, ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from penstock.declare.attribute import StoredAs
from penstock.errors import DeclarationError, InvalidValue
from penstock.schema.computation import Computation
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape

T = TypeVar("T")


class ComputedOf:
    """What `computed` says about a field, kept among the field's metadata."""

    __slots__ = ("function", "of")

    def __init__(self, function: Callable[..., Any], of: tuple[str, ...]) -> None:
        self.function, self.of = function, of

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_after_validator_function(self._same, handler(source))

    def _same(self, value: Any, info: ValidationInfo) -> Any:
        """Refuse a value that was given, unless it is the one there is."""
        known = info.data or {}
        if all(name in known for name in self.of) and value != self.function(*[known[n] for n in self.of]):
            raise ValueError(f"is computed of {' and '.join(self.of)}, and not given")
        return value

    def made(self, values: dict[str, Any]) -> Any:
        """The value of a record that is being made of these."""
        try:
            return self.function(*[values[n] for n in self.of])
        except Exception as error:
            raise InvalidValue(
                f"a field cannot be computed of {' and '.join(self.of)} as they are ({type(error).__name__})"
            ) from error


def computed(
    function: Callable[..., T],
    *,
    of: str | tuple[str, ...],
    name: str | None = None,
    column: str | None = None,
    init: Literal[False] = False,
) -> T:
    """A stored field that a pure function makes of other fields, which are declared before it.

    ``name`` and ``column`` are what the documents and SQL call it. (``init`` is for type checkers.)
    """
    mark = ComputedOf(function, (of,) if isinstance(of, str) else tuple(of))
    info: FieldInfo = Field(default_factory=mark.made)
    info.metadata += [StoredAs(name, column), mark]
    return info  # type: ignore[return-value] # as pydantic's own Field is of whatever type is wanted


def computation(annotation: Any, metadata: Sequence[Any]) -> Computation | None:
    """How a field is computed; None when it is not."""
    mark = next((m for m in metadata if isinstance(m, ComputedOf)), None)
    if mark is None:
        return None
    others = [m for m in metadata if not isinstance(m, ComputedOf | StoredAs)]
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[(annotation, *others)] if others else annotation)
    return Computation(mark.of, mark.function, adapter.validate_python)


def check_computed(shape: EntityShape) -> None:
    """Refuse what could not be made of what it names, or is something else already."""
    order = list(shape.fields)
    for field in shape.computed:
        where = f"{shape.name}.{field.name}"
        assert field.computation is not None
        of = field.computation.of
        if not of:
            raise DeclarationError(f"{where} is computed of nothing; name the fields it is made of")
        for name in of:
            source = shape.fields.get(name)
            if source is None or source.computation is not None or order.index(name) > order.index(field.name):
                raise DeclarationError(
                    f"{where} is computed of {name!r}, which is no field declared before it that is given"
                )
            if source.counts_writes:
                raise DeclarationError(f"{where} is computed of the version, which changes with every write")
        if field.name in shape.key.fields or field.state or field.counts_writes or field.name == shape.last_modified:
            raise DeclarationError(f"{where} is computed, and cannot also be part of the key, a state or a version")
        hidden = [n for n in of if _is_stricter(shape.fields[n].personal, field.personal)]
        if hidden:
            raise DeclarationError(f"{where} is computed of {hidden[0]}, which is personal; mark it as personal too")


def _is_stricter(one: Role | None, other: Role | None) -> bool:
    return one is not None and (other is None or not other.includes(one))
