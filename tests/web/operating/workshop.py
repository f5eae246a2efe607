"""A small domain with everything that people look after: reviews, doubts, dead letters, schedules, and a log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from penstock import (
    ANYTHING,
    Domain,
    Entity,
    FrozenClock,
    IndexKey,
    Move,
    Range,
    Store,
    Table,
    UtcSeconds,
    key,
    pattern,
)
from penstock.events.schedule import Period, Schedule
from penstock.plugin import ConsoleHints, DomainPlugin, NeedsYou, QuotaStanding
from penstock.runtime.operated_system import OperatedSystem
from penstock.work import (
    Pipeline,
    PipelineStep,
    Quarantine,
    Retry,
    StepContext,
    StepResult,
    TaskContext,
    Tasks,
    Terminal,
)
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers
from tests.web.service import Service

TABLE = Table("Workshop", partition="PK", sort="SK")
BY_STATUS = TABLE.index("by-status", partition="GSI1PK", sort="GSI1SK")
RUNS: list[Period] = []


class PotStatus(StrEnum):
    WET = "wet"
    CRACKED = "cracked"
    SOUND = "sound"


class Pot(Entity, table=TABLE, relation="pots"):
    """Something that may have a crack."""

    project_id: str
    name: str
    status: PotStatus = PotStatus.WET
    made_at: UtcSeconds

    @key("PROJECT#{project_id}", "POT#{name}")
    def at(self, *, project_id: str, name: str) -> None: ...

    in_status = IndexKey(BY_STATUS, "POTS#{status}", "{made_at}")

    @pattern(at)
    def of_project(self, *, project_id: str) -> None:
        """A project's pots."""

    @pattern(in_status)
    def by_status(self, *, status: PotStatus, made_at: Range[datetime] = ANYTHING) -> None:
        """Pots in a state, oldest first."""

    crack = Move(PotStatus.WET, to=PotStatus.CRACKED)
    mend = Move(PotStatus.CRACKED, to=PotStatus.SOUND)


TASKS = Tasks("workshop")


class Clay(BaseModel):
    name: str = "a"
    fails: str | None = None


@TASKS.task("bake", retry=Retry(attempts=1), concurrency=2)
def bake(work: TaskContext, input: Clay) -> dict[str, Any]:
    work.log.info("baking %s with token=swordfish-123", input.name)
    work.metrics["cost"] = 0.25
    work.progress(0.5, "half baked")
    if input.fails == "odd":
        raise Quarantine("somebody must look")
    if input.fails is not None:
        raise Terminal(input.fails)
    return {"baked": input.name}


def form(work: TaskContext, context: StepContext[Any, Any]) -> StepResult:
    work.log.warning("forming")
    work.metrics["cost"] = 1.5
    return StepResult(artifacts=[f"pots/{context.round}.glb"], metrics={"turns": 3})


def glaze(work: TaskContext, context: StepContext[Any, Any]) -> StepResult:
    return StepResult()


POTTERY = Pipeline(TASKS, "pottery", [PipelineStep("form", form, review=True), PipelineStep("glaze", glaze)])
TILES = Pipeline(TASKS, "tiles", [PipelineStep("press", glaze)])


def _schedules(context: DomainContext) -> Sequence[Schedule]:
    return [Schedule("workshop-sweeping", "0 3 * * *", RUNS.append, catch_up="one")]


def _quotas(context: DomainContext, project: str | None) -> Sequence[QuotaStanding]:
    return [QuotaStanding("workshop.clay", "of everybody", 95, 100, "kg of clay", "Order more.")]


WORKSHOP = DomainPlugin(
    Domain("workshop", Pot),
    tasks=TASKS,
    pipelines=[POTTERY, TILES],
    schedules=_schedules,
    console=ConsoleHints("Workshop"),
    needs_you=(NeedsYou(Pot.by_status(status=PotStatus.CRACKED), "Cracked pots", "Mend them."),),
    quotas=_quotas,
)


class Workshop(Service):
    """The service of the workshop, and workers that work when they are told to."""

    def __init__(self, folder: Path, *, store: Store | None = None, clock: FrozenClock | None = None) -> None:
        if store is not None:
            clock = store.clock  # type: ignore[assignment]
        super().__init__(folder, installed=(WORKSHOP,), store=store, clock=clock)
        self.system = OperatedSystem((WORKSHOP,), self.context)
        self.workers = ManualWorkers(self.store, self.system.tasks, context=self.context)

    def pot(self, name: str, project: str = "p1", *, cracked: bool = False) -> Pot:
        pot = Pot(project_id=project, name=name, made_at=self.store.clock.now())
        with self.store.change(by="tests") as change:
            change.create(pot.crack() if cracked else pot)
        return pot

    def job(self, project: str = "p1", pipeline: Pipeline[Any, Any] = POTTERY) -> str:
        with self.store.change(by="tests") as change:
            job = pipeline.start(change, {"wish": "round"}, project=project)
        return str(job.job_id)

    def task(self, project: str = "p1", **clay: Any) -> str:
        with self.store.change() as change:
            return bake.enqueue(change, Clay(**clay), project=project)

    def tick(self, **passed: float) -> None:
        self.clock.advance(timedelta(**passed))


def told(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()
