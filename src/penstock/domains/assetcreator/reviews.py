"""Reviews: people decide at the gates about the very files they have seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from penstock.declare.pattern import until
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import ImpossibleAsset, ReviewOver
from penstock.domains.assetcreator.jobs import AssetJob, see_job
from penstock.domains.assetcreator.model import Job, Project, Step
from penstock.domains.assetcreator.orders import ChangedInputs, all_words, changed, kept, rejected
from penstock.domains.assetcreator.production import ASSET
from penstock.domains.assetcreator.stages import Status, StepName
from penstock.errors import Conflict
from penstock.events.schedule import Period
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.schema.kinds import instant_text

_AT_ONCE = 500
"Reminders that one look at the clock sends."


def approve(
    studio: AssetStudio, job_id: str, *, round: int, checksums: Mapping[str, str], notes: str | None, by: str
) -> Job:
    """Be content with what a stage made, so that the next one begins; ReviewOver if it is not that any more."""

    def decide(change: Change, job: Job, at: StepName) -> Job:
        return ASSET.approve(change, job, step=at.value, round=round, by=by, note=notes)

    return _decided(studio, job_id, round, checksums, decide, by=by, why=notes)


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

    def decide(change: Change, job: Job, at: StepName) -> Job:
        request = rejected(changed(job, inputs), back_to or at, notes)
        project = studio.store.get(Project.at(project_id=job.project_id))
        studio.safety.check(project, all_words(project, request))
        return ASSET.reject(
            change,
            job,
            step=at.value,
            round=round,
            by=by,
            note=notes,
            back_to=None if back_to is None else back_to.value,
            input=kept(request),
        )

    return _decided(studio, job_id, round, checksums, decide, by=by, why=notes)


def _decided(
    studio: AssetStudio,
    job_id: str,
    round: int,
    checksums: Mapping[str, str],
    decide: Callable[[Change, Job, StepName], Job],
    *,
    by: str,
    why: str | None,
) -> Job:
    """A job after a decision about what somebody has seen of it."""

    def attempt() -> Job:
        job, at = _seen(studio.store, job_id, round, checksums)
        with studio.store.change(by=by, why=why, once=studio.once) as change:
            decided = decide(change, job, at)
            change.result = {"job_id": job_id}
        return decided

    return studio.store.retried(attempt)  # somebody may have said by when to decide, or decided: _seen tells who


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


def _seen(store: Store, job_id: str, round: int, checksums: Mapping[str, str]) -> tuple[Job, StepName]:
    """The job and its stage, if what somebody has seen of it is what waits for a decision; ReviewOver if not."""
    seen = see_job(store, job_id)
    waiting = seen.current()
    if not checksums:
        raise ImpossibleAsset("a decision is about files that somebody has seen; send their checksums")
    if seen.job.status is not Status.PAUSED or waiting is None or waiting.round != round:
        raise _over(seen, round, checksums)
    named = checksums_of(waiting)
    for name, digest in checksums.items():
        if named.get(name) != digest:
            raise _over(seen, round, checksums)
    if missing := sorted(named.keys() - checksums.keys()):
        raise ImpossibleAsset(f"the decision says nothing of {', '.join(missing)}; send the checksums of all files")
    return seen.job, waiting.step_name


def _over(seen: AssetJob, round: int, checksums: Mapping[str, str]) -> ReviewOver:
    """Why a decision is none any more: who has made it, and when; or that it is about another file."""
    stands, waiting = f"{seen.job.status.value} at {seen.job.current_step.value}", seen.current()
    for step in seen.steps:  # of several stages, runs may have the same number, but not the same files
        if step.decided_at is not None and step.round == round and checksums_of(step) == dict(checksums):
            return ReviewOver(
                f"{step.approved_by} has {step.status.value} run {round} of {step.step_name.value} at "
                f"{step.decided_at:%Y-%m-%d %H:%M:%S} UTC; the job is {stands} now"
            )
    named = checksums_of(waiting) if waiting is not None and waiting.round == round else dict(checksums)
    other = next((name for name, digest in checksums.items() if named.get(name) != digest), None)
    if waiting is None or other is None:
        return ReviewOver(f"job {seen.job.job_id} is {stands}; no decision about run {round} is waited for")
    return ReviewOver(
        f"{other} of {waiting.step_name.value}, run {round}, is another file than the one decided about; "
        f"look at the job again"
    )


def checksums_of(step: Step) -> dict[str, str]:
    """The checksums of a run's files, by their names."""
    return {key.rpartition("/")[2]: digest for key, digest in (step.checksums or {}).items()}
