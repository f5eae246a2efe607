"""The lists of an entity: each declared pattern, by what it is asked, and what narrows it further."""

from __future__ import annotations

from pydantic import BaseModel, Field

from penstock.declare.command_words import list_words, parameter_word
from penstock.declare.condition_text import filterable
from penstock.declare.entity import Entity
from penstock.schema.kinds import Kind
from penstock.schema.role import Role
from penstock.schema.shape import PatternShape
from penstock.web.declared.declared_field import FieldKind, kind_of
from penstock.web.declared.viewpoint import Viewpoint
from penstock.web.pattern_question import PATTERN, needed, words_of
from penstock.web.wider_lists import WHERE, wider_words


class DeclaredParameter(BaseModel):
    """What a list is asked by."""

    name: str
    kind: FieldKind
    needed: bool
    ranged: bool = Field(description="Is it bounded, not given exactly?")
    words: list[str] = Field(description="The parameters of the query string that say it.")
    values: list[str] | None = Field(default=None, description="Of a choice or a state.")
    cli: str = Field(description="The word of the command line that says it.")


class DeclaredOrder(BaseModel):
    """How the records of a list follow each other."""

    fields: list[str]
    backwards: bool


class DeclaredPattern(BaseModel):
    """One list."""

    name: str
    summary: str
    path: str = Field(description="Where it is asked; add the parameters.")
    parameters: list[DeclaredParameter]
    order: DeclaredOrder
    where: list[str] = Field(description="The fields that `where` may compare.")
    takes: list[str] = Field(description="Which of where, fields and count the list takes besides.")
    role: Role | None = Field(default=None, description="Who may ask, where that takes more than to see the records.")
    may: bool = Field(description="May this caller?")
    cli: list[str] = Field(description="The words of the command that lists the same; add those of the parameters.")


def declared_patterns(entity: type[Entity], path: str, viewpoint: Viewpoint) -> list[DeclaredPattern]:
    """Every pattern of an entity, in the order of its declaration."""
    return [_pattern(entity, p, path, viewpoint) for p in entity.__shape__.patterns.values()]


def _pattern(entity: type[Entity], pattern: PatternShape, path: str, viewpoint: Viewpoint) -> DeclaredPattern:
    shape = entity.__shape__
    hidden = shape.hidden_from(viewpoint.role)
    takes = wider_words(shape)
    bound = {n for n in pattern.parameters if n != pattern.ranged}
    return DeclaredPattern(
        name=pattern.name,
        summary=pattern.summary,
        path=f"{path}?{PATTERN}={pattern.name}",
        parameters=[_parameter(entity, pattern, n) for n in pattern.parameters],
        order=DeclaredOrder(fields=[n for n in pattern.key.sort_fields if n not in bound], backwards=pattern.backwards),
        where=[n for n in filterable(shape) if n not in hidden] if WHERE in takes else [],
        takes=list(takes),
        role=pattern.asked_by,
        may=viewpoint.sees(shape) and viewpoint.includes(pattern.asked_by),
        cli=list_words(pattern),
    )


def _parameter(entity: type[Entity], pattern: PatternShape, name: str) -> DeclaredParameter:
    field = entity.__shape__.fields[name]
    return DeclaredParameter(
        name=name,
        kind=kind_of(field),
        needed=name in needed(pattern),
        ranged=name == pattern.ranged,
        words=[word for word in words_of(entity, pattern) if word.partition(".")[0] == name],
        values=[member.value for member in field.python] if field.kind is Kind.CHOICE else None,
        cli=parameter_word(pattern, name),
    )
