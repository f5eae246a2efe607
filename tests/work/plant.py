"""A domain with work of every sort, for tests: what it does is told it by the input."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from penstock import Count, Domain, Entity, Table, key, the
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.work import (
    Outcome,
    Pipeline,
    PipelineStep,
    Quarantine,
    Retry,
    RetryLater,
    StepContext,
    StepResult,
    TaskContext,
    Tasks,
    Terminal,
)

TABLE = Table("penstock_test_plant", partition="PK", sort="SK")


class Stamp(Entity, table=TABLE):
    """How often an effect was applied."""

    name: str
    count: Count = 0

    @key("STAMP#{name}", "STAMP")
    def at(self, *, name: str) -> None: ...


PLANT = Domain("plant", Stamp)
TASKS = Tasks("plant")


class Order(BaseModel):
    """What to do, and how it goes."""

    name: str = "a"
    fails: str | None = None
    until: int = 1000
    "Fails before this attempt."


class Melted(Exception):
    """Something that happens in this plant."""


class Rusty(Exception):
    """Something that somebody has to look at."""


ERRORS: dict[str, Exception] = {
    "error": ValueError("no luck"),
    "terminal": Terminal("never"),
    "quarantine": Quarantine("odd"),
    "later": RetryLater("not now", after=timedelta(hours=2)),
    "melted": Melted("too hot"),
    "rusty": Rusty("look at it"),
}


def go_wrong(order: Order, attempts: int) -> None:
    if order.fails is not None and attempts < order.until:
        raise ERRORS[order.fails]


def stamp(change: Change, name: str) -> None:
    """The effect: counted, so that it shows when it is applied twice."""
    change.patch(Stamp.at(name=name), the(Stamp.count).add(1))


def stamps(store: Store, *names: str) -> dict[str, int]:
    found = store.get_many([Stamp.at(name=n) for n in names])
    return {n: 0 if s is None else s.count for n, s in zip(names, found, strict=True)}


@TASKS.task(
    "press",
    retry=Retry(attempts=4, first=timedelta(seconds=10), longest=timedelta(seconds=30)),
    limit=timedelta(minutes=5),
    classes={Melted: Outcome.TERMINAL, Rusty: Outcome.QUARANTINE},
)
def press(work: TaskContext, input: Order) -> dict[str, Any] | None:
    """A task with an effect."""
    go_wrong(input, work.task.attempts)
    with work.finish({"pressed": input.name}) as change:
        stamp(change, input.name)
    return None


@press.failed
def note_failure(change: Change, input: Order, error: BaseException) -> None:
    stamp(change, f"failed-{input.name}")


@TASKS.task("roll", concurrency=2)
def roll(work: TaskContext, input: Order) -> dict[str, Any] | None:
    """A project may have two of these at once."""
    return None


@TASKS.task("look")
def look(work: TaskContext, input: Order) -> dict[str, Any] | None:
    """Nothing but a result."""
    return {"seen": input.name}


@TASKS.task("sleep")
def sleep(work: TaskContext, input: Order) -> dict[str, Any] | None:
    """It goes on until somebody ends it."""
    while True:
        time.sleep(0.05)


@TASKS.task("shelve", retry=Retry(attempts=1))
def shelve(work: TaskContext, input: Order) -> dict[str, Any] | None:
    """It keeps a file."""
    return {"bytes": work.objects.put(f"shelf/{work.task.task_id}", b"a file").size}


@TASKS.task("limp", limit=timedelta(seconds=0.5))
def limp(work: TaskContext, input: Order) -> dict[str, Any] | None:
    """It takes longer than it may, and does not notice."""
    time.sleep(3600)
    return None


def made(name: str, *, seconds: float = 0.0) -> Any:
    """A step that makes something, unless the job's input says that it fails."""

    def body(work: TaskContext, context: StepContext[Any, Any]) -> StepResult:
        given = context.input
        time.sleep(seconds)
        if given.get("fails") == name:
            go_wrong(Order(fails=given["how"], until=given.get("until", 1000)), work.task.attempts)
        return StepResult(
            artifacts=[f"{name}/{context.round}"],
            metrics={"seconds": 3},
            change=lambda change: stamp(change, f"{given['name']}-{name}") if "name" in given else None,
        )

    return body


CAST = Pipeline(
    TASKS,
    "cast",
    [PipelineStep("melt", made("melt")), PipelineStep("pour", made("pour")), PipelineStep("file", made("file"))],
)
SHOWN = Pipeline(
    TASKS,
    "shown",
    [
        PipelineStep("draw", made("draw")),
        PipelineStep("paint", made("paint"), review=True),
        PipelineStep("frame", made("frame")),
    ],
)

# For workers that are killed all the time: patient, and slow enough to be met at it.
PATIENT = Retry(attempts=1000, first=timedelta(seconds=0.05), longest=timedelta(seconds=0.2))
FORGED = ("heat", "hammer", "quench")
FORGE = Pipeline(TASKS, "forge", [PipelineStep(name, made(name, seconds=0.01), retry=PATIENT) for name in FORGED])
