"""What the running system tells others and writes down: all of it, once, in order, and never over something else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import psycopg
import pytest
from psycopg import sql

from penstock.domains.assetcreator import reviews
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.bookkeeping import Audit, Outbox
from penstock.domains.assetcreator.model import Job
from penstock.domains.assetcreator.stages import AssetType, Status
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.errors import Unavailable
from penstock.events.relay import Relay
from penstock.kernel.outbox import MessageStatus
from penstock.ports.sink import Envelope
from tests.beneath import beneath
from tests.domains.assetcreator.conftest import BEGUN
from tests.domains.assetcreator.lives import messages
from tests.domains.assetcreator.story import ANN, asked, finished, later, project, seen, waiting, work


class Bus:
    """An event bus that is away at first."""

    def __init__(self) -> None:
        self.there = False
        self.told: list[Envelope] = []

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        if not self.there:
            return [Unavailable("the bus is away") for _ in messages]
        self.told += messages
        return [None for _ in messages]


def test_what_became_true_is_told_in_order_and_marked(anywhere: AssetStudio) -> None:
    """AC-37, AC-38, F-AC-2: pending events are found, sent, marked, and forgotten a week later."""
    studio, bus = anywhere, Bus()
    job = asked(studio, project(studio, gates=[]), type=AssetType.SPRITE_2D)
    work(studio)
    pending = messages(studio, BEGUN)
    relay = Relay(studio.store, bus, owner="relay", outbox=Outbox)
    relay.drain()
    assert [m.event_id for m in messages(studio, BEGUN)] == [m.event_id for m in pending]

    bus.there = True
    later(studio, minutes=2)
    relay.drain()
    assert sorted(e.id for e in bus.told) == sorted(m.event_id for m in pending)
    assert [e.type for e in bus.told if e.aggregate == _about(pending, "StepStarted")] == [
        *("StepStarted", "StepCompleted") * 3,
        "job.done",
    ]
    assert {e.project for e in bus.told} == {job.project_id}
    assert messages(studio, BEGUN) == []
    kept = [studio.store.get(Outbox.at(event_id=m.event_id)) for m in pending]
    assert {m.status for m in kept} == {MessageStatus.PUBLISHED}
    later(studio, days=8)
    assert all(studio.store.lookup(m.ref) is None for m in kept)


def _about(pending: Sequence[Outbox], type: str) -> str:
    return next(m.aggregate for m in pending if m.type == type)


def test_lines_of_one_actor_at_one_moment_are_all_kept(anywhere: AssetStudio) -> None:
    """AC-47, F-AC-6: the clock stands still, and no line takes the place of another."""
    robots = project(anywhere)
    begun = {asked(anywhere, robots, f"robot {n}").job_id for n in range(5)}
    lines = list(anywhere.store.find(Audit.of_project(project_id=robots.project_id)))
    assert {line.actor for line in lines} == {ANN}
    assert len({line.ts for line in lines}) == len(lines) >= 6
    named = " ".join(line.model_dump_json() for line in lines)
    assert all(job_id in named for job_id in begun)


def test_whoever_pages_through_jobs_misses_none_that_only_was_touched(anywhere: AssetStudio) -> None:
    """F-AC-14: what says who is to decide is no move of the job, and does not put it behind the reader."""
    robots = project(anywhere)
    jobs = []
    for number in range(3):
        jobs.append(asked(anywhere, robots, f"robot {number}"))
        work(anywhere)
        later(anywhere, minutes=1)
    query = Job.by_status(status=Status.PAUSED)
    first = anywhere.store.page(query, limit=1)
    due = anywhere.store.clock.now() + timedelta(days=1)
    stood: list[datetime] = []
    for job in jobs:
        stood.append(seen(anywhere, job).job.updated_at)
        reviews.assign(anywhere, job.job_id, assignee="bob", due_at=due, by=ANN)
        assert waiting(anywhere, job).assignee == "bob"
    rest = anywhere.store.page(query, limit=10, cursor=first.cursor)
    assert [job.job_id for job in (*first.records, *rest.records)] == [job.job_id for job in jobs]
    assert [seen(anywhere, job).job.updated_at for job in jobs] == stood


@pytest.mark.parametrize("anywhere", ["postgres"], indirect=True)
def test_every_row_has_its_project_and_no_row_comes_twice(anywhere: AssetStudio) -> None:
    """F-AC-10: of what a job leaves in PostgreSQL; the database itself refuses a second version or claim."""
    robots = project(anywhere)
    finished(anywhere, asked(anywhere, robots))
    engine = beneath(anywhere.store)
    assert isinstance(engine, SqlEngine)
    assert isinstance(engine.connector, PostgresConnector)
    with psycopg.connect(engine.connector.url, autocommit=True) as raw:
        found = raw.execute("select schemaname from pg_tables where tablename = 'asset_versions'").fetchone()
        (schema,) = found or ("",)
        for table in ("jobs", "steps", "assets", "asset_versions", "outbox", "idempotency", "audit"):
            rows = raw.execute(
                sql.SQL("select count(*), count(*) filter (where project_id = {}) from {}").format(
                    robots.project_id, sql.Identifier(schema, table)
                )
            ).fetchone()
            assert rows is not None
            assert rows[0] == rows[1] > 0, table
            if table in ("asset_versions", "idempotency"):
                with pytest.raises(psycopg.errors.UniqueViolation):
                    raw.execute(_copied(raw, schema, table))


def _copied(raw: psycopg.Connection, schema: str, table: str) -> sql.Composed:
    """An insert of a row that stands, under an id of its own."""
    names = [
        name
        for (name,) in raw.execute(
            "select column_name from information_schema.columns where table_schema = %s and table_name = %s "
            "and column_name <> 'id' and is_generated = 'NEVER' and is_identity = 'NO'",
            [schema, table],
        ).fetchall()
    ]
    columns, place = sql.SQL(", ").join(map(sql.Identifier, names)), sql.Identifier(schema, table)
    return sql.SQL("insert into {} (id, {}) select gen_random_uuid(), {} from {} limit 1").format(
        place, columns, columns, place
    )
