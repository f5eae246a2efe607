"""Penstock itself, reading and writing the scenes that its peers do; and what it claims of that."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from bench import items
from bench.canned_server import last_put
from bench.contender import Canned, Contender, Database, Limit, Target
from bench.scene import Scene
from penstock import Store
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS

NAME = "penstock"


def contenders(target: Target) -> Iterable[Contender]:
    """One contender on every target."""
    yield Penstock(target)


class Penstock:
    """The store, as any user calls it."""

    name = NAME

    def __init__(self, target: Target) -> None:
        self.target = target

    def setup(self) -> None:
        self.store = Store(_engine(self.target), own=SYSTEM_RECORDS)
        if isinstance(self.target, Database):
            self.store.engine.ensure([Scene.__shape__])
            self.store.put_many(_scene(items.fields(n)) for n in range(1, items.SCENES + 1))
        self.drafts = itertools.cycle([_scene(draft) for draft in items.drafts()])

    def get(self) -> object:
        return self.store.get(Scene.at(project_id=items.PROJECT, sequence=1))

    def put(self) -> None:
        self.store.put(next(self.drafts))

    def query(self) -> Sequence[object]:
        return list(self.store.find(Scene.of_project(project_id=items.PROJECT)))

    def plain(self, record: Any) -> Mapping[str, object]:
        return {name: getattr(record, name) for name in items.WIRE}

    def written(self) -> Mapping[str, object]:
        if isinstance(self.target, Canned):
            return last_put(self.target)
        return self.plain(self.store.get(Scene.at(project_id=items.DRAFTS, sequence=1)))

    def close(self) -> None:
        self.store.close()


def _scene(fields: Mapping[str, Any]) -> Scene:
    moments = {n: datetime.fromisoformat(fields[n]).astimezone(UTC) for n in ("created_at", "updated_at")}
    return Scene(**{**fields, **moments, "project_id": UUID(fields["project_id"])})


def _engine(target: Target) -> Engine:
    if isinstance(target, Canned):
        from penstock.engines.dynamodb import DynamoEngine

        return DynamoEngine(
            endpoint=target.endpoint,
            region=target.region,
            access_key=target.access_key,
            secret_key=target.secret_key,
        )
    from penstock.engines.sql.engine import SqlEngine

    if target.name == "sqlite":
        from penstock.engines.sql.sqlite import SqliteConnector

        return SqlEngine(SqliteConnector(str(target.directory / "penstock.sqlite")))
    from penstock.engines.sql.postgres import PostgresConnector

    return SqlEngine(PostgresConnector(target.url.replace("postgresql+psycopg:", "postgresql:")))


def _limits() -> Iterable[Limit]:
    for target in ("dynamodb-http", "dynamodb-tls"):
        for operation in ("get", "put", "query"):
            group = f"{target}.{operation}"
            yield Limit(f"{group}: at most 0.15 of boto3", group, NAME, "boto3 client", 0.15)
            for peer in ("PynamoDB", "aiodynamo + aiohttp", "pydynox dict", "pydynox model"):
                yield Limit(f"{group}: below {peer}", group, NAME, peer, 1.0)
    for target, driver in (("sqlite", "sqlite3"), ("postgresql", "psycopg")):
        for operation in ("get", "put", "query"):
            group = f"{target}.{operation}"
            yield Limit(f"{group}: at most twice the raw driver", group, NAME, driver, 2.0)
            yield Limit(f"{group}: at most half of SQLAlchemy's ORM", group, NAME, "SQLAlchemy ORM", 0.5)


LIMITS: Sequence[Limit] = tuple(_limits())
