"""The decisions at the gates of a pipeline, for a record that its jobs are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.kernel.change import Change
from penstock.review.errors import NoSuchChoice
from penstock.review.reviewable import ChoiceKind, MadeChoice, ReviewChoice
from penstock.work.job import PipelineJob
from penstock.work.pipeline import Pipeline

_Deed = Callable[[Change, PipelineJob, MadeChoice], object]


def gate_choices(
    pipeline: Pipeline[Any, Any],
    *,
    job: Callable[[Any], str | None],
    when: Callable[[Any], bool],
    given_up: Callable[[Any], Any] | None = None,
) -> Sequence[ReviewChoice]:
    """Go on, have it made again, or give it up: for a pipeline that runs on the generic records.

    ``job`` tells the job of a record, and ``when`` whether the record waits at a gate, as far as it knows. ``given_up``
    moves a record whose job is given up, in the same commit; without it the record stays as it is.
    """

    def approve(change: Change, at: PipelineJob, made: MadeChoice) -> object:
        return pipeline.approve(change, at.job_id, round=at.round, by=made.caller.name, note=made.reason)

    def make_again(change: Change, at: PipelineJob, made: MadeChoice) -> object:
        return pipeline.reject(change, at.job_id, round=at.round, by=made.caller.name, note=made.reason)

    def give_up(change: Change, at: PipelineJob, made: MadeChoice) -> object:
        if given_up is not None:
            change.save(given_up(change.get(made.record.ref)))
        return pipeline.cancel(change, at.job_id, by=made.caller.name, why=made.reason)

    deeds: dict[ChoiceKind, tuple[str, _Deed]] = {
        ChoiceKind.APPROVE: ("Approve", approve),
        ChoiceKind.REQUEST_CHANGES: ("Make it again", make_again),
        ChoiceKind.REJECT: ("Give it up", give_up),
    }
    return [ReviewChoice(kind, title, _carried_out(deed, job), when) for kind, (title, deed) in deeds.items()]


def _carried_out(deed: _Deed, job: Callable[[Any], str | None]) -> Callable[[MadeChoice], object]:
    def make(made: MadeChoice) -> None:
        job_id = job(made.record)
        if job_id is None:
            raise NoSuchChoice(f"nothing was made for {made.record.ref!r} yet; wait a moment")
        with made.caller.change(why=made.reason) as change:
            deed(change, made.caller.store.get(PipelineJob.at(job_id=job_id)), made)
            change.result = {}

    return make
