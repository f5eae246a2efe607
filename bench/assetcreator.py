"""What the production line of assets costs beside making them: the wall time of a character, from the request to the
version in the library, and the time of it that was spent inside the makers.

One worker at a time, so that no two steps are made at once and the times add up; no gates, so that nobody decides.
SQLite and local files, as in ``penstock demo assetcreator``; all makers are the embedded ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from bench.contender import Limit
from bench.measure import FULL, Contest, Effort
from bench.topic import Contests
from penstock import open_store
from penstock.domains.assetcreator import DOMAIN, creative_projects, jobs
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.jobs import NewJob
from penstock.domains.assetcreator.model import Job
from penstock.domains.assetcreator.orders import STEPS, Prompt, Request
from penstock.domains.assetcreator.production import TASKS
from penstock.domains.assetcreator.stages import AssetType, Status
from penstock.kernel.store import Store
from penstock.runtime.composition import open_objects
from penstock.work import WORKING, Task, TaskAttempt, TaskStatus
from penstock.work.domain_context import DomainContext
from penstock.workers.inline import InlineWorkers

OVERHEAD, WHOLE = "assetcreator.overhead", "assetcreator.whole"
GROUPS = {
    OVERHEAD: "wall time beside rendering, a step",
    WHOLE: "wall time of a character, and of its generators alone",
}
BASELINE = CHAIN = "the chain"
GENERATORS = "its generators"
OWN = (CHAIN,)
LIMITS = (
    Limit(f"{OVERHEAD}: at most 30 ms a step beside rendering", OVERHEAD, CHAIN, None, 30_000),
    Limit(f"{WHOLE}: at most 1.25 of the time inside the generators", WHOLE, CHAIN, GENERATORS, 1.25),
)
_LONGEST = 300.0
_SMALL = 0.1
"Efforts below this size make a sprite: it has fewer steps, and they are quick."


@dataclass(frozen=True, slots=True)
class _Asset:
    """What one took, in seconds."""

    wall: float
    creative: float
    steps: int


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One asset after the other, on the same store; each counts for all groups."""
    kind = AssetType.CHARACTER_3D if effort.size >= _SMALL else AssetType.SPRITE_2D
    rounds = 5 if effort.rounds >= FULL.rounds else min(3, effort.rounds)
    with _working() as studio:
        if kind is AssetType.CHARACTER_3D:
            _made(studio, kind)
        made: list[_Asset] = []

        def measured(microseconds: Callable[[_Asset], float]) -> Callable[[], float]:
            number = count()

            def next_one() -> float:
                at = next(number)
                while len(made) <= at:
                    made.append(_made(studio, kind))
                return microseconds(made[at])

            return next_one

        contenders = {
            OVERHEAD: {CHAIN: measured(lambda asset: (asset.wall - asset.creative) / asset.steps * 1e6)},
            WHOLE: {
                CHAIN: measured(lambda asset: asset.wall * 1e6),
                GENERATORS: measured(lambda asset: asset.creative * 1e6),
            },
        }
        for group in groups:
            yield group, Contest(contenders[group], rounds)


@contextmanager
def _working() -> Iterator[AssetStudio]:
    with TemporaryDirectory() as folder, closing(open_store(f"sqlite:///{folder}/ac.db")) as store:
        store.ensure(DOMAIN, WORKING)
        context = DomainContext(store, open_objects(f"files:///{folder}/files"), lambda name: None)
        workers = InlineWorkers(store, [TASKS], threads=1, context=context)
        workers.start()
        try:
            yield AssetStudio.within(context)
        finally:
            workers.stop(grace=timedelta(seconds=30))


def _made(studio: AssetStudio, kind: AssetType) -> _Asset:
    """One asset in a project of its own."""
    project = creative_projects.begin_project(studio, "Bench", style_profile={}, gates=[], by="bench")
    request = Request(prompt=Prompt(core_concept="Space ranger robot with a red scarf"))
    known, began = _creative(studio.store), perf_counter()
    job = jobs.ask(studio, NewJob(project.project_id, kind, request), by="bench")
    _until_done(studio.store, job)
    wall = perf_counter() - began
    return _Asset(wall, _creative(studio.store) - known, len(STEPS[kind]))


def _until_done(store: Store, job: Job) -> None:
    for _ in range(int(_LONGEST / 0.002)):
        now = store.get(job.ref)
        if now.status is Status.DONE:
            return
        if now.status is Status.FAILED:
            raise RuntimeError(f"the asset was not made: {now.error}")
        sleep(0.002)
    raise RuntimeError("the asset was not made in time")


def _creative(store: Store) -> float:
    """The seconds that were spent inside the makers so far."""
    attempts = (
        attempt
        for task in store.find(Task.by_status(status=TaskStatus.DONE))
        for attempt in store.find(TaskAttempt.of_task(task_id=task.task_id))
    )
    return sum(float(attempt.metrics.get("creative_seconds", 0.0)) for attempt in attempts)
