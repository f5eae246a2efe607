"""A review item: all that somebody needs who looks at a record and decides about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.auth.caller import Caller
from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.errors import DeclarationError
from penstock.files.object_reads import lookup
from penstock.files.sidecars import Sidecars
from penstock.kernel.store import Store
from penstock.ports.stored_object import StoredObject
from penstock.review.derived_reviewable import derived_reviewable
from penstock.review.errors import NoSuchChoice, NotAnItem, StaleReview
from penstock.review.note import ReviewedRecord
from penstock.review.review_subject import KindsByPath, ReviewSubject
from penstock.review.reviewable import (
    ChoiceKind,
    MadeChoice,
    Neighbours,
    ReasonNeed,
    Reviewable,
    ReviewChoice,
    ReviewFile,
    files_of_fields,
)
from penstock.review.viewer import FilmFacts, Viewer, viewer_of
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext

MOST_FILES, MOST_VERSIONS = 100, 20
FILM = "film"
"The kind of sidecar that has the facts of a film."
_ALL_FILES = files_of_fields()


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of an item: what is declared of it, and what lies there."""

    declared: ReviewFile
    stored: StoredObject | None
    film: FilmFacts | None = None

    @property
    def viewer(self) -> Viewer:
        if self.declared.viewer is not None:
            return self.declared.viewer
        return Viewer.OTHER if self.stored is None else viewer_of(self.stored.content_type)

    @property
    def edition(self) -> str | None:
        """Tells these bytes from any others at the same key; None where there are none."""
        return None if self.stored is None else hashlib.sha256(self.stored.etag.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A record as somebody looks at it."""

    subject: ReviewSubject
    title: str
    files: tuple[ShownFile, ...]
    choices: tuple[ReviewChoice, ...]
    "Those that can be made about it as it stands, whoever may."

    @property
    def mark(self) -> str:
        """Changes whenever a file or a state does: a decision says what it is about by it."""
        record = self.subject.record
        states = [[f.name, str(getattr(record, f.name))] for f in record.__shape__.states]
        seen = [states, [[file.declared.name, file.edition] for file in self.files]]
        return hashlib.sha256(msgspec.json.encode(seen)).hexdigest()[:32]

    @property
    def states(self) -> dict[str, str]:
        return states_of(self.subject.record)

    def file(self, name: str) -> ShownFile:
        """One of its files; NotAnItem if there is no such."""
        for each in self.files:
            if each.declared.name == name:
                return each
        there = ", ".join(each.declared.name for each in self.files) or "none"
        raise NotAnItem(f"{self.subject.ref!r} has no file {name[:100]!r}; there are {there}")

    def choices_of(self, role: Role | None) -> list[ReviewChoice]:
        """The decisions that somebody of this role may make now."""
        return [c for c in self.choices if role is not None and role.includes(c.role)]


class ReviewDesk:
    """Where people look at records: knows how those of each entity are looked at."""

    def __init__(self, context: DomainContext, domains: Iterable[Domain], declared: Iterable[Reviewable]) -> None:
        self.context = context
        domains = list(domains)
        self.known = KindsByPath(domains)
        self.sidecars = Sidecars(context.store, context.objects)
        self._declared: dict[type[Entity], Reviewable] = {}
        for each in declared:
            if each.entity in self._declared:
                raise DeclarationError(f"{each.entity.__shape__.label} is declared to be reviewed in two ways")
            self._declared[each.entity] = each

    def reviewable(self, entity: type[Entity]) -> Reviewable:
        """How records of a kind are looked at."""
        if entity not in self._declared:
            self._declared[entity] = derived_reviewable(entity)
        return self._declared[entity]

    def item(self, subject: ReviewSubject) -> ReviewItem:
        """A record as it stands, with its files."""
        how = self.reviewable(subject.entity)
        return ReviewItem(
            subject,
            self._whole_title(how, subject),
            tuple(self._shown(how, subject.record)),
            tuple(choice for choice in how.choices if choice.when(subject.record)),
        )

    def _whole_title(self, how: Reviewable, subject: ReviewSubject) -> str:
        """What a record is called, behind what it is a part of."""
        own = _title(how, subject)
        outer = None if how.within is None else self.context.store.lookup(how.within(subject.record))
        if outer is None:
            return own
        return f"{_title(self.reviewable(type(outer)), ReviewSubject(outer.ref, outer))}: {own}"

    def check_file(self, subject: ReviewSubject, name: str) -> None:
        """NotAnItem if a record has no file of this name; nobody looks what lies there."""
        there = [each.name for each in self._files(self.reviewable(subject.entity), subject.record)]
        if name not in there:
            raise NotAnItem(f"{subject.ref!r} has no file {name[:100]!r}; there are {', '.join(there) or 'none'}")

    def versions(self, store: Store, subject: ReviewSubject) -> tuple[list[Entity], bool]:
        """Other versions of the same, itself among them, the newest first; and whether there are more."""
        how = self.reviewable(subject.entity)
        query = None if how.versions is None else how.versions(subject.record)
        if query is None:
            return [], False
        page = store.page(query, limit=MOST_VERSIONS)
        return list(page.records), page.cursor is not None

    def neighbours(self, store: Store, subject: ReviewSubject) -> Neighbours:
        """The items before and behind this one in its queue."""
        queue = self.reviewable(subject.entity).queue
        return (None, None) if queue is None else queue(store, subject.record)

    def title(self, subject: ReviewSubject) -> str:
        """What a record is called."""
        return _title(self.reviewable(subject.entity), subject)

    def states(self, subject: ReviewSubject) -> dict[str, str]:
        """The states that a record is in, by their fields."""
        return states_of(subject.record)

    def notes_of(self, store: Store, subject: ReviewSubject) -> tuple[int, int]:
        """How many notes a record has, and how many threads of them are open."""
        known = store.lookup(ReviewedRecord.at(about=subject.about))
        return (0, 0) if known is None else (known.notes, known.open_threads)

    def decide(
        self,
        caller: Caller,
        subject: ReviewSubject,
        kind: ChoiceKind,
        *,
        role: Role | None,
        mark: str,
        reason: str | None,
    ) -> None:
        """Make a decision about what somebody has seen; StaleReview if it is not that any more."""
        item = self.item(subject)
        choice = next((each for each in item.choices_of(role) if each.kind is kind), None)
        if item.mark != mark:
            raise StaleReview(f"{subject.ref!r} is not what was looked at; read the item again")
        if choice is None:
            there = ", ".join(each.kind.value for each in item.choices_of(role)) or "none"
            raise NoSuchChoice(f"{kind.value} cannot be said of {subject.ref!r} now; there are {there}")
        if choice.reason is ReasonNeed.REQUIRED and not reason:
            raise NotAnItem(f"say why: {choice.title} takes a reason")
        choice.make(MadeChoice(self.context, caller, subject.record, reason))

    # Files

    def _shown(self, how: Reviewable, record: Entity) -> Iterable[ShownFile]:
        files = self._files(how, record)
        stored = {each.key: lookup(self.context.objects, each.key) for each in files}
        films = [found for each in files if (found := stored[each.key]) is not None and _is_film(each, found)]
        facts = self.sidecars.known_facts(films, FILM)
        for each in files:
            known = each.film or (FilmFacts.of(facts[each.key]) if each.key in facts else None)
            yield ShownFile(each, stored[each.key], known)

    def _files(self, how: Reviewable, record: Entity) -> Sequence[ReviewFile]:
        found = (how.files or _ALL_FILES)(self.context, record)
        return list(found)[:MOST_FILES]


def states_of(record: Entity) -> dict[str, str]:
    """The states that a record is in, by their fields."""
    found = {f.name: getattr(record, f.name) for f in record.__shape__.states}
    return {name: value.value for name, value in found.items() if value is not None}


def _is_film(declared: ReviewFile, found: StoredObject) -> bool:
    return declared.film is None and (declared.viewer or viewer_of(found.content_type)) is Viewer.VIDEO


def _title(how: Reviewable, subject: ReviewSubject) -> str:
    if how.title is not None:
        return how.title(subject.record)
    shown: dict[str, Any] = subject.record.__dict__
    personal = {f.name for f in subject.record.__shape__.personal}
    for name in ("title", "name", "label"):
        if name not in personal and isinstance(shown.get(name), str):
            return str(shown[name])
    return " ".join(subject.ref.texts().values())
