"""`python -m bench.handwritten PORT FILE`: the routes of a paper, written by hand with FastAPI and SQLAlchemy.

As somebody writes them who knows both well: typed bodies, keys that are kept as hashes, roles, problem documents,
ETags, pages by a cursor, and a line of the audit trail in the transaction of what it tells of. A request opens one
session, and answers are encoded once.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import sys
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import JSON, DateTime, Dialect, ForeignKey, TypeDecorator, create_engine, event, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

JSON_TYPE, PROBLEM = "application/json", "application/problem+json"
KEY = "X-API-Key"
_WHEN = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


class Role(IntEnum):
    VIEWER, EDITOR, ADMIN = 1, 2, 3


class Utc(TypeDecorator[datetime]):
    """A moment, which SQLite keeps without its zone."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    type_annotation_map = {dict[str, Any]: JSON, datetime: Utc}  # noqa: RUF012 - SQLAlchemy reads it so


class Key(Base):
    __tablename__ = "api_keys"
    key_id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    role: Mapped[int]
    hash: Mapped[str]
    revoked_at: Mapped[datetime | None]


class Paper(Base):
    __tablename__ = "papers"
    nova_id: Mapped[UUID] = mapped_column(primary_key=True)
    reference_id: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str | None]
    date: Mapped[str | None]
    details: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class AuditLine(Base):
    __tablename__ = "audit"
    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    actor: Mapped[str] = mapped_column(ForeignKey("api_keys.key_id"))
    action: Mapped[str]
    details: Mapped[dict[str, Any]]


def _dated(text: str) -> str:
    if not _WHEN.fullmatch(text):
        raise ValueError("a date is YYYY, YYYY-MM or YYYY-MM-DD")
    return text


class PaperView(BaseModel):
    """A paper as it is shown."""

    model_config = ConfigDict(from_attributes=True)

    nova_id: UUID
    reference_id: str
    title: str | None = None
    date: Annotated[str, AfterValidator(_dated)] | None = None
    details: dict[str, Any] = Field(default_factory=dict)
    created_at: datetime
    updated_at: datetime


class NewPaper(PaperView):
    """A paper as it is sent."""

    model_config = ConfigDict(extra="forbid")

    reference_id: Annotated[str, Field(min_length=1, max_length=1000)]
    created_at: AwareDatetime
    updated_at: AwareDatetime


class Page(BaseModel):
    """Some papers, and where the next ones begin."""

    items: list[PaperView]
    next: str | None


def open_database(file: str) -> sessionmaker[Session]:
    """Tables, in the mode of SQLite that services use."""
    engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": 10})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")

    Base.metadata.create_all(engine)
    return sessionmaker(engine, expire_on_commit=False)


def make_key(sessions: sessionmaker[Session]) -> str:
    """A key of an administrator; its hash is kept."""
    token = f"pk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"
    with sessions.begin() as session:
        session.add(Key(key_id=token.split("_")[1], name="bench", role=Role.ADMIN, hash=_hash(token)))
    return token


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def session(request: Request) -> Iterator[Session]:
    """Open for as long as the request lasts."""
    with request.app.state.sessions() as opened:
        yield opened


Opened = Annotated[Session, Depends(session)]


def caller(opened: Opened, token: Annotated[str, Header(alias=KEY)] = "") -> Key:
    """Whose key it is."""
    parts = token.split("_", 2)
    found = opened.get(Key, parts[1]) if len(parts) == 3 else None
    expected = found.hash if found is not None else _hash("")
    if not hmac.compare_digest(expected, _hash(token)) or found is None or found.revoked_at is not None:
        raise HTTPException(401, "the API key is unknown or was revoked")
    return found


def at_least(role: Role) -> Callable[[Key], Awaitable[Key]]:
    """Whoever has the role; it waits for nothing, so it needs no thread."""

    async def check(known: Annotated[Key, Depends(caller)]) -> Key:
        if known.role < role:
            raise HTTPException(403, f"this takes the role {role.name.lower()}")
        return known

    return check


Viewer = Annotated[Key, Depends(at_least(Role.VIEWER))]
Editor = Annotated[Key, Depends(at_least(Role.EDITOR))]

routes = APIRouter()


@routes.get("/references/{nova_id}/{reference_id}", response_model=PaperView)
def get(nova_id: UUID, reference_id: str, request: Request, opened: Opened, _: Viewer) -> Response:
    """A paper by its key."""
    found = opened.get(Paper, (nova_id, reference_id))
    if found is None:
        raise HTTPException(404, f"there is no paper {reference_id}")
    body, etag = shown(found)
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers={"ETag": etag})
    return Response(body, media_type=JSON_TYPE, headers={"ETag": etag, "Cache-Control": "private, no-cache"})


@routes.get("/references", response_model=Page)
def of_nova(
    nova_id: UUID,
    opened: Opened,
    _: Viewer,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[str | None, Query(max_length=4096)] = None,
) -> Response:
    """The papers about a nova."""
    asked = select(Paper).where(Paper.nova_id == nova_id).order_by(Paper.reference_id).limit(limit + 1)
    if cursor is not None:
        asked = asked.where(Paper.reference_id > base64.urlsafe_b64decode(cursor).decode())
    found = opened.scalars(asked).all()
    after = found[limit - 1].reference_id if len(found) > limit else None
    page = Page(
        items=[PaperView.model_validate(paper) for paper in found[:limit]],
        next=None if after is None else base64.urlsafe_b64encode(after.encode()).decode(),
    )
    return Response(page.model_dump_json(), media_type=JSON_TYPE, headers={"Cache-Control": "private, no-cache"})


@routes.post("/references", status_code=201, response_model=PaperView)
def create(sent: NewPaper, opened: Opened, by: Editor) -> Response:
    """A paper that is not there yet, and a line about it."""
    paper = Paper(**sent.model_dump())
    told = {"nova_id": str(sent.nova_id), "reference_id": sent.reference_id}
    opened.add_all([paper, AuditLine(at=datetime.now(UTC), actor=by.key_id, action="create paper", details=told)])
    try:
        opened.commit()
    except IntegrityError:
        raise HTTPException(409, f"there is a paper {sent.reference_id} already") from None
    body, etag = shown(paper)
    location = f"/references/{sent.nova_id}/{sent.reference_id}"
    return Response(body, 201, media_type=JSON_TYPE, headers={"ETag": etag, "Location": location})


async def problem(_: Request, error: Exception) -> Response:
    """What is refused, as a problem document."""
    assert isinstance(error, HTTPException)
    told = {"title": error.detail, "status": error.status_code}
    return JSONResponse(told, error.status_code, media_type=PROBLEM)


def build(sessions: sessionmaker[Session]) -> FastAPI:
    """The whole service."""
    app = FastAPI(title="Papers", exception_handlers={HTTPException: problem})
    app.state.sessions = sessions
    app.include_router(routes)
    return app


def shown(paper: Paper) -> tuple[bytes, str]:
    """A paper as it is sent, and its ETag."""
    body = PaperView.model_validate(paper).model_dump_json().encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def main(port: int, file: str) -> None:
    sessions = open_database(file)
    Path(file).with_name("key").write_text(json.dumps({KEY: make_key(sessions)}))
    uvicorn.run(build(sessions), host="127.0.0.1", port=port)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
