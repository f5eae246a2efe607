"""The raw drivers and SQLAlchemy's ORM on SQLite and PostgreSQL."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Json
from sqlalchemy import JSON, DateTime, Engine, String, Uuid, create_engine, event, select
from sqlalchemy.engine import make_url
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from bench import items
from bench.contender import Contender, Database

COLUMNS = tuple(items.WIRE)
"The first two are the key."
BASELINES = {"sqlite": "sqlite3", "postgresql": "psycopg"}
"The raw driver of each database."

Moment = DateTime(timezone=True).with_variant(String(), "sqlite")
Identity = Uuid().with_variant(String(), "sqlite")


class Base(DeclarativeBase):
    """The peers' tables."""


class Scene(Base):
    """The scene as SQLAlchemy declares it; ids and timestamps are text on SQLite."""

    __tablename__ = "scenes"

    project_id: Mapped[Any] = mapped_column(Identity, primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str]
    prompt: Mapped[str]
    negative_prompt: Mapped[str | None]
    duration: Mapped[float]
    reference_image_s3_keys: Mapped[list[str] | None] = mapped_column(JSON)
    video_clip_s3_key: Mapped[str | None]
    needs_lip_sync: Mapped[bool]
    lip_synced_video_clip_s3_key: Mapped[str | None]
    retry_count: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[Any] = mapped_column(Moment)
    updated_at: Mapped[Any] = mapped_column(Moment)


def contenders(database: Database) -> Iterator[Contender]:
    """The raw driver, which is the baseline, and the ORM."""
    yield RawSqlite(database) if database.name == "sqlite" else RawPostgres(database)
    yield Orm(database)


class Peer:
    """What all of them share: the database, filled once, and the drafts to put."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.engine = engine(database)
        self.project = value(database, "project_id", str(items.PROJECT))
        self.drafts = itertools.cycle([row(database, draft) for draft in items.drafts()])

    def setup(self) -> None:
        Base.metadata.create_all(self.engine)
        with Session(self.engine) as session:
            if session.get(Scene, (self.project, 1)) is None:
                scenes = (items.fields(n) for n in range(1, items.SCENES + 1))
                session.add_all(Scene(**row(self.database, scene)) for scene in scenes)
                session.commit()

    def plain(self, record: object) -> Mapping[str, object]:
        return cast("Mapping[str, object]", record)

    def written(self) -> Mapping[str, object]:
        # Through a connection of its own, so that only what was committed is seen.
        with Session(self.engine) as session:
            draft = session.get_one(Scene, (value(self.database, "project_id", str(items.DRAFTS)), 1))
            return {name: getattr(draft, name) for name in COLUMNS}

    def close(self) -> None:
        self.engine.dispose()


class RawSqlite(Peer):
    """The standard library's sqlite3, each row a dict, JSON and booleans converted."""

    name = BASELINES["sqlite"]

    def setup(self) -> None:
        super().setup()
        self.get_sql, self.put_sql, self.query_sql = statements(":{}")
        # Autocommit: one statement is one transaction.
        self.connection = sqlite3.connect(path(self.database), isolation_level=None)
        self.connection.execute("pragma synchronous = normal")
        self.connection.row_factory = as_dict

    def get(self) -> object:
        return self.connection.execute(self.get_sql, {"project_id": self.project, "sequence": 1}).fetchone()

    def put(self) -> None:
        draft = next(self.drafts)
        keys = json.dumps(draft["reference_image_s3_keys"])
        self.connection.execute(self.put_sql, {**draft, "reference_image_s3_keys": keys})

    def query(self) -> Sequence[object]:
        return self.connection.execute(self.query_sql, {"project_id": self.project}).fetchall()

    def close(self) -> None:
        self.connection.close()
        super().close()


class RawPostgres(Peer):
    """psycopg 3, each row a dict, statements prepared."""

    name = BASELINES["postgresql"]

    def setup(self) -> None:
        super().setup()
        self.get_sql, self.put_sql, self.query_sql = map(str.encode, statements("%({})s"))
        url = make_url(self.database.url).set(drivername="postgresql").render_as_string(hide_password=False)
        self.connection = psycopg.connect(url, autocommit=True, row_factory=dict_row)

    def get(self) -> object:
        key = {"project_id": self.project, "sequence": 1}
        return self.connection.execute(self.get_sql, key, prepare=True).fetchone()

    def put(self) -> None:
        draft = next(self.drafts)
        keys = Json(draft["reference_image_s3_keys"])
        self.connection.execute(self.put_sql, {**draft, "reference_image_s3_keys": keys}, prepare=True)

    def query(self) -> Sequence[object]:
        return self.connection.execute(self.query_sql, {"project_id": self.project}, prepare=True).fetchall()

    def close(self) -> None:
        self.connection.close()
        super().close()


class Orm(Peer):
    """One session, emptied before each operation: what a new one each time gives, but cheaper."""

    name = "SQLAlchemy ORM"

    def setup(self) -> None:
        super().setup()
        self.session = Session(self.engine)

    def get(self) -> object:
        self.session.expunge_all()
        return self.session.get(Scene, (self.project, 1))

    def put(self) -> None:
        self.session.expunge_all()
        self.session.merge(Scene(**next(self.drafts)))
        self.session.commit()

    def query(self) -> Sequence[object]:
        self.session.expunge_all()
        scenes = select(Scene).where(Scene.project_id == self.project).order_by(Scene.sequence)
        return self.session.execute(scenes).scalars().all()

    def plain(self, record: object) -> Mapping[str, object]:
        return {name: getattr(record, name) for name in COLUMNS}

    def close(self) -> None:
        self.session.close()
        super().close()


def statements(mark: str) -> tuple[str, str, str]:
    """Get, put and query, with the driver's form of a named parameter."""
    marks = [mark.format(name) for name in COLUMNS]
    of_project = f"select {', '.join(COLUMNS)} from scenes where project_id = {marks[0]}"
    changes = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[2:])
    return (
        f"{of_project} and sequence = {marks[1]}",
        f"insert into scenes ({', '.join(COLUMNS)}) values ({', '.join(marks)}) "
        f"on conflict (project_id, sequence) do update set {changes}",
        f"{of_project} order by sequence",
    )


def engine(database: Database) -> Engine:
    """SQLAlchemy's engine, SQLite in WAL mode."""
    made = create_engine(database.url)
    if database.name == "sqlite":
        event.listen(made, "connect", _tune)
    return made


def path(database: Database) -> str:
    """The file of a SQLite database."""
    return str(make_url(database.url).database)


def row(database: Database, scene: Mapping[str, object]) -> dict[str, Any]:
    """A scene with the values the database's columns take."""
    return {name: value(database, name, scene[name]) for name in COLUMNS}


def value(database: Database, column: str, plain: object) -> object:
    """One such value: PostgreSQL has types for ids and moments."""
    if database.name == "postgresql" and column == "project_id":
        return UUID(str(plain))
    if database.name == "postgresql" and column in ("created_at", "updated_at"):
        return datetime.fromisoformat(str(plain))
    return plain


def as_dict(_cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> dict[str, Any]:
    """A row factory: what the other contenders convert is converted here too."""
    record = dict(zip(COLUMNS, values, strict=True))
    record["reference_image_s3_keys"] = json.loads(record["reference_image_s3_keys"])
    record["needs_lip_sync"] = bool(record["needs_lip_sync"])
    return record


def _tune(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")
