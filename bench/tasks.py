"""A task's whole life in workers: announced, taken, run, finished, with its attempt; next to libraries for jobs.

The cost is the CPU of all who take part: the announcing process, the workers, the database or the broker. Each
contender has processes and servers of its own. Pick-up is the wall's time from the end of the announcement until the
job begins, while workers are idle.

Celery alone keeps no record of a job, before or after it; the others can tell what became of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from bench import family_cpu, server_cpu, task_contenders
from bench.apart import Apart
from bench.contender import Limit
from bench.measure import Clock, Contest, Effort, Work, contest
from bench.own_servers import OwnServers
from bench.task_contenders import BEGUN, Announce
from bench.topic import Contests
from tests.servers import Valkey

GROUPS = {"tasks.cycle": "CPU of all processes", "tasks.pickup": "wall time, p50"}
BASELINE = PENSTOCK = "penstock, PostgreSQL"
ON_SQLITE, BY_CELERY = "penstock, SQLite", "penstock, PostgreSQL, Celery"
CELERY, PROCRASTINATE, DBOS = "Celery alone, Valkey", "procrastinate", "DBOS"
OWN = (PENSTOCK, ON_SQLITE, BY_CELERY)
JOBS = 300
ANNOUNCEMENTS = 40
IDLE = (0.015, 0.035)
"Seconds between announcements: enough to go back to waiting, and never in step with one who looks now and then."

Opener = Callable[[str], AbstractContextManager[Announce]]


def _limits() -> Iterator[Limit]:
    for peer in (CELERY, PROCRASTINATE, DBOS):
        yield Limit(f"tasks.cycle: below {peer}", "tasks.cycle", PENSTOCK, peer, 1.0)
    for name in (PENSTOCK, ON_SQLITE):
        yield Limit(f"tasks.pickup: {name}: idle workers begin within 5 ms, p50", "tasks.pickup", name, None, 5000)
    for group, limit in (("tasks.cycle", 1.6), ("tasks.pickup", 2.5)):
        yield Limit(f"{group}: through Celery at most {limit} of Celery alone", group, BY_CELERY, CELERY, limit)


LIMITS = tuple(_limits())


@dataclass(frozen=True)
class Contender:
    """Who runs jobs, where, and the clocks of the servers it uses."""

    opener: Opener
    url: str
    servers: Sequence[Clock] = ()


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """All contenders, each in processes and on servers of its own."""
    with ExitStack() as stack:
        contenders = _contenders(stack, effort)
        aparts = {
            name: stack.enter_context(closing(Apart(partial(_until_begun, contender.opener), contender.url)))
            for name, contender in contenders.items()
        }
        if "tasks.pickup" in groups:
            yield "tasks.pickup", _pickups(aparts, effort)
        if "tasks.cycle" in groups:
            clocks = {
                name: _sum(family_cpu.clock(apart.process), *contenders[name].servers) for name, apart in aparts.items()
            }
            yield "tasks.cycle", _cycles(aparts, clocks, effort)


def _cycles(aparts: Mapping[str, Apart], clocks: Mapping[str, Clock], effort: Effort) -> Contest:
    works = {name: apart.work for name, apart in aparts.items()}
    times, count = effort.sized(JOBS, least=3), min(effort.rounds, max(3, effort.rounds // 5))
    return contest(works, effort, clocks=clocks, times=times, count=count)


def _pickups(aparts: Mapping[str, Apart], effort: Effort) -> Contest:
    """Jobs that are announced one after the other, each to workers that are idle, and how long each waits."""
    for apart in aparts.values():
        for _ in range(effort.sized(3)):  # the first ones wait until the worker has started
            apart.work(1)
    chance = Random(1)
    rounds = {name: partial(_wait, apart, chance) for name, apart in aparts.items()}
    return Contest(rounds, effort.sized(ANNOUNCEMENTS, least=2))


def _wait(apart: Apart, chance: Random) -> float:
    sleep(chance.uniform(*IDLE))
    before = apart.seconds()
    apart.work(1)
    return (apart.seconds() - before) * 1e6


def _contenders(stack: ExitStack, effort: Effort) -> dict[str, Contender]:
    servers = OwnServers(stack, effort)

    def on_postgres(opener: Opener) -> Contender:
        server = servers.another()
        return Contender(opener, server.create_database("work"), [server_cpu.clock(server)])

    def on_sqlite(opener: Opener) -> Contender:
        return Contender(opener, f"sqlite:///{stack.enter_context(TemporaryDirectory())}/work.db")

    def on_valkey(opener: Opener) -> Contender:
        broker = stack.enter_context(Valkey())
        return Contender(opener, broker.url, [family_cpu.clock(broker.pid)])

    def on_both(opener: Opener) -> Contender:
        store, broker = on_postgres(opener), on_valkey(opener)
        return Contender(opener, f"{store.url} {broker.url}", [*store.servers, *broker.servers])

    known = {
        PENSTOCK: (on_postgres, task_contenders.penstock),
        ON_SQLITE: (on_sqlite, task_contenders.penstock),
        BY_CELERY: (on_both, task_contenders.penstock_by_celery),
        CELERY: (on_valkey, task_contenders.celery),
        PROCRASTINATE: (on_postgres, task_contenders.procrastinate),
        DBOS: (on_postgres, task_contenders.dbos),
    }
    return {name: place(opener) for name, (place, opener) in known.items() if effort.wants(name)}


def _sum(*clocks: Clock) -> Clock:
    return lambda: sum(clock() for clock in clocks)


@contextmanager
def _until_begun(opener: Opener, url: str) -> Iterator[Work]:
    """Jobs announced and begun; it tells as its time how long the first has waited.

    What ends the last of them is counted with the first ones of the next round.
    """
    with opener(url) as announce:

        def work(times: int) -> float:
            announce(times)
            announced = perf_counter()
            waited = max(BEGUN.next() - announced, 1e-6)  # it may begin before the announcer hears of it
            for _ in range(times - 1):
                BEGUN.next()
            return waited

        yield work
