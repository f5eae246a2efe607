"""The records of work, as a domain beside the others."""

from __future__ import annotations

from penstock.declare.domain import Domain
from penstock.work.assignment import Assignment
from penstock.work.attempt_log import AttemptLog
from penstock.work.budget import ProjectBudget
from penstock.work.bulk_run import BulkRun
from penstock.work.job import ChildCount, ChildRun, PipelineJob, StepRun
from penstock.work.spending import ProjectSpending
from penstock.work.task import Progress, QueueHint, Task, TaskAttempt
from penstock.work.worker_presence import WorkerPresence

WORKING = Domain(
    "work",
    *(Task, TaskAttempt, AttemptLog, QueueHint, Progress),
    *(PipelineJob, StepRun, ChildRun, ChildCount),
    *(Assignment, BulkRun, WorkerPresence),
    *(ProjectBudget, ProjectSpending),
    moved_by_work=True,
)
