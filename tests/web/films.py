"""A small domain with everything a service must cope with: projects, a feed, moves with arguments, its own routes."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from fastapi import APIRouter, Request, UploadFile
from pydantic import BaseModel, Field

from penstock import ANYTHING, Count, Domain, Entity, IndexKey, Move, Range, Table, UtcSeconds, key, move, pattern
from penstock.auth.access import public, takes
from penstock.auth.caller import caller_of
from penstock.plugin import DomainPlugin
from penstock.work.domain_context import DomainContext

TABLE = Table("WebFilms", partition="PK", sort="SK", feed=True)
BY_STATUS = TABLE.index("by-status", partition="GSI1PK", sort="GSI1SK")
REELS = Table("WebReels", partition="PK", sort="SK")


class FilmStatus(StrEnum):
    DRAFT = "draft"
    FILMED = "filmed"
    RATED = "rated"


class Film(Entity, table=TABLE, relation="films"):
    """A film of a project."""

    project_id: str
    title: str
    status: FilmStatus = FilmStatus.DRAFT
    views: Count = 0
    tags: frozenset[str] | None = None
    notes: dict[str, Any] = Field(default_factory=dict)
    rated_by: str | None = None
    rated_at: UtcSeconds | None = None
    created_at: UtcSeconds = Field(frozen=True)

    @key("PROJECT#{project_id}", "FILM#{title}")
    def at(self, *, project_id: str, title: str) -> None: ...

    in_status = IndexKey(BY_STATUS, "STATUS#{status}", "{created_at}")

    @pattern(at)
    def of_project(self, *, project_id: str, title: Range[str] = ANYTHING) -> None:
        """A project's films by their titles."""

    @pattern(in_status)
    def by_status(self, *, status: FilmStatus, created_at: Range[datetime] = ANYTHING) -> None:
        """Films in a state, oldest first."""

    shoot = Move(FilmStatus.DRAFT, to=FilmStatus.FILMED)
    redo = Move(FilmStatus.FILMED, FilmStatus.RATED, to=FilmStatus.DRAFT)

    @move(FilmStatus.FILMED, to=FilmStatus.RATED)
    def rate(self, *, views: int, by: str, at: datetime) -> None:
        """Somebody has seen it."""
        self.views, self.rated_by, self.rated_at = views, by, at


class Reel(Entity, table=REELS, relation="reels"):
    """Something that belongs to no project."""

    name: str
    shouts: Count = 0

    @key("REEL#{name}", "REEL")
    def at(self, *, name: str) -> None: ...


DOMAIN = Domain("films", Film, Reel)


class Shout(BaseModel):
    name: str


def routes(context: DomainContext) -> APIRouter:
    router = APIRouter(prefix="/cinema")

    @router.get("/guests")
    @public(per_minute=3)
    def guests() -> dict[str, str]:
        """Anybody may look, three times a minute."""
        return {"hello": "guest"}

    @router.post("/shouts", status_code=201)
    def shout(request: Request, shout: Shout) -> dict[str, int]:
        """Happens again each time it is carried out."""
        with caller_of(request).change() as change:
            reel = change.store.lookup(Reel.at(name=shout.name)) or Reel(name=shout.name)
            reel.shouts += 1
            change.put(reel)
            return change.answer({"shouts": reel.shouts})

    @router.post("/posters", status_code=201)
    @takes(megabytes=1)
    def hang(poster: UploadFile) -> dict[str, int]:
        """Says how many bytes a picture has."""
        return {"size": poster.size or 0}

    @router.post("/links")
    def link(shout: Shout) -> dict[str, str]:
        """Opens by itself."""
        return {"url": context.objects.download_url(shout.name).url}

    @router.get("/crash")
    def crash() -> None:
        raise RuntimeError("the password is swordfish")

    return router


INSTALLED = DomainPlugin(DOMAIN, routes=routes)
