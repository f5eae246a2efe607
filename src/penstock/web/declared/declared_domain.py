"""A domain, whole and in short, as its declaration and its hints say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fastapi import FastAPI
from pydantic import BaseModel, Field

from penstock.declare.console_hints import ConsoleHints, entity_shape, listing_pattern
from penstock.declare.domain import Domain
from penstock.declare.entity import Entity
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role
from penstock.web.console_pages import ConsoleFiles
from penstock.web.declared.declared_action import (
    DeclaredAction,
    DeclaredRoute,
    RouteBook,
    declared_actions,
)
from penstock.web.declared.declared_collection import (
    CollectionBrief,
    DeclaredCollection,
    collection_brief,
    declared_collection,
)
from penstock.web.declared.declared_relation import ServedCollection
from penstock.web.declared.viewpoint import Viewpoint


class FirstList(BaseModel):
    """The list that a console shows first."""

    collection: str
    pattern: str


class DeclaredPage(BaseModel):
    """A page that a domain brings: a module that exports `mount(element, context)`."""

    title: str
    file: str
    module: str = Field(description="Where the module is got; good for ever.")
    panel_of: str | None = Field(description="The collection beside whose records it stands; null: a screen.")


class DomainBrief(BaseModel):
    """A domain, in short."""

    name: str
    title: str
    summary: str
    first: FirstList | None
    collections: list[CollectionBrief]
    pages: list[DeclaredPage]
    actions: int
    live: bool = Field(description="Does the stream of events tell of any of its records?")


class DomainBriefs(BaseModel):
    """Every domain of which this caller may see anything."""

    items: list[DomainBrief]


class DeclaredDomain(BaseModel):
    """All that a client must know of a domain to draw it."""

    name: str
    title: str
    summary: str
    first: FirstList | None
    collections: list[DeclaredCollection]
    actions: list[DeclaredAction]
    routes: list[DeclaredRoute]
    pages: list[DeclaredPage]


@dataclass(frozen=True, slots=True)
class Drawable:
    """A domain with its collections, where they are served and for whom."""

    name: str
    places: tuple[ServedCollection, ...]
    plugin: DomainPlugin | None = None
    "None of the system's own records."
    least: Role | None = None
    title: str = ""
    summary: str = ""
    files: ConsoleFiles | None = None
    elsewhere: Sequence[ServedCollection] = field(default=(), repr=False)
    "Collections of others that its records may name."
    elsewhere_least: Role | None = None

    @property
    def hints(self) -> ConsoleHints:
        given = self.plugin.console if self.plugin is not None else None
        return given or ConsoleHints(self.title or self.name.replace("_", " ").capitalize(), summary=self.summary)

    def shown(self, viewpoint: Viewpoint) -> list[ServedCollection]:
        """The collections that a caller may look at."""
        return [p for p in self.places if viewpoint.includes(self.least) and viewpoint.sees(p.shape)]

    def brief(self, app: FastAPI, viewpoint: Viewpoint) -> DomainBrief:
        """In short."""
        entities = [place.entity for place in self.shown(viewpoint)]
        return DomainBrief(
            name=self.name,
            title=self.hints.title,
            summary=self.hints.summary,
            first=self._first(viewpoint),
            collections=[collection_brief(entity, viewpoint) for entity in entities],
            pages=self._pages(viewpoint),
            actions=len(self._actions(RouteBook(app), entities, viewpoint)),
            live=any(entity.__shape__.table.feed for entity in entities),
        )

    def whole(self, app: FastAPI, viewpoint: Viewpoint) -> DeclaredDomain:
        """All of it."""
        places, book = self.shown(viewpoint), RouteBook(app)
        others = self.elsewhere if viewpoint.includes(self.elsewhere_least) else ()
        return DeclaredDomain(
            name=self.name,
            title=self.hints.title,
            summary=self.hints.summary,
            first=self._first(viewpoint),
            # The system's own records are nobody's work.
            collections=[
                declared_collection(
                    p,
                    self.places,
                    others,
                    viewpoint,
                    reviewed=self.plugin is not None,
                    called_by=self.hints.names.get(p.shape.name),
                )
                for p in places
            ],
            actions=self._actions(book, [p.entity for p in places], viewpoint),
            routes=book.own(self.name, viewpoint),
            pages=self._pages(viewpoint),
        )

    def _first(self, viewpoint: Viewpoint) -> FirstList | None:
        """What the domain says, or else the first list there is, of those that this caller may ask."""
        shown = {place.shape.collection for place in self.shown(viewpoint)}
        domain = self.plugin.domain if self.plugin is not None else None
        said = [listing_pattern(domain, self.hints.first)] if domain is not None and self.hints.first else []
        every = [pattern for place in self.places for pattern in place.shape.patterns.values()]
        for pattern in (*said, *every):
            if pattern.entity.collection in shown and viewpoint.includes(pattern.asked_by):
                return FirstList(collection=pattern.entity.collection, pattern=pattern.name)
        return None

    def _actions(self, book: RouteBook, entities: Sequence[type[Entity]], viewpoint: Viewpoint) -> list[DeclaredAction]:
        return declared_actions(self.plugin, entities, book, viewpoint) if self.plugin is not None else []

    def _pages(self, viewpoint: Viewpoint) -> list[DeclaredPage]:
        if self.plugin is None or self.files is None:
            return []
        shown = [place.shape for place in self.shown(viewpoint)]
        found = []
        for page in self.hints.pages:
            shape = None if page.panel_of is None else entity_shape(self.plugin.domain, page.panel_of)
            if shape is None or shape in shown:
                panel_of = None if shape is None else shape.collection
                module = self.files.path(page.file)
                found.append(DeclaredPage(title=page.title, file=page.file, module=module, panel_of=panel_of))
        return found


def places_of(entities: Iterable[type[Entity]], *, domain: str) -> tuple[ServedCollection, ...]:
    """Where the records of some entities are served."""
    return tuple(ServedCollection(entity, domain, f"/api/{domain}") for entity in entities)


def drawable(
    plugin: DomainPlugin, files: ConsoleFiles | None, elsewhere: Sequence[ServedCollection], least: Role
) -> Drawable:
    """A domain that is served."""
    domain: Domain = plugin.domain
    places = places_of(domain.entities, domain=domain.name)
    return Drawable(domain.name, places, plugin, files=files, elsewhere=elsewhere, elsewhere_least=least)
