"""A task's whole life in workers: announced, taken, run, finished, with its attempt; next to libraries for jobs.

The cost is the CPU of all who take part: the announcing process, the workers, the database or the broker. Each
contender has processes and servers of its own. Pick-up is the wall's time from the end of the announcement until the
job begins, while workers are idle.

Celery alone keeps no record of a job, before or after it; the others can tell what became of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from bench import family_cpu, server_cpu, task_contenders
from bench.apart import Apart
from bench.measure import Clock, Comparison, Effort, Work, compare
from bench.task_contenders import BEGUN, Announce
from tests.servers import Postgres, Valkey

GROUPS = {"tasks.cycle": "CPU of all processes", "tasks.pickup": "wall time, p50"}
BASELINE = PENSTOCK = "penstock, PostgreSQL"
ON_SQLITE, BY_CELERY = "penstock, SQLite", "penstock, PostgreSQL, Celery"
CELERY, PROCRASTINATE, DBOS = "Celery alone, Valkey", "procrastinate", "DBOS"
JOBS = 300
ANNOUNCEMENTS = 40
IDLE = (0.015, 0.035)
"Seconds between announcements: enough to go back to waiting, and never in step with one who looks now and then."

Opener = Callable[[str], AbstractContextManager[Announce]]


@dataclass(frozen=True)
class Contender:
    """Who runs jobs, where, and the clocks of the servers it uses."""

    opener: Opener
    url: str
    servers: Sequence[Clock] = ()


def measure(group: str, effort: Effort) -> Comparison:
    """All contenders, each in processes and on servers of its own."""
    with ExitStack() as stack:
        contenders = _contenders(stack)
        if group == "tasks.pickup":
            return Comparison({name: _pickups(contender) for name, contender in contenders.items()})
        works: dict[str, Work] = {}
        clocks: dict[str, Clock] = {}
        for name, contender in contenders.items():
            apart = stack.enter_context(closing(Apart(partial(_until_begun, contender.opener), contender.url)))
            works[name] = apart.work
            clocks[name] = _sum(family_cpu.clock(apart.process), *contender.servers)
        return compare(works, Effort(max(3, effort.rounds // 5), effort.seconds), clocks=clocks, times=JOBS)


def _contenders(stack: ExitStack) -> dict[str, Contender]:
    def postgres() -> Postgres:
        return stack.enter_context(Postgres(as_shipped=True))

    def valkey() -> Valkey:
        return stack.enter_context(Valkey())

    def on_postgres(opener: Opener) -> Contender:
        server = postgres()
        return Contender(opener, server.create_database("work"), [server_cpu.clock(server)])

    file = f"sqlite:///{stack.enter_context(TemporaryDirectory())}/work.db"
    brokers, server = [valkey(), valkey()], postgres()
    of_brokers = [family_cpu.clock(broker.pid) for broker in brokers]
    both = f"{server.create_database('work')} {brokers[0].url}"
    return {
        PENSTOCK: on_postgres(task_contenders.penstock),
        ON_SQLITE: Contender(task_contenders.penstock, file),
        BY_CELERY: Contender(task_contenders.penstock_by_celery, both, [server_cpu.clock(server), of_brokers[0]]),
        CELERY: Contender(task_contenders.celery, brokers[1].url, [of_brokers[1]]),
        PROCRASTINATE: on_postgres(task_contenders.procrastinate),
        DBOS: on_postgres(task_contenders.dbos),
    }


def _sum(*clocks: Clock) -> Clock:
    return lambda: sum(clock() for clock in clocks)


@contextmanager
def _until_begun(opener: Opener, url: str) -> Iterator[Work]:
    """Jobs announced and begun. What ends the last of them is counted with the first ones of the next round."""
    with opener(url) as announce:

        def work(times: int) -> None:
            announce(times)
            for _ in range(times):
                BEGUN.next()

        yield work


def _pickups(contender: Contender) -> list[float]:
    """Microseconds that jobs waited, one after the other, for a worker that was idle."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        return apart.submit(_waits, contender.opener, contender.url).result()


def _waits(opener: Opener, url: str) -> list[float]:
    chance = Random(1)
    waits = []
    with opener(url) as announce:
        for _ in range(ANNOUNCEMENTS + 3):
            sleep(chance.uniform(*IDLE))
            announce(1)
            announced = perf_counter()
            waits.append(max(BEGUN.next() - announced, 1e-6) * 1e6)  # it may begin before the announcer hears of it
    return waits[3:]  # the first ones wait until the worker has started
