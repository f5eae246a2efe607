"""How one record leads to others: lists that can be asked with its values, and records that it names.

Both are found in the declarations alone. A list is related when each parameter it needs is a field that the record has
too, of the same type, and one of them names something: records that merely share a state are not. A record is named
where another entity's whole key stands among the fields, called and typed the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from penstock.declare.entity import Entity
from penstock.declare.entity_names import snake_case
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape, PatternShape
from penstock.web.declared.viewpoint import Viewpoint
from penstock.web.pattern_question import needed

_NAMING = (Kind.TEXT, Kind.IDENTIFIER)
"The kinds of which a value can name something."


@dataclass(frozen=True, slots=True)
class ServedCollection:
    """An entity, and where its records are served."""

    entity: type[Entity]
    domain: str
    prefix: str

    @property
    def shape(self) -> EntityShape:
        return self.entity.__shape__

    @property
    def path(self) -> str:
        return f"{self.prefix}/{self.shape.collection}"

    @property
    def record_path(self) -> str:
        return "/".join([self.path, *(f"{{{n}}}" for n in self.shape.key.fields)])


class RelatedList(BaseModel):
    """A list that belongs to a record: ask it with the record's values."""

    domain: str
    collection: str
    pattern: str
    summary: str
    values: dict[str, str] = Field(description="Which field of the record says each parameter.")


class DeclaredReference(BaseModel):
    """A record that a record names."""

    domain: str
    collection: str
    path: str = Field(description="Its path; put the record's values into the braces, percent-encoded.")
    values: dict[str, str] = Field(description="Which field of the record says each part of the key.")


def related_lists(
    place: ServedCollection, among: Sequence[ServedCollection], viewpoint: Viewpoint
) -> list[RelatedList]:
    """The lists of some entities that a record leads to."""
    return [
        RelatedList(
            domain=each.domain,
            collection=each.shape.collection,
            pattern=pattern.name,
            summary=pattern.summary,
            values={n: n for n in needed(pattern)},
        )
        for each in among
        if viewpoint.sees(each.shape)
        for pattern in each.shape.patterns.values()
        if viewpoint.includes(pattern.asked_by) and _is_related(place.shape, pattern)
    ]


def _is_related(shape: EntityShape, pattern: PatternShape) -> bool:
    asked = [pattern.entity.fields[n] for n in needed(pattern)]
    if not asked or not all(_same(shape.fields.get(f.name), f) for f in asked):
        return False
    return any(f.kind in _NAMING and (f.name in shape.key.fields or _is_name(f)) for f in asked)


def declared_references(
    place: ServedCollection, among: Sequence[ServedCollection], viewpoint: Viewpoint
) -> list[DeclaredReference]:
    """The records of some entities that a record names."""
    return [
        DeclaredReference(
            domain=each.domain,
            collection=each.shape.collection,
            path=each.record_path,
            values={n: n for n in each.shape.key.fields},
        )
        for each in among
        if each.entity is not place.entity and viewpoint.sees(each.shape) and _is_named(place.shape, each.shape)
    ]


def _is_named(shape: EntityShape, other: EntityShape) -> bool:
    if not all(_same(shape.fields.get(f.name), f) for f in other.key_fields):
        return False
    return len(other.key_fields) > 1 or _is_telling(other.key_fields[0], other)


def _is_telling(field: FieldShape, shape: EntityShape) -> bool:
    """Does a key of one field name this entity and nothing else? A text called title may be anything's."""
    return _is_name(field) or snake_case(shape.name) in field.name


def _is_name(field: FieldShape) -> bool:
    return field.kind is Kind.IDENTIFIER or field.name.endswith("_id")


def _same(field: FieldShape | None, other: FieldShape) -> bool:
    return field is not None and field.kind is other.kind and field.python is other.python and field.personal is None
