"""The records of work, as a domain beside the others."""

from __future__ import annotations

from penstock.declare.domain import Domain
from penstock.work.job import Job, StepRun
from penstock.work.task import Attempt, Progress, QueueHint, Task

WORKING = Domain("work", Task, Attempt, QueueHint, Progress, Job, StepRun, moved_by_work=True)
