"""What a domain declares of its records that people look at: their files, their versions, the queue, and the decisions.

    REVIEWS = [
        Reviewable(Film, files=files_of_fields("clip"), versions=lambda film: Film.takes(title=film.title),
                   queue=in_query(lambda film: Film.by_status(status=film.status)),
                   choices=[choice_by_move(ChoiceKind.APPROVE, Film.release)]),
    ]

Of a record of which nothing is declared, all files are shown that its fields point at, and the decisions are the moves
with the usual names that the declaration leaves to people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from penstock.auth.caller import Caller
from penstock.declare.entity import Entity
from penstock.errors import DeclarationError
from penstock.kernel.store import Store
from penstock.operations.reads import Query, Ref
from penstock.review.plot import CurvePlot
from penstock.review.viewer import FilmFacts, Viewer
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext


@dataclass(frozen=True, slots=True)
class ReviewFile:
    """A file of a record, as people look at it."""

    name: str
    "Which of the record's files: it stays the same when other bytes take the place of these."
    key: str
    title: str | None = None
    viewer: Viewer | None = None
    "By what it is shown, where its bytes alone do not tell."
    poster: str | None = None
    "The key of a picture that stands for it."
    stream: str | None = None
    "The path, on this service, of a playlist of the same that opens by itself."
    film: FilmFacts | None = None
    "Where they are known already."
    plot: Callable[[Path], CurvePlot] | None = None
    "Reads the curves in it; InvalidValue says why there are none."
    plotted_with: str = ""
    "What else the curves depend on, such as hints: with another, they are read anew."


class ChoiceKind(StrEnum):
    """What somebody decides."""

    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"
    REJECT = "reject"


class ReasonNeed(StrEnum):
    """Is a decision made with a reason?"""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class MadeChoice:
    """A decision that somebody makes."""

    context: DomainContext
    caller: Caller
    "Who; their store sees what they may see, and their claim ends with what they do."
    record: Any
    reason: str | None


@dataclass(frozen=True, slots=True)
class ReviewChoice:
    """A decision that people can make about a record."""

    kind: ChoiceKind
    title: str
    make: Callable[[MadeChoice], object]
    "Carries it out, in a change that ends the caller's claim."
    when: Callable[[Any], bool]
    "Can it be made about the record as it stands?"
    route: Callable[[Any], str] | None = None
    "The method and the path by which its domain makes the same, for a record; None: only the review room does."
    body: Callable[[Any], Mapping[str, Any] | None] = field(default=lambda record: None)
    "What that route takes; the reason is added to it under the name `reason_field`."
    reason: ReasonNeed = ReasonNeed.OPTIONAL
    reason_field: str | None = None
    role: Role = Role.EDITOR


Neighbours = tuple[Ref[Any] | None, Ref[Any] | None]
"The record before another in a queue, and the one behind it."
Files = Callable[[DomainContext, Any], Iterable[ReviewFile]]


@dataclass(frozen=True, slots=True)
class Reviewable:
    """How people look at the records of an entity."""

    entity: type[Entity]
    files: Files | None = None
    "None: all that its fields point at."
    versions: Callable[[Any], Query[Any] | None] | None = None
    "The records that are other versions of the same, the newest first; itself among them."
    queue: Callable[[Store, Any], Neighbours] | None = None
    choices: Sequence[ReviewChoice] = ()
    waiting: Mapping[str, Query[Any]] = field(default_factory=dict)
    "Those that wait for a decision, by what each list of them is called, such as its state."
    title: Callable[[Any], str] | None = None
    within: Callable[[Any], Ref[Any]] | None = None
    "The record that it is a part of, whose title comes before its own where it is looked at."

    def __post_init__(self) -> None:
        if not hasattr(self.entity, "__shape__"):
            raise DeclarationError(f"a Reviewable begins with an entity, not with {self.entity!r}")
        kinds = [choice.kind for choice in self.choices]
        if len(set(kinds)) != len(kinds):
            raise DeclarationError(f"{self.entity.__shape__.label} has two decisions of one kind; leave one out")


def in_query(query: Callable[[Any], Query[Any] | None]) -> Callable[[Store, Any], Neighbours]:
    """A queue that is a pattern's list: the neighbours of a record in it, also of one that has just left it."""

    def neighbours(store: Store, record: Any) -> Neighbours:
        found = query(record)
        if found is None:
            return None, None
        return _behind(store, found.reversed(), record), _behind(store, found, record)

    return neighbours


def _behind(store: Store, query: Query[Any], record: Entity) -> Ref[Any] | None:
    # Of a record that has left the list, the place where it was: DynamoDB knows no other in a list.
    place = {**record.__dict__, **query.values}
    page = store.page(query, limit=1, cursor=store.cursor(query, place))
    return page.records[0].ref if page.records else None


def files_of_fields(*names: str) -> Files:
    """The files that some fields of a record point at; those of all its fields, if none is named."""

    def found(context: DomainContext, record: Entity) -> Iterable[ReviewFile]:
        for each in record.__shape__.file_fields:
            value = record.__dict__.get(each.name)
            if value is None or each.keys is None or (names and each.name not in names):
                continue
            keys = list(each.keys(value))
            for number, key in enumerate(keys, 1):
                yield ReviewFile(each.name if len(keys) == 1 else f"{each.name}.{number}", key, title=_title(each.name))

    return found


def _title(name: str) -> str:
    return name.removesuffix("_s3_key").removesuffix("_key").replace("_", " ")
