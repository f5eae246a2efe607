"""What a project may use: unfinished jobs, seconds of computing in 30 days, bytes of versions in its library.

A job takes its place, and room for what it may become, in the commit that begins it or takes it up again. It gives back
what it did not need in the commit with which it ends, however that may be; one that waits at a gate keeps its place. A
version has its room until it leaves the library.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.domains.assetcreator.errors import BeyondProjectQuota, NotIdle
from penstock.domains.assetcreator.options import AssetOptions
from penstock.kernel.change import Change
from penstock.kernel.handle import StoreHandle
from penstock.kernel.quota import HELD, Quota, QuotaHold, QuotaUse, Share, usage
from penstock.kernel.store import Store
from penstock.operations.conditions import Present

if TYPE_CHECKING:
    from penstock.domains.assetcreator.model import AssetVersion, Job, Project  # which give back what they had here

_FOR_EVER = timedelta(days=36_500)
JOBS = Quota(
    "assetcreator.jobs",
    "unfinished jobs",
    longest=_FOR_EVER,
    helps="Cancel a job, decide a review that waits, or ask an administrator to raise concurrent_jobs of the project.",
)
SECONDS = Quota(
    "assetcreator.seconds",
    "seconds of computing in 30 days",
    per=timedelta(days=30),
    helps="Wait until the 30 days are over, or ask an administrator to raise compute_seconds of the project.",
)
BYTES = Quota(
    "assetcreator.bytes",
    "bytes in the library",
    longest=_FOR_EVER,
    retry=timedelta(hours=1),
    helps="Delete versions or assets that nobody needs, cancel a job, which keeps room for what it may become, or ask "
    "an administrator to raise storage_bytes of the project.",
)
LIMITS = {"concurrent_jobs": JOBS, "compute_seconds": SECONDS, "storage_bytes": BYTES}
"What a project's quotas may name."
RESERVED = {"concurrent_jobs": 1, "compute_seconds": 60, "storage_bytes": 32 * 2**20}
"What a job may need, as far as one can say before."
_ALL = 2**53
"More places than any project has."


def limit_of(project: Project, name: str) -> int:
    """How much of something a project may use; where nobody has said it, as much as any new one."""
    said = project.quotas.get(name)
    usual: int = getattr(AssetOptions, name)
    return usual if said is None else int(said)


def take_place(change: Change, project: Project, job: Job) -> None:
    """Count a job, and what it may become, with the commit that begins it or takes it up again.

    QuotaExceeded while too much is in use, BeyondProjectQuota where there is never so much, NotIdle where the project
    is about to be removed, Conflict where it goes just then.
    """
    if is_closed(change.store, project):
        raise NotIdle(f"project {project.project_id} is being removed; no job begins in it any more")
    change.check(project.ref, Present())
    shares = [
        _share(LIMITS[name], project.project_id, amount, limit_of(project, name)) for name, amount in RESERVED.items()
    ]
    _check_possible(change.store, *shares)
    change.quotas.reserve(job_hold(job), *shares, until=change.store.clock.now() + _FOR_EVER)


def close(change: Change, project: Project) -> None:
    """Let no job begin in a project any more, which is about to be removed; QuotaExceeded while one is unfinished."""
    every = Share(JOBS, project.project_id, _ALL, _ALL, f"of project {project.project_id}", project=project.project_id)
    change.quotas.reserve(closing_hold(project), every, until=change.store.clock.now() + _FOR_EVER)


def is_closed(store: Store, project: Project) -> bool:
    """Is it about to be removed?"""
    return store.lookup(QuotaHold.at(hold_id=closing_hold(project))) is not None


def forget_project(change: Change, project: Project) -> None:
    """What was counted for a project goes with it."""
    change.delete(QuotaHold.at(hold_id=closing_hold(project)))
    for quota in (JOBS, BYTES):
        change.delete(QuotaUse.at(quota=quota.name, whose=project.project_id, period=HELD))


def give_back(change: Change, job: Job, *, seconds: float) -> None:
    """Settle what a job had, with the commit that ends it: the time it took stays counted."""
    change.quotas.settle(job_hold(job), spent={SECONDS.name: math.ceil(seconds)})


def keep_version(change: Change, version: AssetVersion, *, limit: int | None = None) -> None:
    """Count the bytes of a version, with the commit that puts it into the library; refused beyond a limit."""
    share = _share(BYTES, version.project_id, version.bytes or 0, limit)
    _check_possible(change.store, share)
    change.quotas.reserve(version_hold(version), share, until=change.store.clock.now() + _FOR_EVER)


def forget_version(change: Change, version: AssetVersion) -> None:
    """Give the room of a version back, with the commit that takes it out of the library."""
    change.quotas.settle(version_hold(version))


def _check_possible(store: StoreHandle, *shares: Share) -> None:
    for share in shares:
        if share.limit is not None and share.amount > share.limit:
            raise BeyondProjectQuota(share, usage(store, share.quota, share.whose))


def _share(quota: Quota, project_id: str, amount: int, limit: int | None) -> Share:
    return Share(quota, project_id, amount, limit, f"of project {project_id}", project=project_id)


def used_by(store: Store, project: Project) -> dict[str, dict[str, int]]:
    """What a project uses of each quota, and what it may."""
    return {
        name: {"used": usage(store, quota, project.project_id), "allowed": limit_of(project, name)}
        for name, quota in LIMITS.items()
    }


def job_hold(job: Job) -> str:
    """Under which name a job has its place and its room."""
    return f"assetcreator.job:{job.project_id}:{job.job_id}"


def closing_hold(project: Project) -> str:
    """Under which name all places of a project are taken that is about to be removed."""
    return f"assetcreator.closing:{project.project_id}"


def version_hold(version: AssetVersion) -> str:
    """Under which name a version has its room."""
    return f"assetcreator.version:{version.project_id}:{version.asset_id}:{version.version}"
