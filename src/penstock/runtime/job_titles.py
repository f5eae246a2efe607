"""What jobs are called: as the domains' own records of them are."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.kernel.store import Store
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.work.job import PipelineJob


def job_titles(system: OperatedSystem, store: Store, jobs: Sequence[PipelineJob], role: Role | None) -> dict[str, str]:
    """The titles of jobs by their ids, of those that have one and may be seen; all records are read at once."""
    refs = {}
    for job in jobs:
        pipeline = system.pipelines.get(job.pipeline)
        if pipeline is not None and job.record is not None:
            refs[job.job_id] = pipeline.records.job_ref(job)
    found = zip(refs, store.get_many(list(refs.values())) if refs else [], strict=True)
    shown = [(job_id, record) for job_id, record in found if record is not None]
    titles = {job_id: system.titles.title(r) for job_id, r in shown if r.__shape__.is_shown_to(role)}
    return {job_id: title for job_id, title in titles.items() if title is not None}
