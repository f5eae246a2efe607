"""Jobs of three steps whose workers are killed all the time, and whose broker forgets everything."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from penstock import Store, open_store
from penstock.work import JobStatus, Outcome, PipelineJob, StepRun, Task, TaskAttempt, TaskStatus
from penstock.work.working import WORKING
from tests.conftest import chosen_engines
from tests.servers import Dynoxide, Postgres, Valkey, require
from tests.work.nursery import Nursery, children, kill, lives
from tests.work.plant import FORGE, FORGED, PLANT, Stamp

ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]
ENDED = frozenset({JobStatus.DONE, JobStatus.FAILED})


class Crew(Protocol):
    """Some workers, one of whom can be killed and is replaced."""

    pause: float
    "Seconds between strikes: enough to start working in."

    def strike(self) -> None: ...

    def tend(self) -> None:
        """Start again what has ended by itself, as whoever keeps processes running does."""
        ...

    def forget(self) -> None: ...


@dataclass
class Inline:
    """Processes with threads."""

    nursery: Nursery
    chance: random.Random
    pause: float = 0.4

    def __post_init__(self) -> None:
        self._workers = [self.nursery.start("inline") for _ in range(2)]

    def strike(self) -> None:
        struck = self.chance.randrange(len(self._workers))
        kill(self._workers[struck])
        self._workers[struck] = self.nursery.start("inline")

    def tend(self) -> None:
        """These never end by themselves."""

    def forget(self) -> None:
        """There is nothing to forget."""


@dataclass
class ByCelery:
    """A Celery worker with its pool, and a dispatcher."""

    nursery: Nursery
    chance: random.Random
    broker: Valkey
    pause: float = 1.0

    def __post_init__(self) -> None:
        self._dispatcher, self._worker = self.nursery.start("dispatcher"), self.nursery.start("worker")

    def strike(self) -> None:
        match self.chance.choices(["pool", "worker", "dispatcher"], weights=[8, 1, 1])[0]:
            case "pool":
                if pool := children(self._worker):
                    kill(self.chance.choice(pool))
            case "worker":
                kill(self._worker)
                self._worker = self.nursery.start("worker")
            case "dispatcher":
                kill(self._dispatcher)
                self._dispatcher = self.nursery.start("dispatcher")

    def tend(self) -> None:
        # Celery gives up when a process of its pool dies while it starts.
        if not lives(self._worker):
            self._worker = self.nursery.start("worker")

    def forget(self) -> None:
        self.broker.flush()


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty store that other processes can open."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path}/forge.db"
        elif request.param == "postgres":
            url = stack.enter_context(require(Postgres())).url
        else:
            url = f"dynamodb://us-east-1?endpoint={stack.enter_context(require(Dynoxide())).url}"
        yield url


@pytest.fixture
def store(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    store = open_store(url)
    store.ensure(WORKING, PLANT)
    yield store
    store.close()


@pytest.fixture(params=["inline", "celery"])
def hire(request: pytest.FixtureRequest, url: str, tmp_path: Path) -> Iterator[Callable[[], Crew]]:
    """Workers of one sort or the other."""
    chance = random.Random(1)
    log = tmp_path / "workers.log"
    with ExitStack() as stack:
        if request.param == "inline":
            yield lambda: Inline(stack.enter_context(Nursery(url, log=log)), chance)
        else:
            broker = stack.enter_context(require(Valkey()))
            yield lambda: ByCelery(stack.enter_context(Nursery(url, broker=broker.url, log=log)), chance, broker)


def test_jobs_end_right_though_workers_are_killed_and_the_broker_forgets(
    store: Store, hire: Callable[[], Crew]
) -> None:
    survive(store, hire, jobs=24, strikes=5)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_500_jobs_end_right_though_workers_are_killed_throughout_and_the_broker_forgets(
    store: Store, hire: Callable[[], Crew]
) -> None:
    survive(store, hire, jobs=500, strikes=10_000)


def survive(store: Store, hire: Callable[[], Crew], *, jobs: int, strikes: int) -> None:
    started = start(store, jobs)
    crew = hire()
    forgot = struck = 0
    end, next_strike = time.monotonic() + 90 + jobs * 3, 0.0
    while (left := unfinished(store)) > 0:
        assert time.monotonic() < end, f"{left} of {jobs} jobs have not ended after {struck} strikes"
        if left <= jobs / 2 and not forgot:
            crew.forget()
            forgot += 1
        crew.tend()
        if struck < strikes and time.monotonic() >= next_strike:
            crew.strike()
            struck += 1
            next_strike = time.monotonic() + crew.pause
        time.sleep(0.1)
    assert forgot, "the broker was to forget in the middle"
    check(store, started)
    print(f"{jobs} jobs survived {struck} strikes")


def start(store: Store, jobs: int) -> dict[str, int]:
    """So many jobs; of every third the last step fails for good, of every other third at first."""
    store.put_many(Stamp(name=f"{number}-{step}") for number in range(jobs) for step in FORGED)
    how: tuple[dict[str, Any], ...] = (
        {"fails": "quench", "how": "terminal"},
        {"fails": "quench", "how": "error", "until": 3},
        {},
    )
    started = {}
    for first in range(0, jobs, 20):
        with store.change(by="test") as change:
            for number in range(first, min(first + 20, jobs)):
                job = FORGE.start(change, {"name": str(number), **how[number % 3]}, project=f"p{number % 4}")
                started[job.job_id] = number
    return started


def unfinished(store: Store) -> int:
    return sum(1 for _ in store.find(PipelineJob.by_status(status=JobStatus.RUNNING)))


def check(store: Store, started: dict[str, int]) -> None:
    """Every job in the right state, each effect once, and attempts that add up."""
    tasks: dict[str, list[Task]] = defaultdict(list)
    for status in TaskStatus:
        for task in store.find(Task.by_status(status=status)):
            tasks[task.input["job_id"]].append(task)
    for job_id, number in started.items():
        fails = number % 3 == 0
        job = store.get(PipelineJob.at(job_id=job_id))
        assert (job.status, job.position) == (JobStatus.FAILED if fails else JobStatus.DONE, 2), job
        stamps = store.get_many([Stamp.at(name=f"{number}-{step}") for step in FORGED])
        assert [s and s.count for s in stamps] == [1, 1, 0 if fails else 1], f"job {number}: an effect twice, or none"
        runs = list(store.find(StepRun.of_job(job_id=job_id)))
        assert [r.name for r in runs] == list(FORGED)
        assert [r.status.value for r in runs] == ["done", "done", "failed" if fails else "done"]
        assert [r.artifacts for r in runs[:2]] == [["heat/1"], ["hammer/1"]]
        assert sorted(t.name for t in tasks[job_id]) == sorted(f"plant.forge.{step}" for step in FORGED)
        for task in tasks[job_id]:
            check_attempts(store, task, number)


def check_attempts(store: Store, task: Task, number: int) -> None:
    last_fails = task.name.endswith(FORGED[-1]) and number % 3 == 0
    assert task.status is (TaskStatus.FAILED if last_fails else TaskStatus.DONE)
    attempts = list(store.find(TaskAttempt.of_task(task_id=task.task_id)))
    assert [a.epoch for a in attempts] == list(range(1, (task.lease_epoch or 0) + 1)), "one record of each lease"
    counted = [a.outcome for a in attempts if a.outcome is not Outcome.HANDED_BACK]
    assert len(counted) == task.attempts
    assert counted[-1] is (Outcome.TERMINAL if last_fails else Outcome.DONE)
    assert set(counted[:-1]) <= {Outcome.LOST, Outcome.RETRYABLE}
    if task.name.endswith(FORGED[-1]) and number % 3 == 1:
        assert task.attempts >= 3
