"""A job's whole cycle on PostgreSQL: announced, claimed, completed. Penstock's kernel, next to libraries for jobs.

The cost is the CPU of both sides: of the client, and of all processes of its PostgreSQL. Each contender has a process
and a server of its own, as shipped, so that what one leaves behind or does while idle is not counted as another's.

Penstock announces each job with a message, leases it, and completes it under its lease, with a line in the audit and
another message. In batches of 100 its jobs are items of batch tasks (see `batched_jobs`). The others (see `job_peers`)
keep of a job what they keep for any user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from bench import server_cpu
from bench.apart import Apart, Opener
from bench.batched_jobs import penstock_in_hundreds
from bench.contender import Limit
from bench.job_peers import clip, dbos, pgqueuer, pgqueuer_in_hundreds, procrastinate
from bench.measure import Clock, Effort, Work, contest
from bench.own_servers import OwnServers
from bench.topic import Contests
from penstock import Domain, IndexKey, Move, Store, Table, key, open_store, pattern
from penstock.kernel.audit import SystemAudit
from penstock.kernel.lease import Lease, Leased, is_free, taken_by
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.operations.conditions import Compare, Missing
from penstock.operations.updates import Set
from penstock.ports.ids import sortable_id

GROUPS = {"postgresql-jobs.cycle": "client + server CPU"}
BASELINE = PENSTOCK = "penstock"
PROCRASTINATE, DBOS = "procrastinate", "DBOS"
BATCHES, PGQUEUER_BATCHES = "penstock, batches of 100", "pgqueuer, batches of 100"
OWN = (PENSTOCK, BATCHES)
JOBS = 294
"In one round. One that starts a worker for them spreads that over all."


def _limits() -> Iterator[Limit]:
    for group in GROUPS:
        yield Limit(f"{group}: at most 0.5 ms of CPU for a job", group, PENSTOCK, None, 500)
        for peer in (PROCRASTINATE, DBOS):
            yield Limit(f"{group}: below {peer}", group, PENSTOCK, peer, 1.0)
        yield Limit(f"{group}: {BATCHES} at most {PGQUEUER_BATCHES}", group, BATCHES, PGQUEUER_BATCHES, 1.0)


LIMITS = tuple(_limits())

TABLE = Table("BenchJobs", partition="PK", sort="SK")
BY_STATUS = TABLE.index("by-status", partition="GSI1PK", sort="GSI1SK")


class Status(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"


class Job(Leased, table=TABLE, relation="jobs"):
    """Some work on a clip."""

    job_id: UUID
    project_id: str
    status: Status = Status.PENDING
    clip: str

    @key("JOB#{job_id}", "JOB")
    def at(self, *, job_id: UUID) -> None: ...

    until_done = IndexKey(BY_STATUS, "JOB#{status}", "{job_id}", when={"status": (Status.PENDING, Status.RUNNING)})

    @pattern(until_done)
    def by_status(self, *, status: Status) -> None:
        """Jobs that wait or run, oldest first."""

    start = Move(Status.PENDING, to=Status.RUNNING)
    finish = Move(Status.RUNNING, to=Status.DONE)


DOMAIN = Domain("bench_jobs", Job)


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Every contender in a process and on a server of its own."""
    contenders: dict[str, Opener] = {
        PENSTOCK: penstock,
        PROCRASTINATE: procrastinate,
        "pgqueuer": pgqueuer,
        BATCHES: penstock_in_hundreds,
        PGQUEUER_BATCHES: pgqueuer_in_hundreds,
        DBOS: dbos,
    }
    works: dict[str, Work] = {}
    clocks: dict[str, Clock] = {}
    for group in groups:
        with ExitStack() as stack:
            servers = OwnServers(stack, effort)
            for name in filter(effort.wants, contenders):
                server = servers.another()
                apart = stack.enter_context(closing(Apart(contenders[name], server.create_database("jobs"))))
                works[name], clocks[name] = apart.work, _both(apart.seconds, server_cpu.clock(server))
            times, count = effort.sized(JOBS, least=3), min(effort.rounds, max(3, effort.rounds // 4))
            yield group, contest(works, effort, clocks=clocks, times=times, count=count)


def _both(client: Clock, server: Clock) -> Clock:
    return lambda: client() + server()


# Penstock's cycle

_ANNOUNCED = 49
"Each is a record and a message, and all have one line: 99 of the 100 writes that a commit may have."
_CLAIMED = 99
"Completed in three commits: each has a record, a message and a line, and 33 of them go into one."
_PERIOD = timedelta(minutes=5)


@contextmanager
def penstock(url: str) -> Iterator[Work]:
    """The kernel alone."""
    with closing(open_store(url)) as store:
        store.ensure(DOMAIN)

        def work(times: int) -> None:
            announce(store, times)
            done = 0
            while held := claim(store, owner="worker"):
                complete(store, held, by="worker")
                done += len(held)
            assert done == times

        work(3)
        _check(store)
        yield work


def _check(store: Store) -> None:
    """Refuse to measure unless three jobs have left what was promised."""
    messages = [m.type for m in store.find(SystemMessage.by_status(status=MessageStatus.PENDING))]
    assert messages == ["job.announced"] * 3 + ["job.done"] * 3
    lines = [line.action for line in store.find(SystemAudit.of_project(project_id="bench"))]
    assert lines == ["job.announced"] + ["job.done"] * 3
    assert not [*store.find(Job.by_status(status=Status.PENDING)), *store.find(Job.by_status(status=Status.RUNNING))]


def announce(store: Store, times: int) -> None:
    """Jobs with a message each, as many in a commit as it may have."""
    for start in range(0, times, _ANNOUNCED):
        with store.change(by="api") as change:
            for number in range(start, min(start + _ANNOUNCED, times)):
                job = Job(job_id=sortable_id(store.clock.now()), project_id="bench", clip=clip(number))
                change.create(job)
                change.emit("job.announced", job, clip=job.clip)


def claim(store: Store, *, owner: str) -> list[tuple[Job, Lease]]:
    """The oldest jobs that wait, now running and leased, each on the condition that it is as it was read."""
    jobs = store.page(Job.by_status(status=Status.PENDING), limit=_CLAIMED).records
    if not jobs:
        return []
    now = store.clock.now()
    until = now + _PERIOD
    waits = is_free(now) & Compare("status", "=", Status.PENDING)
    leased = taken_by(owner, until)
    held = []
    with store.change() as change:
        for job in jobs:
            epoch = job.lease_epoch
            unclaimed = Missing("lease_epoch") if epoch is None else Compare("lease_epoch", "=", epoch)
            job.start()
            change.patch(job.ref, Set("status", job.status), *leased, when=waits & unclaimed)
            held.append((job, Lease(job.ref, owner, (epoch or 0) + 1, until)))
    return held


def complete(store: Store, held: Iterable[tuple[Job, Lease]], *, by: str) -> None:
    """Each job in a change of its own, with its line and its message; one whose lease is lost holds up no other."""
    with store.batch() as batch:
        for job, lease in held:
            with batch.change(by=by, under=lease) as change:
                change.track(job)
                change.save(job.finish())
                change.emit("job.done", job)
