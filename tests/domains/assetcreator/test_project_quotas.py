"""What a project may use is taken when a job begins and settled when it ends, however it ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.domains.assetcreator import creative_projects, jobs, removal
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.model import Job, Project
from penstock.domains.assetcreator.production import LIMIT
from penstock.domains.assetcreator.project_quotas import BYTES, JOBS, SECONDS
from penstock.domains.assetcreator.stages import Status, StepName
from penstock.kernel.quota import BeyondQuota, QuotaExceeded, usage
from penstock.work import Terminal
from penstock.work.errors import TimeOver
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.story import ANN, asked, finished, later, project, seen, work

NOTHING = (0, 0, 0)


def used(studio: AssetStudio, project: Project) -> tuple[int, int, int]:
    return tuple(usage(studio.store, quota, project.project_id) for quota in (JOBS, SECONDS, BYTES))  # type: ignore[return-value]


def test_a_job_beyond_the_quota_is_refused_with_the_figures(anywhere: AssetStudio) -> None:
    """AC-51: what is used, what is allowed, and nothing of it is written."""
    studio = anywhere
    robots = project(studio)
    creative_projects.set_quotas(studio, robots.project_id, {"concurrent_jobs": 2}, by="root")
    first = asked(studio, robots)
    asked(studio, robots)
    with pytest.raises(QuotaExceeded, match=f"2 of 2 unfinished jobs are in use of project {robots.project_id}"):
        asked(studio, robots)
    assert len(list(studio.store.find(Job.of_project(project_id=robots.project_id)))) == 2
    jobs.cancel(studio, first.job_id, by=ANN)
    asked(studio, robots)
    assert used(studio, robots)[0] == 2


def test_fifty_at_once_under_a_quota_of_five(anywhere: AssetStudio) -> None:
    """AC-51: no race passes it."""
    studio = anywhere
    robots = project(studio)

    def ask(number: int) -> bool:
        try:
            asked(studio, robots, f"robot {number}")
        except QuotaExceeded as refused:
            return (refused.used, refused.limit) != (5, 5)
        return True

    with ThreadPoolExecutor(10) as threads:
        accepted = list(threads.map(ask, range(50)))
    assert accepted.count(True) == 5
    assert used(studio, robots)[0] == 5
    assert len(list(studio.store.find(Job.of_project(project_id=robots.project_id)))) == 5


@pytest.mark.parametrize("end", ["done", "failed", "cancelled", "cancelled at a gate"])
def test_however_a_job_ends_its_place_is_free(studio: AssetStudio, quick: QuickMakers, end: str) -> None:
    """AC-51: and of what it took, what it has become stays counted."""
    robots = project(studio)

    def fail(step: str, order: object) -> None:
        if end == "failed":
            raise Terminal("it cannot be drawn")

    quick.meanwhile = fail
    job = asked(studio, robots)
    assert used(studio, robots)[0] == 1
    if end == "cancelled":
        jobs.cancel(studio, job.job_id, by=ANN)
    elif end == "cancelled at a gate":
        work(studio)
        assert used(studio, robots)[0] == 1  # one that waits keeps its place
        jobs.cancel(studio, job.job_id, by=ANN)
    else:
        finished(studio, job)
    done = seen(studio, job).job
    assert done.status is (Status.DONE if end == "done" else Status.FAILED)
    if end.startswith("cancelled"):
        assert (done.error or {})["code"] == "CANCELLED"
    jobs_used, seconds, kept = used(studio, robots)
    assert jobs_used == 0
    assert seconds <= 9  # a second each at most, rounded up, and not what was reserved
    assert (seconds > 0) is (end != "cancelled")  # what was computed in vain counts
    assert (kept > 0) is (end == "done")


def test_the_time_of_what_took_too_long_is_counted(studio: AssetStudio, quick: QuickMakers) -> None:
    """AC-51: whoever has had all the time there is has used the most of it."""

    def never_end(step: str, order: object) -> None:
        later(studio, seconds=LIMIT.total_seconds())
        raise TimeOver("it takes for ever")

    quick.meanwhile = never_end
    robots = project(studio)
    job = asked(studio, robots)
    work(studio)
    assert seen(studio, job).job.status is Status.FAILED
    assert used(studio, robots)[1] > 0


def test_what_is_taken_up_again_needs_a_place_again(studio: AssetStudio) -> None:
    robots = project(studio, gates=[])
    creative_projects.set_quotas(studio, robots.project_id, {"concurrent_jobs": 1}, by="root")
    job = asked(studio, robots)
    work(studio)
    other = asked(studio, robots)
    with pytest.raises(QuotaExceeded):
        jobs.resume(studio, job.job_id, from_step=StepName.EXPORT, by=ANN)
    assert seen(studio, job).job.status is Status.DONE
    jobs.cancel(studio, other.job_id, by=ANN)
    jobs.resume(studio, job.job_id, from_step=StepName.EXPORT, by=ANN)
    assert used(studio, robots)[0] == 1
    work(studio)
    assert (seen(studio, job).job.version, used(studio, robots)[0]) == (2, 0)


def test_a_version_has_its_room_until_it_leaves_the_library(studio: AssetStudio) -> None:
    robots = project(studio, gates=[])
    job = asked(studio, robots)
    work(studio)
    assert used(studio, robots)[2] > 0
    removal.delete_version(studio, job.asset_id or "", 1, by=ANN)
    assert used(studio, robots)[2] == 0


def test_a_quota_that_no_job_can_keep_is_told_so(studio: AssetStudio) -> None:
    robots = project(studio)
    creative_projects.set_quotas(studio, robots.project_id, {"storage_bytes": 10}, by="root")
    with pytest.raises(BeyondQuota, match="at most 10 are allowed"):
        asked(studio, robots)
