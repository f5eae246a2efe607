"""Steps of pipelines: what is declared of each, what its body is given, and which run of it a task is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from penstock.declare.entity import Entity
from penstock.kernel.change import Change
from penstock.operations.conditions import Compare, Condition
from penstock.operations.reads import Ref
from penstock.work.context import TaskContext
from penstock.work.job import ChildCount, ChildRun, ChildStatus, JobStatus, PipelineJob, StepResult
from penstock.work.registry import MINUTES, USUAL, Retry
from penstock.work.task import Outcome

J = TypeVar("J", bound=Entity)
S = TypeVar("S", bound=Entity)


class StepInput(BaseModel):
    """Which run of which step a task is."""

    job_id: str
    position: int
    round: int

    @property
    def job(self) -> Ref[PipelineJob]:
        return PipelineJob.at(job_id=self.job_id)

    @property
    def count(self) -> Ref[ChildCount]:
        return ChildCount.at(job_id=self.job_id, position=self.position, round=self.round)

    @property
    def text(self) -> str:
        """What tells it from every other run."""
        return f"{self.job_id}:{self.position}:{self.round}"

    def is_at(self, run: PipelineJob) -> bool:
        """Is this where a job is, and does it still go on?"""
        return run.status is JobStatus.RUNNING and (run.position, run.round) == (self.position, self.round)

    def is_left_at(self, run: PipelineJob) -> bool:
        """Is this where a job is, or where it has failed and may be tried again?"""
        here = (run.position, run.round) == (self.position, self.round)
        return here and run.status in (JobStatus.RUNNING, JobStatus.FAILED)

    def stands(self) -> Condition:
        """That the job still is at this run."""
        return Compare("position", "=", self.position) & Compare("round", "=", self.round)


class ChildInput(StepInput):
    """Which child of which run of which step a task is."""

    number: int

    @property
    def child(self) -> Ref[ChildRun]:
        return ChildRun.at(job_id=self.job_id, position=self.position, round=self.round, number=self.number)

    @property
    def text(self) -> str:
        return f"{super().text}:{self.number}"


@dataclass(frozen=True)
class StepContext(Generic[J, S]):
    """What a step is about: the job and the step as the domain has them, and what is asked for."""

    job: J
    step: S
    name: str
    round: int
    "Which run of the job it is; it grows whenever a step is run anew."
    input: dict[str, Any]
    "What is asked for, with what a person has changed since."
    made: Callable[[str], S]
    "The run of an earlier step whose result counts; NotFound if there is none."


def gathered(work: TaskContext, context: Any, children: Sequence[ChildRun]) -> StepResult:
    """All that the children made, in their order, and how many came to nothing."""
    failed = sum(child.status is ChildStatus.FAILED for child in children)
    artifacts = [key for child in children for key in child.artifacts]
    return StepResult(artifacts=artifacts, metrics={"children": len(children), "failed": failed})


@dataclass(frozen=True)
class FanOut(Generic[J, S]):
    """The body of a step whose parts are done at the same time.

    With ``tolerate`` a child that fails for good is told to ``join`` with the others; without, it fails the job. The
    others still do their part, so that the job goes on once all that failed are tried again.
    """

    plan: Callable[[TaskContext, StepContext[J, S]], Sequence[Mapping[str, Any]]]
    "What each child is asked to do."
    child: Callable[[TaskContext, StepContext[J, S], dict[str, Any]], StepResult]
    join: Callable[[TaskContext, StepContext[J, S], Sequence[ChildRun]], StepResult] = gathered
    tolerate: bool = False
    retry: Retry = USUAL
    limit: timedelta = MINUTES
    concurrency: int | None = None
    classes: Mapping[type[BaseException], Outcome] | None = None


StepBody = Callable[[TaskContext, StepContext[J, S]], StepResult]
Gate = Callable[[Change, J], bool]
"Says of a job whether a person must look at what the step made."


@dataclass(frozen=True)
class PipelineStep(Generic[J, S]):
    """One stage of a pipeline; with ``review`` a person decides before the next one begins.

    ``review`` may be asked for each job, of its project for example. A `FanOut` as the body has its parts done at once.
    """

    name: str
    body: StepBody[J, S] | FanOut[J, S]
    review: bool | Gate[J] = False
    retry: Retry = USUAL
    limit: timedelta = MINUTES
    concurrency: int | None = None
    classes: Mapping[type[BaseException], Outcome] | None = None
