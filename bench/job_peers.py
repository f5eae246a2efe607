"""Libraries that run jobs on PostgreSQL, each the quickest way it offers for many small ones.

Each work announces so many jobs, then has the library's own worker run them, whose task does nothing but count.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Semaphore

import psycopg
import uvloop

from bench.measure import Work

_POLL = 0.02
_DBOS_THREADS = 4
"For workflows that do nothing, more threads only cost more."


def clip(number: int) -> str:
    """What a job is about."""
    return f"mv/projects/bench/scenes/scene_{number:03d}.mp4"


@contextmanager
def procrastinate(url: str) -> Iterator[Work]:
    """Deferred in one go; the worker fetches and finishes them one by one, until it has caught up."""
    from procrastinate import App, PsycopgConnector
    from procrastinate.types import JSONDict

    app = App(connector=PsycopgConnector(conninfo=url))
    ran = 0

    @app.task(name="edit")
    async def edit(clip: str) -> None:
        nonlocal ran
        ran += 1

    async def cycle(times: int) -> None:
        nonlocal ran
        ran = 0
        arguments: list[JSONDict] = [{"clip": clip(number)} for number in range(times)]
        await edit.batch_defer_async(*arguments)
        await app.run_worker_async(wait=False, listen_notify=False, install_signal_handlers=False)
        assert ran == times

    async def set_up() -> None:
        await app.open_async()
        await app.schema_manager.apply_schema_async()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(set_up())
        yield lambda times: runner.run(cycle(times))
        runner.run(app.close_async())


@contextmanager
def pgqueuer(url: str) -> Iterator[Work]:
    """With its own size of a batch."""
    with _pgqueuer(url, batch=10) as work:
        yield work


@contextmanager
def pgqueuer_in_hundreds(url: str) -> Iterator[Work]:
    """With batches as large as Penstock's."""
    with _pgqueuer(url, batch=100) as work:
        yield work


@contextmanager
def _pgqueuer(url: str, *, batch: int) -> Iterator[Work]:
    """Enqueued in one go over asyncpg; the manager takes and logs them in batches, until none is left."""
    import asyncpg
    from pgqueuer.db import AsyncpgDriver
    from pgqueuer.models import Job
    from pgqueuer.qm import QueueManager
    from pgqueuer.queries import Queries
    from pgqueuer.types import QueueExecutionMode

    class Manager(QueueManager):
        async def verify_structure(self) -> None:
            """Not in every round: a worker asks for its tables once, when it starts."""

    async def set_up() -> asyncpg.Connection:
        connection = await asyncpg.connect(url)
        await Queries(AsyncpgDriver(connection)).install()
        return connection

    async def cycle(times: int) -> None:
        ran = 0
        queries = Queries(AsyncpgDriver(connection))
        await queries.enqueue(["edit"] * times, [clip(number).encode() for number in range(times)], [0] * times)
        manager = Manager(queries)

        @manager.entrypoint("edit")
        async def edit(job: Job) -> None:
            nonlocal ran
            ran += 1

        await manager.run(batch_size=batch, mode=QueueExecutionMode.drain)
        assert ran == times

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        connection = runner.run(set_up())
        yield lambda times: runner.run(cycle(times))
        runner.run(connection.close())


@contextmanager
def dbos(url: str) -> Iterator[Work]:
    """Workflows without a step, enqueued one by one as there is no other way, on a queue without limits."""
    from dbos import DBOS

    DBOS(
        config={
            "name": "bench",
            "system_database_url": url,
            "max_executor_threads": _DBOS_THREADS,
            "log_level": "ERROR",
        }
    )
    ran = Semaphore(0)

    @DBOS.workflow()
    def edit(clip: str) -> None:
        ran.release()

    with psycopg.connect(url, autocommit=True) as connection:

        def work(times: int) -> None:
            for number in range(times):
                DBOS.enqueue_workflow("edits", edit, clip(number))
            for _ in range(times):
                ran.acquire()
            # Cheaper than asking each handle for its result.
            while connection.execute("select from dbos.workflow_status where status <> 'SUCCESS' limit 1").rowcount:
                time.sleep(_POLL)

        DBOS.launch()
        DBOS.register_queue("edits")
        yield work
        DBOS.destroy()
