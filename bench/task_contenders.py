"""Those who run tasks in workers of their own, each idle until something is announced.

Each is opened on a database or a broker, and yields the announcing of one job. The job tells when it was begun, on a
pipe that its process is given, by a clock that all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import struct
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

from pydantic import BaseModel

from penstock import Store, open_store
from penstock.work import WORKING, TaskContext, Tasks
from penstock.workers.inline import InlineWorkers
from penstock.workers.processes import end_with_parent

Announce = Callable[[int], None]
"Announces so many jobs."

THREADS = 4
CELERY_PROCESSES = 1
"Of each of the two that use Celery."
_POLL, _LONGEST = 0.02, 60.0
_MOMENT = struct.Struct("d")


class Begun:
    """Where jobs tell when they were begun."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def tell(self) -> None:
        os.write(self._write, _MOMENT.pack(time.perf_counter()))

    def next(self) -> float:
        """When the next job was begun, having waited for it."""
        readable, _, _ = select.select([self._read], [], [], _LONGEST)
        assert readable, "a job was not picked up"
        return float(_MOMENT.unpack(os.read(self._read, _MOMENT.size))[0])


BEGUN = Begun()


class Edit(BaseModel):
    number: int


TASKS = Tasks("bench")


@TASKS.task("edit")
def edit(work: TaskContext, input: Edit) -> None:
    BEGUN.tell()


@contextmanager
def penstock(url: str) -> Iterator[Announce]:
    """Inline workers; announced fifty in a commit, with a line in the audit."""
    with closing(open_store(url)) as store:
        store.ensure(WORKING)
        workers = InlineWorkers(store, [TASKS], threads=THREADS)
        workers.start()

        yield partial(_announce, store)
        workers.stop()


def _announce(store: Store, times: int) -> None:
    for start in range(0, times, 50):
        with store.change(by="bench") as change:
            for number in range(start, min(start + 50, times)):
                edit.enqueue(change, Edit(number=number), project=f"p{number % 3}")


@contextmanager
def penstock_by_celery(url: str) -> Iterator[Announce]:
    """The same through Celery: ``url`` is the store's and the broker's, with a space between them."""
    from penstock.workers.celery import CeleryWorkers

    at, broker = url.split()
    with closing(open_store(at)) as store:
        store.ensure(WORKING)
        store.close()
        celery = CeleryWorkers(store, [TASKS], broker, processes=CELERY_PROCESSES)
        with _process(celery.run_worker), _process(celery.run_dispatcher):
            yield partial(_announce, store)


@contextmanager
def celery(url: str) -> Iterator[Announce]:
    """Celery alone, which forgets what it did: no results, acknowledged late, one fetched at a time."""
    from celery import Celery

    app = Celery("bench", broker=url, set_as_current=False)
    app.conf.update(task_acks_late=True, task_ignore_result=True, worker_prefetch_multiplier=1)

    def edit(number: int) -> None:
        BEGUN.tell()

    app.task(edit, name="edit", shared=False)
    options = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=ERROR"]
    with _process(lambda: app.worker_main(["--quiet", "worker", f"--concurrency={CELERY_PROCESSES}", *options])):

        def announce(times: int) -> None:
            for number in range(times):
                app.send_task("edit", (number,))

        yield announce


@contextmanager
def procrastinate(url: str) -> Iterator[Announce]:
    """Deferred in one go, and a worker in a thread that is notified."""
    from procrastinate import App, PsycopgConnector, SyncPsycopgConnector
    from procrastinate.types import JSONDict

    app = App(connector=PsycopgConnector(conninfo=url))

    @app.task(name="edit")
    def edit(number: int) -> None:
        BEGUN.tell()

    started, stop = threading.Event(), threading.Event()

    async def work() -> None:
        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            started.set()
            worker = asyncio.create_task(
                app.run_worker_async(concurrency=THREADS, install_signal_handlers=False, delete_jobs="never")
            )
            while not stop.is_set():
                await asyncio.sleep(_POLL)
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

    thread = threading.Thread(target=asyncio.run, args=(work(),))
    thread.start()
    started.wait()
    with app.with_connector(SyncPsycopgConnector(conninfo=url)).open() as sync:

        def announce(times: int) -> None:
            arguments: list[JSONDict] = [{"number": number} for number in range(times)]
            sync.tasks["edit"].batch_defer(*arguments)

        yield announce
    stop.set()
    thread.join()


@contextmanager
def dbos(url: str) -> Iterator[Announce]:
    """Workflows without a step, on a queue without limits, which it looks at as often as it does by itself."""
    from dbos import DBOS

    settings: Any = {"name": "bench", "system_database_url": url, "max_executor_threads": THREADS, "log_level": "ERROR"}
    DBOS(config=settings)

    @DBOS.workflow()
    def edit(number: int) -> None:
        BEGUN.tell()

    DBOS.launch()
    DBOS.register_queue("edits")

    def announce(times: int) -> None:
        for number in range(times):
            DBOS.enqueue_workflow("edits", edit, number)

    yield announce
    DBOS.destroy()


@contextmanager
def _process(run: Callable[[], object]) -> Iterator[None]:
    """A process of its own, forked while there is no thread yet, for as long as the block lasts."""
    parent = os.getpid()
    process = os.fork()
    if not process:
        end_with_parent(parent)
        warnings.simplefilter("ignore")  # such as Celery's, of whose rights it has
        try:
            run()
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)
