"""Work: slow things that crash, done all the same. Tasks, their attempts, jobs of several steps, and their rescue."""

# Whoever uses the records must know their domain: it is part of their names in a database.
from penstock.work.context import TaskContext
from penstock.work.domain import WORKING
from penstock.work.errors import Cancelled, InputMisfit, PutOff, Quarantine, RetryLater, Terminal, TimeOver, WorkerLost
from penstock.work.job import Job, JobStatus, StepResult, StepRun, StepStatus
from penstock.work.pipeline import Pipeline, PipelineStep
from penstock.work.registry import Retry, TaskOf, Tasks
from penstock.work.runner import Runner
from penstock.work.task import Attempt, Outcome, Progress, Task, TaskStatus

__all__ = [
    "WORKING",
    "Attempt",
    "Cancelled",
    "InputMisfit",
    "Job",
    "JobStatus",
    "Outcome",
    "Pipeline",
    "PipelineStep",
    "Progress",
    "PutOff",
    "Quarantine",
    "Retry",
    "RetryLater",
    "Runner",
    "StepResult",
    "StepRun",
    "StepStatus",
    "Task",
    "TaskContext",
    "TaskOf",
    "TaskStatus",
    "Tasks",
    "Terminal",
    "TimeOver",
    "WorkerLost",
]
