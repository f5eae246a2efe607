"""Reviews: people decide at the gates about the very files they have seen."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from penstock.declare.pattern import until
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import ImpossibleAsset, ReviewOver
from penstock.domains.assetcreator.jobs import AssetJob, see_job
from penstock.domains.assetcreator.model import Job, Project, Status, Step, StepName
from penstock.domains.assetcreator.orders import ChangedInputs, all_words, changed, kept, rejected, request_of
from penstock.domains.assetcreator.production import ASSET
from penstock.errors import Conflict
from penstock.events.schedule import Period
from penstock.kernel.store import Store
from penstock.schema.kinds import instant_text

_AT_ONCE = 500
"Reminders that one look at the clock sends."


def approve(
    studio: AssetStudio, job_id: str, *, round: int, checksums: Mapping[str, str], notes: str | None, by: str
) -> Job:
    """Be content with what a stage made, so that the next one begins; ReviewOver if it is not that any more."""
    seen = _seen(studio.store, job_id, round, checksums)
    try:
        with studio.store.change(by=by, why=notes, once=studio.once) as change:
            job = ASSET.approve(change, seen.job, round=round, by=by, note=notes)
            change.result = {"job_id": job_id}
    except Conflict as lost:
        raise _over(studio.store, job_id, round, lost) from None
    return job


def reject(
    studio: AssetStudio,
    job_id: str,
    *,
    round: int,
    checksums: Mapping[str, str],
    notes: str | None,
    back_to: StepName | None = None,
    inputs: ChangedInputs | None = None,
    by: str,
) -> Job:
    """Have a stage run anew, that one or an earlier one; what was rejected stays readable."""
    seen = _seen(studio.store, job_id, round, checksums)
    at = seen.job.current_step
    request = rejected(changed(request_of(seen.job), inputs), back_to or at, notes)
    project = studio.store.get(Project.at(project_id=seen.job.project_id))
    studio.safety.check(project, all_words(project, request))
    try:
        with studio.store.change(by=by, why=notes, once=studio.once) as change:
            job = ASSET.reject(
                change,
                seen.job,
                round=round,
                by=by,
                note=notes,
                back_to=None if back_to is None else back_to.value,
                input=kept(request),
            )
            change.result = {"job_id": job_id}
    except Conflict as lost:
        raise _over(studio.store, job_id, round, lost) from None
    return job


def assign(studio: AssetStudio, job_id: str, *, assignee: str | None, due_at: datetime | None, by: str) -> Step:
    """Say who is to decide about what waits, and by when."""
    waiting = see_job(studio.store, job_id).current()
    if waiting is None:
        raise ReviewOver(f"nothing of job {job_id} waits for a decision")
    with studio.store.change(by=by, once=studio.once) as change:
        change.track(waiting)
        waiting.assignee, waiting.due_at, waiting.remind_at = assignee, due_at, due_at
        change.save(waiting)
        about = Job.at(project_id=waiting.project_id, job_id=job_id)
        change.emit("review.assigned", waiting, about=about, assignee=assignee, due_at=_text(due_at))
        change.result = {"job_id": job_id}
    return waiting


def remind(studio: AssetStudio, period: Period | None = None) -> int:
    """Tell others of every review whose time is over, once; how many there were."""
    told, now = 0, studio.store.clock.now()
    for step in studio.store.page(Step.overdue(remind_at=until(now)), limit=_AT_ONCE).records:
        about = Job.at(project_id=step.project_id, job_id=step.job_id)
        try:
            with studio.store.change(by="assetcreator", why="a review is overdue") as change:
                change.track(step).remind_at = None
                change.save(step)
                change.emit("review.overdue", step, about=about, assignee=step.assignee, due_at=_text(step.due_at))
        except Conflict:
            continue  # somebody has just decided, or reminded
        told += 1
    return told


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else instant_text(moment, 0)


def _seen(store: Store, job_id: str, round: int, checksums: Mapping[str, str]) -> AssetJob:
    """The job, if what somebody has seen of it is what waits for a decision."""
    seen = see_job(store, job_id)
    waiting = seen.current()
    if not checksums:
        raise ImpossibleAsset("a decision is about files that somebody has seen; send their checksums")
    if seen.job.status is not Status.PAUSED or waiting is None or waiting.round != round:
        raise _over(store, job_id, round)
    named = {key.rpartition("/")[2]: digest for key, digest in (waiting.checksums or {}).items()}
    for name, digest in checksums.items():
        if named.get(name) != digest:
            raise ReviewOver(
                f"{name} of {waiting.step_name.value}, run {round}, is another file than the one decided about; "
                f"look at the job again"
            )
    if missing := sorted(named.keys() - checksums.keys()):
        raise ImpossibleAsset(f"the decision says nothing of {', '.join(missing)}; send the checksums of all files")
    return seen


def _over(store: Store, job_id: str, round: int, lost: Conflict | None = None) -> Conflict:
    """Why a decision about a run comes too late: who has made it, and when."""
    seen = see_job(store, job_id)
    decided = next((s for s in reversed(seen.steps) if s.round == round and s.decided_at is not None), None)
    if decided is not None:
        return ReviewOver(
            f"{decided.approved_by} has {decided.status.value} run {round} of {decided.step_name.value} at "
            f"{decided.decided_at:%Y-%m-%d %H:%M:%S} UTC; the job is {seen.job.status.value} at "
            f"{seen.job.current_step.value} now"
        )
    if lost is not None and not isinstance(lost, ReviewOver):
        return lost
    return ReviewOver(
        f"job {job_id} is {seen.job.status.value} at {seen.job.current_step.value}; no decision about run {round} is "
        f"waited for"
    )
