"""Unique fields: a value that no other record of the entity has.

    email: Unique[str]                                       # of all records
    title: Annotated[str, UniqueWithin("project_id")]        # of those with the same project
    nickname: Unique[str] | None = None                      # None is nobody's

To a type checker the field is of its plain type. The kernel claims, changes and frees the value in the very commit that
writes the record (`penstock.kernel.uniqueness`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from penstock.errors import DeclarationError
from penstock.schema.kinds import KEY_KINDS
from penstock.schema.shape import EntityShape

T = TypeVar("T")


class UniqueWithin:
    """Marks a field as unique among the records that have the same values of some fields; of none: among all."""

    __slots__ = ("fields",)

    def __init__(self, *fields: str) -> None:
        self.fields = fields

    def __repr__(self) -> str:
        return f"UniqueWithin({', '.join(map(repr, self.fields))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UniqueWithin) and other.fields == self.fields

    def __hash__(self) -> int:
        return hash(self.fields)


Unique = Annotated[T, UniqueWithin()]


def unique_within(metadata: Sequence[Any]) -> tuple[str, ...] | None:
    """The fields within which a field is unique; None when nothing says that it is."""
    marks = [m.fields for m in metadata if isinstance(m, UniqueWithin)]
    return marks[-1] if marks else None


def check_unique(shape: EntityShape) -> None:
    """Refuse to keep unique what cannot be compared, or within what is no field."""
    allowed = ", ".join(sorted(k.value for k in KEY_KINDS))
    for field in shape.unique:
        where = f"{shape.name}.{field.name}"
        if field.kind not in KEY_KINDS:
            raise DeclarationError(f"{where} is {field.kind.noun}; a unique field may be {allowed}")
        for name in field.unique_within or ():
            within = shape.fields.get(name)
            if within is None or within is field:
                raise DeclarationError(f"{where}: UniqueWithin names {name!r}, which is not another field")
            if within.kind not in KEY_KINDS:
                raise DeclarationError(f"{where}: UniqueWithin names {name}, {within.kind.noun}; it may be {allowed}")
