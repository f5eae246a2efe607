"""Attempts in a domain's own records, made of what the pipeline knows: which step, who, when, and how it ended."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from penstock import Domain, Entity, FrozenClock, Move, Table, UtcMicros, key, open_store, pattern
from penstock.work import (
    WORKING,
    FanOut,
    JobRecords,
    Pipeline,
    PipelineStep,
    Retry,
    StepContext,
    StepResult,
    StepRun,
    TaskContext,
    Tasks,
)
from penstock.workers.manual import ManualWorkers

LOOM = Table("penstock_test_attempts", partition="PK", sort="SK")
SECOND = timedelta(seconds=1)


class Weave(StrEnum):
    WEAVING = "weaving"
    WOVEN = "woven"
    TORN = "torn"


class Rug(Entity, table=LOOM, relation="rugs"):
    rug_id: str
    state: Weave = Weave.WEAVING

    @key("RUG#{rug_id}", "RUG")
    def at(self, *, rug_id: str) -> None: ...

    finish = Move(Weave.WEAVING, to=Weave.WOVEN)
    fail = Move(Weave.WEAVING, to=Weave.TORN)


class Throw(Entity, table=LOOM, relation="throws"):
    """An attempt that has every field which a pipeline knows."""

    rug_id: str
    project_id: str
    name: str
    step_name: str
    step: str
    task: str
    round: int
    child: int | None = None
    attempt: int
    number: int
    worker: str
    outcome: str
    succeeded: bool
    code: str | None = None
    error: str | None = None
    error_class: str | None = None
    error_message: str | None = None
    ts: UtcMicros
    started_at: UtcMicros
    ended_at: UtcMicros
    duration_ms: int
    metrics: dict[str, Any]
    log_tail: list[str]

    @key("RUG#{rug_id}", "THROW#{ts}#{name}")
    def at(self, *, rug_id: str, ts: datetime, name: str) -> None: ...

    @pattern(at)
    def of_rug(self, *, rug_id: str) -> None:
        """The attempts at a rug, in the order in which they began."""


def test_an_attempt_is_made_of_what_the_pipeline_knows_of_it(tmp_path: Path, clock: FrozenClock) -> None:
    def spin(work: TaskContext, context: StepContext[Rug, StepRun]) -> StepResult:
        work.metrics["metres"] = 3
        work.log.info("spinning")
        clock.advance(SECOND)
        if work.task.attempts == 1:
            raise ValueError("the thread is torn")
        return StepResult()

    def weave(work: TaskContext, context: StepContext[Rug, StepRun], input: dict[str, Any]) -> StepResult:
        clock.advance(SECOND)
        return StepResult()

    tasks = Tasks("looms")
    steps: list[PipelineStep[Rug, StepRun]] = [
        PipelineStep("spin", spin, retry=Retry(attempts=2, first=SECOND)),
        PipelineStep("weave", FanOut(lambda work, context: [{}], weave)),
    ]
    rugs = Pipeline(tasks, "rugs", steps, records=JobRecords(Rug, StepRun, Throw))
    store = open_store(f"sqlite:///{tmp_path}/looms.db", clock=clock)
    store.ensure(WORKING, Domain("looms", Rug, Throw))
    with store.change(by="ann") as change:
        rugs.start(change, {}, job=Rug(rug_id="red"), project="p1")
    workers, began = ManualWorkers(store, [tasks]), clock.now()
    workers.drain()
    clock.advance(SECOND)
    workers.drain()
    found = [throw.model_dump() for throw in store.find(Throw.of_rug(rug_id="red"))]
    torn, *others = found
    assert torn == {
        "rug_id": "red",
        "project_id": "p1",
        "worker": "manual",
        "round": 1,
        "child": None,
        "succeeded": False,
        **dict.fromkeys(("name", "step_name", "step", "task"), "spin"),
        **dict.fromkeys(("attempt", "number"), 1),
        **dict.fromkeys(("code", "error_class"), "ValueError"),
        **dict.fromkeys(("error", "error_message"), "the thread is torn"),
        **dict.fromkeys(("ts", "started_at"), began),
        "ended_at": began + SECOND,
        "duration_ms": 1000,
        "outcome": "retryable",
        "metrics": {"metres": 3},
        "log_tail": ["INFO spinning"],
    }
    told = [(a["name"], a["step"], a["child"], a["number"], a["succeeded"], a["error"]) for a in others]
    assert told == [
        ("spin", "spin", None, 2, True, None),
        ("weave", "weave", None, 1, True, None),
        ("weave.0", "weave", 0, 1, True, None),
        ("weave.join", "weave", None, 1, True, None),
    ]
    store.close()
