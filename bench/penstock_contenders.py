"""Penstock itself, reading and writing the scenes that its peers do; and what it claims."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from bench import items, jobs, musicvideo, pages, pickup, speech, tasks, transitions
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
    for group in pages.GROUPS:
        claim = f"{group}: a page of 50 costs the same at 1,000 and at 300,000 records"
        yield Limit(claim, group, pages.LARGE, pages.SMALL, 1.25)
    yield from _transitions()
    yield from _jobs()
    yield from _tasks()
    claim = "speech.latency: 40 words through the API in at most 1.5 of the voice's own time"
    yield Limit(claim, "speech.latency", speech.ROUTE, speech.VOICE, 1.5)
    claim = "musicvideo.overhead: at most 50 ms a scene beside rendering"
    yield Limit(claim, "musicvideo.overhead", musicvideo.PIPELINE, None, 50_000)
    for target, driver in (("sqlite", "sqlite3"), ("postgresql", "psycopg")):
        for operation in ("get", "put", "query"):
            group = f"{target}.{operation}"
            yield Limit(f"{group}: at most twice the raw driver", group, NAME, driver, 2.0)
            yield Limit(f"{group}: at most half of SQLAlchemy's ORM", group, NAME, "SQLAlchemy ORM", 0.5)


def _transitions() -> Iterable[Limit]:
    for group, share in (("postgresql-transitions.rate", 0.8), ("sqlite-transitions.rate", 0.6)):
        claim = f"{group}: one transition with audit and outbox at {share} of the rate by hand, or more"
        yield Limit(claim, group, transitions.ONE, transitions.BY_HAND, 1 / share)
    group = "postgresql-transitions.rate"
    claim = f"{group}: {transitions.MANY} in one change at 8 times the single rate, or more"
    yield Limit(claim, group, transitions.FIFTY, transitions.ONE, transitions.MANY / 8)


def _jobs() -> Iterable[Limit]:
    for group in jobs.GROUPS:
        yield Limit(f"{group}: at most 0.5 ms of CPU for a job", group, jobs.PENSTOCK, None, 500)
        for peer in (jobs.PROCRASTINATE, jobs.DBOS):
            yield Limit(f"{group}: below {peer}", group, jobs.PENSTOCK, peer, 1.0)
    for group in pickup.GROUPS:
        yield Limit(f"{group}: an idle relay picks up within 5 ms, p50", group, pickup.RELAY, None, 5000)


def _tasks() -> Iterable[Limit]:
    for peer in (tasks.CELERY, tasks.PROCRASTINATE, tasks.DBOS):
        yield Limit(f"tasks.cycle: below {peer}", "tasks.cycle", tasks.PENSTOCK, peer, 1.0)
    for name in (tasks.PENSTOCK, tasks.ON_SQLITE):
        yield Limit(f"tasks.pickup: {name}: idle workers begin within 5 ms, p50", "tasks.pickup", name, None, 5000)
    claim = "tasks.pickup: through Celery within 20 ms, p50"
    yield Limit(claim, "tasks.pickup", tasks.BY_CELERY, None, 20_000)


LIMITS: Sequence[Limit] = tuple(_limits())
