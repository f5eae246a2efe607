"""What a declaration says of its past, so that older ones and records from before them go on.

    writer: Annotated[str, Formerly("author")]
    length: Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)] = attribute("exact_length")

`Gone` stands beside the class: ``class Film(Entity, table=FILMS, gone=(Gone("notes", written_as=""),))``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from penstock.errors import DeclarationError
from penstock.schema.shape import EntityShape

Was = TypeVar("Was")


@dataclass(frozen=True, slots=True)
class Formerly:
    """The name that a field had in older declarations."""

    name: str


@dataclass(frozen=True, slots=True)
class Retyped(Generic[Was]):
    """The type that a field had in older declarations, and the functions between them.

    ``forward`` makes today's value of a former one, and ``back`` the former one of today's; both are pure. Without
    ``back`` nothing new can be written to the field before `penstock migrate` has come to its end.
    """

    was: type[Was]
    forward: Callable[[Was], Any]
    back: Callable[[Any], Was] | None = None


@dataclass(frozen=True, slots=True)
class Instead:
    """What stands for choices of older declarations that are declared no longer: ``Instead({"western": Genre.DRAMA})``.

    Records that have one read so, and are written so by `penstock migrate`.
    """

    of: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Gone:
    """A field that older declarations need in every record, and what is written there for their sake."""

    name: str
    written_as: Any


def check_past(shape: EntityShape) -> None:
    """Refuse a past that is present, and one of which the store could not make the present."""
    for field in shape.fields.values():
        where = f"{shape.name}.{field.name}"
        if standing := [name for name in field.formerly if name in shape.fields]:
            raise DeclarationError(f"{where} was formerly {standing[0]}, which is a field itself; rename one")
        if field.retyping is not None and field.name in {*shape.key.fields, *shape.indexed}:
            raise DeclarationError(f"{where} is part of a key or an index, and cannot be retyped; declare a new field")
        if field.unique_within is not None and (field.formerly or field.retyping is not None):
            raise DeclarationError(
                f"{where} is unique, and what is claimed keeps its name and type; declare a new field"
            )
        for lost, standing in field.instead.items():
            if lost in field.choices or getattr(standing, "value", standing) not in field.choices:
                raise DeclarationError(
                    f"{where}: {standing!r} stands for {lost!r}; what stands must be declared, and the other must not"
                )
        if field.name == shape.expiry and (field.formerly or field.retyping is not None):
            raise DeclarationError(f"{where} ends records, by the name its table knows; declare a new field")
    if standing := [name for name in shape.gone if name in shape.fields]:
        raise DeclarationError(f"{shape.name}: {standing[0]} is called gone, and is a field; leave one of them out")
