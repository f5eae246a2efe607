"""The records of work, as a domain beside the others."""

from __future__ import annotations

from penstock.declare.domain import Domain
from penstock.work.job import ChildCount, ChildRun, PipelineJob, StepRun
from penstock.work.task import Progress, QueueHint, Task, TaskAttempt

WORKING = Domain(
    "work",
    *(Task, TaskAttempt, QueueHint, Progress),
    *(PipelineJob, StepRun, ChildRun, ChildCount),
    moved_by_work=True,
)
