"""Who is to look at what a job waits with, and by when: as its domain's own record of the step says it, or as somebody
was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from penstock.declare.entity import Entity
from penstock.kernel.handle import StoreHandle
from penstock.kernel.record_name import name_of
from penstock.work.assignment import Assignment, assignment_of
from penstock.work.job import PipelineJob
from penstock.work.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class ReviewAssignee:
    """Whose a review is."""

    assignee: str | None = None
    due_at: datetime | None = None
    note: str | None = None


def review_duties(
    store: StoreHandle, pipelines: Mapping[str, Pipeline[Any, Any]], jobs: Sequence[PipelineJob]
) -> dict[str, ReviewAssignee]:
    """The duty of each job, by its id."""
    asked = [Assignment.at(about=name_of(job.ref)) for job in jobs]
    found = {a.about: a for a in store.get_many(asked) if a is not None} if asked else {}
    steps = _own_steps(store, pipelines, jobs)
    return {job.job_id: _duty(assignment_of(found, job), steps.get(job.job_id)) for job in jobs}


def _duty(asked: Assignment | None, step: Any) -> ReviewAssignee:
    note = None if asked is None else asked.note
    own = ReviewAssignee(getattr(step, "assignee", None), getattr(step, "due_at", None), note)
    if asked is None or own.assignee is not None or own.due_at is not None:
        return own
    return ReviewAssignee(asked.assignee, asked.due_at, note)


def _own_steps(
    store: StoreHandle, pipelines: Mapping[str, Pipeline[Any, Any]], jobs: Sequence[PipelineJob]
) -> dict[str, Entity]:
    """The domains' own records of the steps that wait, of those kinds that say themselves who is to look, and when."""
    refs = {}
    for job in jobs:
        pipeline = pipelines.get(job.pipeline)
        if pipeline is not None and job.step is not None and "assignee" in pipeline.records.step.model_fields:
            refs[job.job_id] = pipeline.records.step_ref(job)
    found = store.get_many(list(refs.values())) if refs else []
    return {job_id: step for job_id, step in zip(refs, found, strict=True) if step is not None}
