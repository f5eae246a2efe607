"""Past jobs: one that is done or was cancelled is remembered as long as its tasks are, and then forgotten as a whole.

A job goes with its steps, their children and their counts. What a domain keeps of it in records of its own is not
touched. A job whose generic steps hold files stays: these are what it has made, and the sweep would take them if no
record held them. `Pipeline.forget` lets such a one go.

One that has failed stays until somebody settles it, as its task does.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, islice
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.pattern import until
from penstock.errors import Conflict
from penstock.kernel.lease import LeaseLost, release, renew_in_time, take_named
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare
from penstock.operations.reads import Query
from penstock.operations.updates import Add, Set
from penstock.ports.clock import by_the_slowest
from penstock.schema.shape import COMMIT_WRITES
from penstock.work.job import ChildCount, ChildRun, JobStatus, PipelineJob, StepRun
from penstock.work.task import KEPT

log = logging.getLogger("penstock.work")

OVER = (JobStatus.DONE, JobStatus.CANCELLED)
_TOGETHER = COMMIT_WRITES - 2
"Records that are removed in one commit, beside the job and the lease."


@dataclass(slots=True)
class Forgotten:
    """What was, or would be, forgotten."""

    jobs: int = 0
    records: int = 0
    "Steps, children and counts that go with them."
    held: int = 0
    "Jobs that stay though their time is over, as their steps hold files."
    busy: bool = False
    "Another process is at it."


class PastJobs:
    """Forgets jobs whose time is over. Any number of processes may; one at a time is at it."""

    def __init__(
        self, store: Store, *, owner: str, kept: timedelta = KEPT, period: timedelta = timedelta(minutes=10)
    ) -> None:
        self._store, self._owner, self._kept, self._period = store, owner, kept, period

    def plan(self) -> Forgotten:
        """What would be forgotten now. Nothing is changed."""
        told = Forgotten()
        for job in self._due():
            if job.holds_files or _holds_files(self._store, job):
                told.held += 1
            else:
                told.jobs += 1
                told.records += sum(1 for _ in _parts(self._store, job))
        return told

    def run(self, *, limit: int = 10_000) -> Forgotten:
        """Forget what is due, at most so many jobs."""
        done = Forgotten()
        lease = take_named(self._store, "past-jobs", owner=self._owner, period=self._period)
        if lease is None:
            done.busy = True
            return done
        try:
            for job in self._due():
                lease = renew_in_time(self._store, lease, period=self._period)
                if job.holds_files or self._keep(job):
                    done.held += 1
                    continue
                done.records += forget(self._store, job)
                done.jobs += 1
                if done.jobs == limit:
                    break
        except LeaseLost:
            done.busy = True
        finally:
            release(self._store, lease)
        return done

    def _due(self) -> Iterator[PipelineJob]:
        over = by_the_slowest(self._store.clock) - self._kept
        found = (self._store.find(PipelineJob.by_status(status=s, updated_at=until(over))) for s in OVER)
        yield from chain.from_iterable(found)

    def _keep(self, job: PipelineJob) -> bool:
        """Does it hold files? Then that is noted, and its steps are not looked at again."""
        if not _holds_files(self._store, job):
            return False
        try:
            self._store.patch(job.ref, Set("holds_files", True))
        except Conflict:
            log.debug("job %s went meanwhile", job.job_id)
        return True


def forget(store: Store, job: PipelineJob) -> int:
    """Remove a job and all that is kept of it; how many records went with it. Nothing if it has been taken up again.

    The job goes last, so that after a process that dies in between the next one finds the rest by it. From the first
    commit on it cannot be taken up.
    """
    if not _begin(store, job):
        return 0
    removed = 0
    parts = _parts(store, job)
    while True:
        some = list(islice(parts, _TOGETHER))
        with store.change() as change:
            for part in some:
                change.delete(part.ref)
            if len(some) < _TOGETHER:
                change.delete(job.ref)
        removed += len(some)
        if len(some) < _TOGETHER:
            return removed


def _begin(store: Store, job: PipelineJob) -> bool:
    """Have nobody take the job up any more; False if somebody just has."""
    if job.forgotten_at is not None:
        return True
    stands = Compare("status", "=", job.status) & Compare("round", "=", job.round)
    try:
        # Whoever has read it, to resume it, does so on the condition of its round.
        store.patch(job.ref, Set("forgotten_at", store.clock.now()), Add("round", 1), when=stands)
    except Conflict:
        return False
    return True


def _parts(store: Store, job: PipelineJob) -> Iterator[Entity]:
    for kind in (ChildRun, ChildCount, StepRun):
        query: Query[Any] = kind.of_job(job_id=job.job_id)
        yield from store.find(query)


def _holds_files(store: Store, job: PipelineJob) -> bool:
    """Of a domain with steps of its own, what they made is the domain's to hold."""
    return job.step is None and any(step.artifacts for step in store.find(StepRun.of_job(job_id=job.job_id)))
