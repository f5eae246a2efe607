"""The projects that a caller may switch to, by how their ids or their titles begin.

No store is searched through: the register of audit trails has each project's id in order, and a domain may say which
of its patterns lists its projects. Of such a list only the beginning is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen
from fastapi import FastAPI, Query, Request
from pydantic import BaseModel, Field

from penstock.auth.caller import Caller, caller_of
from penstock.declare.console_hints import listing_pattern
from penstock.declare.entity import Entity
from penstock.declare.pattern import ask, starting_with
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.kernel.audit_register import AuditedProject, label
from penstock.plugin import DomainPlugin
from penstock.schema.kinds import from_key_text, key_text
from penstock.schema.shape import PatternShape
from penstock.web.pattern_question import needed
from penstock.web.route import AdmittedRoute

_LOOKED_AT = 100
"So many of the records that list projects are looked at, of each state they may be in."
_USUAL = 50
_LONGEST_TITLE = 200


class ProjectChoice(BaseModel):
    """A project that one may switch to: send its id as `X-Project`."""

    project: str
    title: str | None = Field(default=None, description="As its domain calls it; null where no domain does.")
    domain: str | None = Field(default=None, description="The domain that has the title.")


class ProjectChoices(BaseModel):
    """Some projects, by their titles and ids."""

    items: list[ProjectChoice]
    more: bool = Field(description="Are there others that begin so? Then ask by a longer beginning.")


class _Listing:
    """The projects of one domain, as one of its patterns lists them."""

    def __init__(self, plugin: DomainPlugin) -> None:
        assert plugin.console is not None
        assert plugin.console.projects is not None
        hint = plugin.console.projects
        self._pattern: PatternShape = listing_pattern(plugin.domain, hint.pattern)
        self._entity: type[Entity] = next(e for e in plugin.domain.entities if e.__shape__ is self._pattern.entity)
        self._title, self._domain = hint.title, plugin.domain.name

    def newest(self, caller: Caller) -> Iterator[ProjectChoice]:
        """Those that the pattern finds first, whatever state they are in."""
        if not self._pattern.entity.is_shown_to(caller.role):
            return
        asked = needed(self._pattern)
        for values in product(*(self._pattern.entity.fields[n].python for n in asked)):
            query = ask(self._pattern, dict(zip(asked, values, strict=True)))
            yield from (self._choice(caller, r) for r in caller.store.page(query, limit=_LOOKED_AT).records)

    def called(self, caller: Caller, projects: Sequence[str]) -> Iterator[ProjectChoice]:
        """Those of some projects that are records of the domain."""
        shape = self._pattern.entity
        if shape.key.fields != ("project_id",) or not shape.is_shown_to(caller.role):
            return
        refs = []
        for project in projects:
            try:
                refs.append(self._entity.__key__(project_id=from_key_text(shape.fields["project_id"], project)))
            except ValueError:
                continue  # of another domain, which names its projects otherwise
        yield from (self._choice(caller, r) for r in caller.store.get_many(refs) if r is not None)

    def _choice(self, caller: Caller, record: Any) -> ProjectChoice:
        shape = self._pattern.entity
        hidden = self._title in shape.hidden_from(caller.role)
        title = None if hidden else str(getattr(record, self._title) or "")[:_LONGEST_TITLE] or None
        return ProjectChoice(
            project=key_text(shape.fields["project_id"], record.project_id), title=title, domain=self._domain
        )


def add_projects(app: FastAPI, installed: Sequence[DomainPlugin]) -> None:
    """The route, of all domains that are served."""
    trails = [SystemAudit, *(i.domain.audit for i in installed if i.domain.audit is not None)]
    labels = list(dict.fromkeys(label(t) for t in trails))  # type: ignore[arg-type]
    listings = [_Listing(i) for i in installed if i.console is not None and i.console.projects is not None]

    def projects(
        request: Request,
        prefix: Annotated[str, MaxLen(200), Query(description="How the id or the title begins.")] = "",
        limit: Annotated[int, Ge(1), Le(200), Query(description="At most so many.")] = _USUAL,
    ) -> ProjectChoices:
        """The projects that this key may switch to with `X-Project`. Without that header these are all it may see."""
        caller = caller_of(request)
        if caller.project is not None:
            own = _merged((c for each in listings for c in each.called(caller, [caller.project])), [caller.project])
            return ProjectChoices(items=[c for c in own if _begins(c, prefix)], more=False)
        ids = _registered(caller, labels, prefix, limit + 1)
        titled = [c for each in listings for c in each.newest(caller) if _begins(c, prefix)]
        titled += [c for each in listings for c in each.called(caller, ids)]
        found = _merged(titled, ids)
        return ProjectChoices(items=found[:limit], more=len(found) > limit)

    app.router.add_api_route(
        "/api/projects",
        projects,
        methods=["GET"],
        route_class_override=AdmittedRoute,
        response_model=ProjectChoices,
        tags=["console"],
        operation_id="projects",
    )


def _registered(caller: Caller, trails: Sequence[str], prefix: str, limit: int) -> list[str]:
    """Projects whose ids begin so, as the register of audit trails knows them."""
    found: dict[str, None] = {}
    for trail in trails:
        begins = {"project_id": starting_with(prefix)} if prefix else {}
        query = AuditedProject.of_trail(trail=trail, **begins)
        # One more, as what belongs to no project is registered too.
        found |= dict.fromkeys(r.project_id for r in caller.store.page(query, limit=limit + 1).records)
    return [project for project in found if project != EVERYWHERE]


def _begins(choice: ProjectChoice, prefix: str) -> bool:
    said = (choice.project, choice.title or "")
    return any(text.casefold().startswith(prefix.casefold()) for text in said)


def _merged(titled: Iterable[ProjectChoice], ids: Iterable[str]) -> list[ProjectChoice]:
    """Each project once, with the first title that is known of it; those that have one come first."""
    found: dict[str, ProjectChoice] = {}
    for choice in (*titled, *(ProjectChoice(project=project) for project in ids)):
        if choice.project not in found or found[choice.project].title is None:
            found[choice.project] = choice
    return sorted(found.values(), key=lambda c: (c.title is None, (c.title or "").casefold(), c.project))
