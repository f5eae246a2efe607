"""Two who decide at the same moment: one wins, the other is told by whom and when.

Whoever comes second in any other pair, of a decision with a cancellation or a job that is taken up again, changes
nothing that was said before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from penstock.domains.assetcreator import jobs, production, reviews
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import ReviewOver
from penstock.domains.assetcreator.model import Job, Project
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.errors import Conflict, InvalidValue, PenstockError
from tests.domains.assetcreator.lives import events, used
from tests.domains.assetcreator.story import asked, finished, later, looked_at, project, runs, seen, waiting, work

pytestmark = pytest.mark.every_engine

Act = Callable[[], Job]


def at_once(*acts: Act) -> list[Job | PenstockError]:
    """What comes of several who act at the very same moment."""
    barrier = Barrier(len(acts))

    def one(act: Act) -> Job | PenstockError:
        barrier.wait(30)
        try:
            return act()
        except PenstockError as refused:
            return refused

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(one, acts))


def decision(studio: AssetStudio, job: Job, by: str, *, approve: bool) -> Act:
    """A decision about what waits now, to be made by somebody later."""
    step = waiting(studio, job)
    about: dict[str, Any] = {"round": step.round, "checksums": looked_at(step), "notes": None, "by": by}
    return lambda: (reviews.approve if approve else reviews.reject)(studio, job.job_id, **about)


@pytest.mark.parametrize("both", ["approve", "differ"])
def test_of_two_who_decide_at_once_one_wins_and_the_other_is_told(anywhere: AssetStudio, both: str) -> None:
    """AC-50: at every gate of a character, whoever it is."""
    studio, start = anywhere, anywhere.store.clock.now()
    job = asked(studio, project(studio))
    work(studio)
    gates = 0
    while seen(studio, job).current() is not None:
        gates += 1
        step = waiting(studio, job)
        ann, bob = decision(studio, job, "ann", approve=True), decision(studio, job, "bob", approve=both == "approve")
        if both == "differ" and gates > 4:
            bob = decision(studio, job, "bob", approve=True)  # or it would never end
        results = at_once(ann, bob)
        won = [name for name, result in zip(("ann", "bob"), results, strict=True) if isinstance(result, Job)]
        assert len(won) == 1, results
        (refused,) = [result for result in results if isinstance(result, PenstockError)]
        assert isinstance(refused, ReviewOver)
        decided = next(s for s in seen(studio, job).steps if s.round == step.round and s.step_name is step.step_name)
        assert decided.approved_by == won[0]
        word = decided.status.value
        assert word == "approved" or (won == ["bob"] and word == "rejected")
        moment = f"{studio.store.clock.now():%Y-%m-%d %H:%M:%S} UTC"
        said = f"{won[0]} has {word} run {step.round} of {step.step_name.value} at {moment}"
        assert re.match(said, str(refused)), refused
        work(studio)
    assert gates >= 4
    assert (seen(studio, job).job.status, seen(studio, job).job.version) == (Status.DONE, 1)
    assert events(studio, job, since=start)["UserReviewUpdated"] == gates
    assert used(studio, _project(studio, job))[0] == 0


def test_approved_and_cancelled_at_once_it_is_cancelled(anywhere: AssetStudio) -> None:
    """AC-50, AC-51: whichever was first; the decision is kept or refused, and no step runs any more."""
    studio = anywhere
    for _ in range(4):
        job = asked(studio, project(studio), type=AssetType.SPRITE_2D)
        work(studio)
        approve = decision(studio, job, "ann", approve=True)
        approved, cancelled = at_once(approve, lambda job=job: jobs.cancel(studio, job.job_id, by="bob"))  # type: ignore[misc]
        assert isinstance(cancelled, Job), cancelled
        work(studio)
        there = seen(studio, job)
        assert (there.job.status, (there.job.error or {})["code"]) == (Status.FAILED, "CANCELLED")
        refined = there.steps[1]
        if isinstance(approved, Job):
            assert (refined.status, refined.approved_by) == (Status.APPROVED, "ann")
            assert runs(studio, job)[2:] == [("export", "failed")]
        else:
            assert isinstance(approved, ReviewOver), approved
            assert (refined.status, refined.approved_by, len(there.steps)) == (Status.FAILED, None, 2)
        assert used(studio, _project(studio, job))[::2] == (0, 0)


def test_rejected_and_resumed_at_once_it_runs_once(anywhere: AssetStudio) -> None:
    """AC-50: one of both goes back; the other is refused, and told why."""
    studio, back = anywhere, StepName.TEXT_TO_IMAGE
    for _ in range(4):
        job = asked(studio, project(studio), type=AssetType.SPRITE_2D)
        work(studio)
        rejected, resumed = at_once(
            decision(studio, job, "ann", approve=False),
            lambda job=job: jobs.resume(studio, job.job_id, from_step=back, by="bob"),  # type: ignore[misc]
        )
        assert isinstance(rejected, Job) != isinstance(resumed, Job), (rejected, resumed)
        if isinstance(rejected, PenstockError):
            assert isinstance(rejected, ReviewOver), rejected
        else:
            assert isinstance(resumed, PenstockError)
            assert resumed.http_status in (409, InvalidValue.http_status)
        pending = [step for step in seen(studio, job).steps if step.status is Status.PENDING]
        assert [step.step_name for step in pending] == [StepName.REFINE if isinstance(rejected, Job) else back]
        assert finished(studio, job).job.version == 1
        assert used(studio, _project(studio, job))[0] == 0


def test_a_decision_stands_whoever_has_just_been_named_for_it(anywhere: AssetStudio) -> None:
    """AC-50: who is to decide, and that others are reminded, is no other decision."""
    studio = anywhere
    job = asked(studio, project(studio), type=AssetType.SPRITE_2D)
    work(studio)
    for _ in range(3):
        later(studio, minutes=1)
        due = studio.store.clock.now()
        reject = decision(studio, job, "ann", approve=False)

        def assign(due: Any = due) -> Job:
            reviews.assign(studio, job.job_id, assignee="bob", due_at=due, by="root")
            reviews.remind(studio)
            return job

        decided, _ = at_once(reject, assign)
        assert isinstance(decided, Job), decided
        work(studio)
    assert [s.approved_by for s in seen(studio, job).steps].count("ann") == 3


def _project(studio: AssetStudio, job: Job) -> Project:
    return studio.store.get(Project.at(project_id=job.project_id))


def test_a_job_that_ends_while_it_is_cancelled_has_ended(studio: AssetStudio, monkeypatch: pytest.MonkeyPatch) -> None:
    """To one that is over nothing happens, also when it was not over a moment ago."""
    job = asked(studio, project(studio, gates=[]), type=AssetType.SPRITE_2D)
    work(studio)
    done, look = seen(studio, job).job, jobs.find_job
    a_moment_ago = [done.model_copy(update={"status": Status.RUNNING})]
    monkeypatch.setattr(jobs, "find_job", lambda *given: a_moment_ago.pop() if a_moment_ago else look(*given))
    assert jobs.cancel(studio, job.job_id, by="ann") == done
    assert done.status is Status.DONE


@pytest.mark.parametrize("approve", [True, False])
def test_a_decision_about_one_gate_is_none_about_the_next(
    studio: AssetStudio, monkeypatch: pytest.MonkeyPatch, approve: bool
) -> None:
    """AC-50: though another has decided, and the job has come to its next gate, between two reads of the slower one."""
    job = asked(studio, project(studio))
    work(studio)
    ann, bob = decision(studio, job, "ann", approve=True), decision(studio, job, "bob", approve=approve)
    looked: list[Any] = []
    look = reviews._seen

    def overtaken(*given: Any) -> Any:
        found = look(*given)
        if not looked:
            looked.append(found)
            ann()
            work(studio)
        return found

    monkeypatch.setattr(reviews, "_seen", overtaken)
    with pytest.raises(ReviewOver, match="ann has approved run 1 of refine at"):
        bob()
    assert waiting(studio, job).step_name is StepName.RETOPO
    assert [step.approved_by for step in seen(studio, job).steps if step.approved_by] == ["ann"]


def test_a_decision_that_comes_at_the_next_gate_is_told_who_decided_at_its_own(studio: AssetStudio) -> None:
    """AC-50: runs of several stages have the same number, but not the same files."""
    job = asked(studio, project(studio))
    work(studio)
    ann, bob = decision(studio, job, "ann", approve=True), decision(studio, job, "bob", approve=False)
    ann()
    work(studio)
    with pytest.raises(ReviewOver, match=r"ann has approved run 1 of refine at .*; the job is paused at retopo now"):
        bob()


@pytest.mark.parametrize("what", ["approve", "reject", "resume", "cancel"])
def test_who_is_overtaken_between_two_reads_is_told_so(
    studio: AssetStudio, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """AC-50: the pipeline's own record was read before another came, the job and its run after that."""
    job = asked(studio, project(studio), type=AssetType.SPRITE_2D)
    work(studio)
    acts: dict[str, Callable[[str], Act]] = {
        "approve": lambda by: decision(studio, job, by, approve=True),
        "reject": lambda by: decision(studio, job, by, approve=False),
        "resume": lambda by: lambda: jobs.resume(studio, job.job_id, from_step=StepName.REFINE, by=by),
        "cancel": lambda by: lambda: jobs.cancel(studio, job.job_id, by=by),
    }
    if what == "resume":
        finished(studio, job)
    ann, bob = acts[what]("ann"), acts[what]("bob")
    records, came = production.ASSET.records, list[bool]()
    read = records.job_of

    def overtaken(*given: Any) -> Any:
        if not came:
            came.append(True)
            ann()
        return read(*given)

    monkeypatch.setattr(records, "job_of", overtaken)
    if what == "cancel":
        assert bob().status is Status.FAILED
        return
    with pytest.raises(Conflict, match="ann has" if what != "resume" else "has just gone on; it is running by now"):
        bob()
    work(studio)
    names = ["text-to-image", "refine", *{"approve": ["export"], "reject": ["refine"]}.get(what, ["export", "refine"])]
    assert [name for name, _ in runs(studio, job)] == names
