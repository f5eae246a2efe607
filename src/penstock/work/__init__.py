"""Work: slow things that crash, done all the same. Tasks, their attempts, jobs of several steps, and their rescue."""

# Whoever uses the records must know their domain: it is part of their names in a database.
from penstock.work.batch_task import BatchOf, batch_task
from penstock.work.context import TaskContext
from penstock.work.errors import Cancelled, InputMisfit, PutOff, Quarantine, RetryLater, Terminal, TimeOver, WorkerLost
from penstock.work.job import ChildRun, ChildStatus, JobStatus, PipelineJob, StepResult, StepRun, StepStatus
from penstock.work.job_records import EndedAttempt, JobRecords, pipeline_job
from penstock.work.pipeline import Pipeline
from penstock.work.pipeline_step import FanOut, PipelineStep, StepContext
from penstock.work.registry import Retry, TaskOf, Tasks
from penstock.work.runner import Runner
from penstock.work.task import Outcome, Progress, Task, TaskAttempt, TaskStatus
from penstock.work.task_history import TASK_HISTORY
from penstock.work.working import WORKING

__all__ = [
    "TASK_HISTORY",
    "WORKING",
    "BatchOf",
    "Cancelled",
    "ChildRun",
    "ChildStatus",
    "EndedAttempt",
    "FanOut",
    "InputMisfit",
    "JobRecords",
    "JobStatus",
    "Outcome",
    "Pipeline",
    "PipelineJob",
    "PipelineStep",
    "Progress",
    "PutOff",
    "Quarantine",
    "Retry",
    "RetryLater",
    "Runner",
    "StepContext",
    "StepResult",
    "StepRun",
    "StepStatus",
    "Task",
    "TaskAttempt",
    "TaskContext",
    "TaskOf",
    "TaskStatus",
    "Tasks",
    "Terminal",
    "TimeOver",
    "WorkerLost",
    "batch_task",
    "pipeline_job",
]
