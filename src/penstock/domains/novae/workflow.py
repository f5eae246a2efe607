"""Workflows: how each of the catalogue's seven is declared, and what all of them have in common.

Every workflow is a pipeline on the documents' own records, `JobRun` and `Attempt`. Declared are its input, which also
says what its idempotency key is made of, and its steps:

    class Refresh(NovaInput):
        "What refresh_references is asked."

    def fetch(work: TaskContext, context: NovaStep) -> StepResult:
        nova_id = nova_at_work(work, context)                 # follows a merge
        if not found:
            raise Doubtful("AMBIGUOUS_NAME", "two papers claim it", details={…})   # FinalizeJobRunQuarantined
        return StepResult(metrics={"found": 3})               # kept with the step: context.made("fetch").metrics

    def link(work: TaskContext, context: NovaStep) -> StepResult:
        return StepResult(outcome="REFRESHED", change=write)  # the outcome is stored as it is said here

    REFRESH = nova_workflow("refresh_references", Refresh, [step("fetch", fetch), step("link", link)], window=HOUR)

It is begun, by whoever asks or by another run, with `runs.begin`. ValidateInput, EnsureCorrelationId, BeginJobRun and
AcquireIdempotencyLock are that one commit: the second request finds the first one's run. Each Finalize is the commit in
which the last step ends:

| a step | the run |
|---|---|
| returns its last `StepResult(outcome=…)` | SUCCEEDED, with that outcome |
| raises `Doubtful(code, …)`, or `Quarantine` | QUARANTINED, with that code; a `Doubt` waits if it has `asks=` |
| raises what is RETRYABLE (any error that is not declared otherwise) | goes on after 2, 10 s; FAILED after the third |
| raises `Terminal`, `InvalidValue`, or takes too long | FAILED, with the error's code |

Each invocation leaves an `Attempt`. The parts of a `FanOut` are wrapped in `part`, so that what is doubtful about one
of them is told to the join. Steps may be run again after a worker has died: what they write is the same then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.domains.novae.lookup_records import Doubt
from penstock.domains.novae.nova_table import normalize_name
from penstock.domains.novae.run_bookkeeping import NAME_RUNS, NOVA_RUNS, Doubtful, note_doubt
from penstock.domains.novae.run_records import JobRun, NameRun, WorkflowRun
from penstock.errors import InvalidValue
from penstock.kernel.change import Change
from penstock.work import (
    FanOut,
    Outcome,
    Pipeline,
    PipelineStep,
    Quarantine,
    Retry,
    StepContext,
    StepResult,
    StepRun,
    TaskContext,
    Tasks,
)
from penstock.work.errors import code_of

TASKS = Tasks("novae")
HOUR = timedelta(hours=1)
NOVAE_RETRY = Retry(attempts=3, pauses=tuple(timedelta(seconds=s) for s in (2, 10, 30)))
"What the documents say of every task: three attempts."
DOWNLOAD_RETRY = Retry(attempts=3, pauses=tuple(timedelta(seconds=s) for s in (10, 60, 180)))
"What they say of downloads, each of which may take a quarter of an hour."
DOWNLOAD_LIMIT = timedelta(minutes=15)
CLASSES: Mapping[type[BaseException], Outcome] = {InvalidValue: Outcome.TERMINAL}

R = TypeVar("R", bound=WorkflowRun)
NovaStep: TypeAlias = StepContext[JobRun, StepRun]
"What a step of a workflow for a nova is about."
NameStep: TypeAlias = StepContext[NameRun, StepRun]
"What a step of a workflow for a name is about."
Body: TypeAlias = Callable[[TaskContext, StepContext[R, StepRun]], StepResult]


class WorkflowInput(BaseModel):
    """What a workflow is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    schema_version: Literal["1"] = "1"
    identity: ClassVar[tuple[str, ...]] = ()
    "The fields that its idempotency key is made of, beside the schema's version and the time."

    def parts(self) -> list[str]:
        """What tells this request from others."""
        return [*(str(getattr(self, name)) for name in self.identity), self.schema_version]


class NovaInput(WorkflowInput):
    """A request about a nova."""

    identity: ClassVar[tuple[str, ...]] = ("nova_id",)
    nova_id: UUID


class NameInput(WorkflowInput):
    """A request about a name."""

    candidate_name: str

    def parts(self) -> list[str]:
        return [normalize_name(self.candidate_name), self.schema_version]


@dataclass(frozen=True)
class Workflow(Generic[R]):
    """One of the catalogue's workflows."""

    name: str
    input: type[WorkflowInput]
    pipeline: Pipeline[R, StepRun]
    window: timedelta | None
    "So long after its beginning a run that did not fail answers further requests; None: only while it runs."

    def request_of(self, input: WorkflowInput) -> str:
        """A request in one spelling, each part after its length: no two requests are written alike."""
        return ":".join([_title(self.name), *(f"{len(part)}:{part}" for part in input.parts())])


def nova_workflow(
    name: str,
    input: type[NovaInput],
    steps: Sequence[PipelineStep[JobRun, StepRun]],
    *,
    window: timedelta | None = None,
) -> Workflow[JobRun]:
    """A workflow for a nova; its runs are found under the nova."""
    workflow: Workflow[JobRun] = Workflow(name, input, Pipeline(TASKS, name, steps, records=NOVA_RUNS), window)
    WORKFLOWS[name] = workflow
    return workflow


def name_workflow(
    name: str,
    input: type[NameInput],
    steps: Sequence[PipelineStep[NameRun, StepRun]],
    *,
    window: timedelta | None = None,
) -> Workflow[NameRun]:
    """A workflow for a name that is nobody's yet; its runs are found under the name."""
    workflow: Workflow[NameRun] = Workflow(name, input, Pipeline(TASKS, name, steps, records=NAME_RUNS), window)
    WORKFLOWS[name] = workflow
    return workflow


WORKFLOWS: dict[str, Workflow[Any]] = {}
"Those that are declared, by their names."


def step(
    name: str,
    body: Body[R] | FanOut[R, StepRun],
    *,
    retry: Retry = NOVAE_RETRY,
    limit: timedelta = timedelta(minutes=10),
    classes: Mapping[type[BaseException], Outcome] | None = None,
) -> PipelineStep[R, StepRun]:
    """A step with the documents' rules: three attempts, with their pauses; what is doubtful ends the run aside."""
    taken = body if isinstance(body, FanOut) else _aside(body)
    return PipelineStep(name, taken, retry=retry, limit=limit, classes={**CLASSES, **(classes or {})})


def part(
    child: Callable[[TaskContext, StepContext[R, StepRun], dict[str, Any]], StepResult],
) -> Callable[[TaskContext, StepContext[R, StepRun], dict[str, Any]], StepResult]:
    """A part of a `FanOut` whose doubts are told to the join, as ``metrics["doubtful"]``, and hold nobody up."""

    def run(work: TaskContext, context: StepContext[R, StepRun], input: dict[str, Any]) -> StepResult:
        try:
            return child(work, context, input)
        except (Doubtful, Quarantine) as error:
            doubt = error if isinstance(error, Doubtful) else Doubtful(code_of(error), str(error))
            note_doubt(work, doubt)
            return StepResult(metrics={"doubtful": {"code": doubt.code, **doubt.told()}})

    return run


def _aside(body: Body[R]) -> Body[R]:
    """A body whose doubts end the run in quarantine, in the same commit as what waits for a person."""

    def run(work: TaskContext, context: StepContext[R, StepRun]) -> StepResult:
        try:
            return body(work, context)
        except (Doubtful, Quarantine) as error:
            # A task in quarantine would wait for ever; the run itself is put aside, and asked for again it runs anew.
            doubt = error if isinstance(error, Doubtful) else Doubtful(code_of(error), str(error))
            note_doubt(work, doubt)
            return StepResult(
                then=(), quarantined=True, outcome=doubt.code, metrics=doubt.told(), change=_asking(context.job, doubt)
            )

    return run


def _asking(run: WorkflowRun, doubt: Doubtful) -> Callable[[Change], None]:
    def ask(change: Change) -> None:
        if doubt.asks is None:
            return
        change.create(
            Doubt(
                job_run_id=run.job_run_id,
                asked_at=change.store.clock.now(),
                workflow_name=run.workflow_name,
                reason_code=doubt.code,
                details={**doubt.told(), "asked_for": run.asked_for},
                candidates=doubt.asks,
                subject=run.normalized_name if isinstance(run, NameRun) else str(getattr(run, "nova_id", "")),
                correlation_id=run.correlation_id,
            )
        )

    return ask


def _title(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
