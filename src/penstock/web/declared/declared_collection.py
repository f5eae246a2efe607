"""One collection of records, as its declaration says it and as one caller may use it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from penstock.declare.command_words import history_words, show_words
from penstock.declare.entity import Entity
from penstock.declare.lifetime import Expires, KeepLatest, Lifetime
from penstock.schema.role import Role
from penstock.web.declared.declared_field import DeclaredField, declared_fields
from penstock.web.declared.declared_pattern import DeclaredPattern, declared_patterns
from penstock.web.declared.declared_relation import (
    DeclaredReference,
    RelatedList,
    ServedCollection,
    declared_references,
    related_lists,
)
from penstock.web.declared.state_machine import DeclaredCreation, StateMachine, declared_creation, state_machines
from penstock.web.declared.viewpoint import Viewpoint
from penstock.web.record_history import SHOWN_TO


class DeclaredLifetime(BaseModel):
    """How long records are kept."""

    rule: Literal["expires", "retained", "latest"]
    field: str | None = Field(default=None, description="What the end is counted from, or the end itself.")
    seconds: float | None = Field(default=None, description="How long a record is kept after that.")
    states: list[str] | None = Field(default=None, description="Only in these states it leaves.")
    count: int | None = Field(default=None, description="So many of those that agree in `per` are kept.")
    per: list[str] | None = None
    files: bool = Field(default=False, description="Do the files leave with the record?")

    @classmethod
    def of(cls, lifetime: Lifetime) -> DeclaredLifetime:
        if isinstance(lifetime, Expires):
            return cls(rule="expires", field=lifetime.at)
        if isinstance(lifetime, KeepLatest):
            return cls(rule="latest", count=lifetime.count, per=list(lifetime.per), files=lifetime.files)
        states = None if lifetime.when is None else [str(state.value) for state in lifetime.when]
        seconds = lifetime.period.total_seconds()
        return cls(rule="retained", field=lifetime.since, seconds=seconds, states=states, files=lifetime.files)


class DeclaredHistory(BaseModel):
    """What became of a record."""

    path: str
    role: Role
    may: bool = Field(description="May this caller look at it?")
    cli: list[str]


class DeclaredCollection(BaseModel):
    """Records of one kind."""

    name: str
    entity: str
    label: str = Field(description="What the command line calls it, such as films.Film.")
    summary: str
    path: str
    record_path: str = Field(description="Put the parts of the key into the braces, percent-encoded.")
    key: list[str] = Field(description="The fields that name a record, in the order of its path.")
    called_by: str | None = Field(
        description="The field that a record is called by; what stands within one follows behind points."
    )
    fields: list[DeclaredField]
    patterns: list[DeclaredPattern]
    states: list[StateMachine]
    creation: DeclaredCreation
    related: list[RelatedList]
    references: list[DeclaredReference]
    files_path: str | None = Field(description="Where a record's files are signed; null where it has none.")
    history: DeclaredHistory | None
    lifetimes: list[DeclaredLifetime]
    live: bool = Field(description="Are its changes told by the stream of events?")
    project: bool = Field(description="Do its records belong to projects?")
    reviewed: bool = Field(description="Can its records be looked at in a review, at /api/review/items?")
    version: str | None = Field(description="The field that counts writes.")
    last_modified: str | None
    show_cli: list[str]


class CollectionBrief(BaseModel):
    """A collection, in short."""

    name: str
    entity: str
    summary: str
    patterns: int
    moves: int = Field(description="Those that this caller may make.")
    may_create: bool


def summary_of(entity: type[Entity]) -> str:
    """The first paragraph of what an entity says of itself."""
    return " ".join((inspect.getdoc(entity) or entity.__name__).split("\n\n")[0].split())


def declared_collection(
    place: ServedCollection,
    siblings: Sequence[ServedCollection],
    others: Sequence[ServedCollection],
    viewpoint: Viewpoint,
    *,
    reviewed: bool,
    called_by: str | None,
) -> DeclaredCollection:
    """A collection among its siblings; ``others`` are those elsewhere that its records may name."""
    entity, shape = place.entity, place.shape
    return DeclaredCollection(
        name=shape.collection,
        entity=shape.name,
        label=shape.label,
        summary=summary_of(entity),
        path=place.path,
        record_path=place.record_path,
        key=list(shape.key.fields),
        called_by=called_by,
        fields=declared_fields(entity, viewpoint),
        patterns=declared_patterns(entity, place.path, viewpoint),
        states=state_machines(entity, place.record_path, viewpoint),
        creation=declared_creation(entity, viewpoint),
        related=related_lists(place, siblings, viewpoint),
        references=declared_references(place, [*siblings, *others], viewpoint),
        files_path=f"{place.record_path}/files" if shape.pointing else None,
        history=_history(place, viewpoint),
        lifetimes=[DeclaredLifetime.of(each) for each in entity.__lifetimes__],
        live=shape.table.feed,
        project=shape.project is not None,
        reviewed=reviewed,
        version=shape.version,
        last_modified=shape.last_modified,
        show_cli=show_words(shape),
    )


def _history(place: ServedCollection, viewpoint: Viewpoint) -> DeclaredHistory | None:
    if not place.shape.traced:
        return None
    may = viewpoint.sees(place.shape) and viewpoint.includes(SHOWN_TO)
    path, words = f"{place.record_path}/history", history_words(place.shape)
    return DeclaredHistory(path=path, role=SHOWN_TO, may=may, cli=words)


def collection_brief(entity: type[Entity], viewpoint: Viewpoint) -> CollectionBrief:
    """A collection, as a list of domains shows it."""
    shape = entity.__shape__
    machines = state_machines(entity, "", viewpoint)
    return CollectionBrief(
        name=shape.collection,
        entity=shape.name,
        summary=summary_of(entity),
        patterns=len(shape.patterns),
        moves=sum(move.may for machine in machines for move in machine.moves),
        may_create=declared_creation(entity, viewpoint).may,
    )
