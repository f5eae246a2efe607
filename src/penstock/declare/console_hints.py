"""What a domain says to a console beside its declaration: what comes first, who its projects are, pages of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.declare.domain import Domain
from penstock.errors import DeclarationError
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape, PatternShape

CONSOLE_FOLDER = "console"
"The folder of a package in which the files of its pages lie."
_FILE = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*\.js")
_PACKAGE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class ConsolePage:
    """A page that a domain brings: a module of JavaScript that exports ``mount(element, context)``."""

    file: str
    "Its name in the folder ``console`` of the domain's package, such as board.js."
    title: str
    panel_of: str | None = None
    "The entity beside whose records it stands, such as Film; None: it is a screen of its own."


@dataclass(frozen=True, slots=True)
class ProjectList:
    """How a console finds the projects of a domain by their titles."""

    pattern: str
    "The pattern that lists them, such as Project.all; it needs nothing, or choices alone."
    title: str
    "The field that a project is called by."


@dataclass(frozen=True, slots=True)
class ConsoleHints:
    """What a console should show first, and what it cannot know by itself."""

    title: str
    "The domain's name as people say it."
    first: str | None = None
    "The pattern whose list comes first, such as Film.by_status; else the first there is."
    summary: str = ""
    "What the domain is for, in a sentence."
    projects: ProjectList | None = None
    package: str | None = None
    "The package with the folder ``console``, where the domain has pages."
    pages: Sequence[ConsolePage] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    "By which field an entity's records are called, if not by title, name or label; ``request.prompt`` is within one."

    def check(self, domain: Domain) -> None:
        """Refuse what leads nowhere in the domain. Whether the files are there is seen when a service is started."""
        known = [_label(p) for p in domain.patterns]
        if self.first is not None and self.first not in known:
            there = ", ".join(known)
            raise DeclarationError(f"{domain.name} has no pattern {self.first} for the console; there are {there}")
        if self.projects is not None:
            _check_projects(domain, self.projects)
        for entity, path in self.names.items():
            _check_name(domain, entity, path)
        if self.pages and (self.package is None or not _PACKAGE.fullmatch(self.package)):
            raise DeclarationError(
                f"{domain.name} has pages for the console and no package= with them; give the name of a package whose "
                f"folder {CONSOLE_FOLDER}/ has their files"
            )
        for page in self.pages:
            _check_page(domain, page)
        files = [page.file for page in self.pages]
        if twice := next((file for file in files if files.count(file) > 1), None):
            raise DeclarationError(
                f"{domain.name} has two pages of {twice} for the console; each has a file of its own"
            )


def _check_page(domain: Domain, page: ConsolePage) -> None:
    if not _FILE.fullmatch(page.file):
        raise DeclarationError(
            f"{domain.name}: {page.file!r} is no file of a page; it lies in {CONSOLE_FOLDER}/ itself and has a name of "
            f"small letters, digits, - and _ that ends in .js"
        )
    if not page.title.strip():
        raise DeclarationError(f"{domain.name}: the page {page.file} has no title")
    entities = [shape.name for shape in domain.shapes]
    if page.panel_of is not None and page.panel_of not in entities:
        raise DeclarationError(
            f"{domain.name}: the page {page.file} is a panel of {page.panel_of}, which is none of its entities; "
            f"there are {', '.join(entities)}"
        )


def _check_name(domain: Domain, entity: str, path: str) -> None:
    shape = next((shape for shape in domain.shapes if shape.name == entity), None)
    if shape is None:
        there = ", ".join(shape.name for shape in domain.shapes)
        raise DeclarationError(f"{domain.name} has no entity {entity} to be called by {path}; there are {there}")
    field_name = path.partition(".")[0]
    if field_name not in shape.fields:
        raise DeclarationError(f"{shape.label} has no field {field_name} to be called by")
    if any(personal.name == field_name for personal in shape.personal):
        raise DeclarationError(f"{shape.label} cannot be called by {field_name}: it is personal")


def _check_projects(domain: Domain, hint: ProjectList) -> None:
    found = {_label(p): p for p in domain.patterns}.get(hint.pattern)
    if found is None:
        raise DeclarationError(f"{domain.name} has no pattern {hint.pattern} that lists its projects")
    shape = found.entity
    if shape.project is None or hint.title not in shape.fields:
        raise DeclarationError(f"{shape.label} has no project_id, or no {hint.title}: it cannot list projects")
    if not is_asked_by_choices(found):
        raise DeclarationError(f"{found.label} cannot list projects: it needs more than choices to be asked")


def is_asked_by_choices(pattern: PatternShape) -> bool:
    """Can a pattern be asked by whoever knows no record: by nothing, or by what its declaration lists?"""
    asked = [n for n in pattern.parameters if n != pattern.ranged and n not in pattern.optional]
    return all(pattern.entity.fields[n].kind is Kind.CHOICE for n in asked)


def listing_pattern(domain: Domain, label: str) -> PatternShape:
    """The pattern that a hint such as Film.by_status names."""
    return next(p for p in domain.patterns if _label(p) == label)


def entity_shape(domain: Domain, name: str) -> EntityShape:
    """The entity that a hint such as Film names."""
    return next(shape for shape in domain.shapes if shape.name == name)


def _label(pattern: PatternShape) -> str:
    return f"{pattern.entity.name}.{pattern.name}"
