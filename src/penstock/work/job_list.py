"""Jobs as people look for them: of a project, a state, or pipelines of which they know how the name begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.kernel.merged_page import merged_page
from penstock.kernel.store import Listing, Store
from penstock.operations.conditions import OneOf
from penstock.operations.reads import Query
from penstock.work.job import JobStatus, PipelineJob


@dataclass(frozen=True, slots=True)
class JobQuestion:
    """Which jobs are meant: all, or those for which everything that is given holds."""

    project: str | None = None
    statuses: Sequence[JobStatus] = ()
    pipelines: Sequence[str] | None = None
    "Of these; none at all finds none."

    def queries(self) -> list[Query[PipelineJob]]:
        """The patterns that find them, each with the one that has changed last first."""
        statuses = tuple(self.statuses) or tuple(JobStatus)
        if self.project is not None:
            found = [PipelineJob.of_project(project_id=self.project, status=s) for s in statuses]
            found = found if self.pipelines is None else [q.where(_of(self.pipelines)) for q in found]
        elif self.pipelines is not None:
            found = [PipelineJob.of_pipeline(pipeline=name) for name in self.pipelines]
            found = [q.where(OneOf("status", statuses)) for q in found] if self.statuses else found
        else:
            found = [PipelineJob.by_status(status=s) for s in statuses]
        return [q.reversed() for q in found]

    def page(self, store: Store, *, limit: int, cursor: str | None = None) -> Listing[PipelineJob]:
        """The jobs, the one that has changed last first, and the cursor of the next."""
        if self.pipelines is not None and not self.pipelines:
            return Listing([], None)
        return merged_page(store, self.queries(), order=lambda job: job.updated_at, limit=limit, cursor=cursor)


def beginning_with(names: Iterable[str], beginning: str) -> list[str]:
    """The pipelines whose names begin so, with or without the domain's name."""
    return sorted(n for n in names if n.startswith(beginning) or n.partition(".")[2].startswith(beginning))


def _of(pipelines: Sequence[str]) -> OneOf:
    return OneOf("pipeline", tuple(pipelines))
