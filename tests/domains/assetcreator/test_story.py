"""From an idea to a version in the library, with people deciding at the gates: the same on every engine."""

from __future__ import annotations

import json
from datetime import timedelta
from io import BytesIO

import pytest

from penstock.domains.assetcreator import DOMAIN, creative_projects, jobs, library, removal, reviews
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.bookkeeping import Audit, Idempotency, Outbox
from penstock.domains.assetcreator.errors import ImpossibleAsset, NotIdle, ReviewOver, UnsafePrompt
from penstock.domains.assetcreator.model import Asset, AssetVersion, Job, Step
from penstock.domains.assetcreator.orders import ChangedInputs
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.domains.assetcreator.step_claims import step_key
from penstock.files.deletion import settle_released
from penstock.files.object_reads import every
from penstock.files.references import References
from penstock.files.trash import Trash
from penstock.kernel.idempotency import OnceStatus, Replay, begin
from penstock.kernel.outbox import MessageStatus
from tests.domains.assetcreator.conftest import BEGUN
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.story import (
    approve,
    asked,
    finished,
    later,
    looked_at,
    project,
    reject,
    runs,
    seen,
    waiting,
    work,
)


@pytest.mark.every_engine
def test_an_asset_is_drawn_rejected_drawn_again_and_delivered(anywhere: AssetStudio, quick: QuickMakers) -> None:
    """AC-22, AC-36, AC-38, AC-47, AC-49, AC-50: each stage keeps what it made, each decision who made it and when."""
    studio = anywhere
    robots = project(studio)
    job = asked(studio, robots)
    work(studio)
    first = waiting(studio, job)
    assert (first.step_name, first.status, first.metrics["faces"]) == (StepName.REFINE, Status.PAUSED, 12)
    reject(studio, job, notes="the scarf must be longer", back_to=StepName.TEXT_TO_IMAGE, by="bob")
    done = finished(studio, job)
    assert runs(studio, job) == [
        ("text-to-image", "done"),
        ("refine", "rejected"),
        ("text-to-image", "done"),
        ("refine", "approved"),
        ("3D", "done"),
        ("retopo", "approved"),
        ("rig", "approved"),
        ("anim", "approved"),
        ("export", "done"),
    ]
    assert [step for step, _ in quick.asked] == [
        *("draw", "refine", "draw", "refine", "model", "retopo", "rig", "anim", "export")
    ]
    drawn = [order for step, order in quick.asked if step == "draw"]
    assert "the scarf must be longer" in drawn[1].details
    assert drawn[0].seed != drawn[1].seed
    rejected = next(step for step in done.steps if step.status is Status.REJECTED)
    assert (rejected.approved_by, rejected.notes) == ("bob", "the scarf must be longer")
    assert rejected.decided_at is not None
    assert (done.job.status, done.job.version) == (Status.DONE, 1)

    version = library.find_version(studio.store, job.asset_id or "", 1)
    provenance = version.metadata["provenance"]
    assert provenance["prompt"]["core_concept"] == "Space ranger robot with a red scarf"
    assert [run["step"] for run in provenance["steps"]] == [*("text-to-image", "refine", "3D", "retopo", "rig", "anim")]
    assert {run["decided_by"] for run in provenance["steps"] if "decided_by" in run} == {"ann"}
    told = json.loads(studio.objects.get(version.cdn_url or "").read())
    assert told["provenance"]["version"] == 1
    lines = list(studio.store.find(Audit.of_project(project_id=robots.project_id)))
    assert {"ann", "bob"} <= {line.actor for line in lines}
    assert {line.actor for line in lines} - {"ann", "bob"}  # what the system did by itself
    events = [message.type for message in _messages(studio)]
    assert events.count("StepCompleted") == 9
    assert events.count("UserReviewUpdated") == 5
    assert events.count("review.requested") == 5
    assert events.count("AssetIndexed") == 1


def _messages(studio: AssetStudio) -> list[Outbox]:
    return list(studio.store.find(Outbox.by_status(status=MessageStatus.PENDING)))


@pytest.mark.parametrize(
    ("type", "steps"),
    [
        (AssetType.PROP, ["text-to-image", "refine", "3D", "retopo", "export"]),
        (AssetType.SPRITE_2D, ["text-to-image", "refine", "export"]),
        (AssetType.BACKGROUND, ["text-to-image", "refine", "export"]),
    ],
)
def test_each_type_goes_through_its_own_stages(studio: AssetStudio, type: AssetType, steps: list[str]) -> None:
    """AC-21, F-AC-9: a prop has no rig, what is drawn has no mesh, and 2D or 3D follows from the type."""
    job = asked(studio, project(studio, gates=[]), type=type)
    work(studio)
    assert runs(studio, job) == [(name, "done") for name in steps]
    asset = studio.store.get(Asset.at(project_id=job.project_id, asset_id=job.asset_id or ""))
    assert (asset.type, asset.latest_version) == (type.kind, 1)


def test_two_equal_jobs_both_generate_and_a_step_delivered_twice_runs_once(
    studio: AssetStudio, quick: QuickMakers
) -> None:
    """AC-39, AC-40, AC-41, AC-44, F-AC-4, F-AC-5."""
    robots = project(studio, gates=[])
    first, second = asked(studio, robots), asked(studio, robots)
    work(studio)
    assert [step for step, _ in quick.asked].count("draw") == 2
    for job in (first, second):
        for step in seen(studio, job).steps:
            key = step_key(seen(studio, job).job, step, model_version="quick 1")
            mark = studio.store.get(Idempotency.at(idempotency_key=key))
            assert 24 * 3600 <= mark.ttl - mark.created_at.timestamp() <= 72 * 3600
            before = mark.model_copy(update={"status": OnceStatus.IN_PROGRESS, "result": None})
            again = begin(studio.store, before, owner="another", period=timedelta(minutes=1))
            assert isinstance(again, Replay)
            assert (again.result or {})["artifacts"] == step.artifacts
            assert (again.result or {})["checksums"] == step.checksums


def test_who_decides_second_is_told_by_whom_and_when(anywhere: AssetStudio) -> None:
    """AC-50: one wins; the other learns who did."""
    studio = anywhere
    job = asked(studio, project(studio))
    work(studio)
    step = waiting(studio, job)
    seen_by_both = looked_at(step)
    reviews.approve(studio, job.job_id, round=step.round, checksums=seen_by_both, notes=None, by="ann")
    with pytest.raises(ReviewOver, match=r"ann has approved run 1 of refine at 2037-01-29 08:00:00 UTC"):
        reviews.reject(studio, job.job_id, round=step.round, checksums=seen_by_both, notes="no", by="bob")
    work(studio)
    assert [s.approved_by for s in seen(studio, job).steps if s.step_name is StepName.REFINE] == ["ann"]


def test_a_decision_is_about_the_files_that_were_seen(studio: AssetStudio) -> None:
    """AC-50: another file, or not all of them, is no decision."""
    job = asked(studio, project(studio))
    work(studio)
    step = waiting(studio, job)
    with pytest.raises(ReviewOver, match="is another file"):
        reviews.approve(studio, job.job_id, round=1, checksums={"refined.png": "0" * 64}, notes=None, by="ann")
    with pytest.raises(ImpossibleAsset, match="send their checksums"):
        reviews.approve(studio, job.job_id, round=1, checksums={}, notes=None, by="ann")
    with pytest.raises(ReviewOver, match="no decision about run 7"):
        reviews.approve(studio, job.job_id, round=7, checksums=looked_at(step), notes=None, by="ann")
    assert waiting(studio, job) == step


def test_a_file_that_was_exchanged_is_not_built_upon(studio: AssetStudio) -> None:
    """What a person approved is what the next stage gets, or it fails and says so."""
    job = asked(studio, project(studio))
    work(studio)
    step = waiting(studio, job)
    studio.objects.put(step.artifacts[0], BytesIO(b'{"another": "picture"}'))
    approve(studio, job)
    work(studio)
    failed = seen(studio, job).job
    assert failed.status is Status.FAILED
    assert "not what it was when it was made" in (failed.error or {})["message"]


def test_changed_inputs_reach_whoever_makes_it(studio: AssetStudio, quick: QuickMakers) -> None:
    job = asked(studio, project(studio), seed=3)
    work(studio)
    inputs = ChangedInputs(prompt={"details": "with goggles"}, constraints={"poly_count_budget": 800}, seed=9)
    reject(studio, job, inputs=inputs, back_to=StepName.TEXT_TO_IMAGE)
    finished(studio, job)
    last = dict(quick.asked)
    assert ("with goggles" in last["draw"].details, last["retopo"].poly_budget) == (True, 800)
    with pytest.raises(ImpossibleAsset, match="poly_count_budget"):
        jobs.resume(
            studio,
            job.job_id,
            from_step=StepName.RETOPO,
            inputs=ChangedInputs(constraints={"poly_count_budget": 1}),
            by="ann",
        )


def test_made_again_it_is_the_next_version_of_the_same_asset(studio: AssetStudio, quick: QuickMakers) -> None:
    """AC-5, AC-16, F-AC-3: and it tells which it was made from."""
    job = asked(studio, project(studio, gates=[]), seed=3)
    work(studio)
    again = jobs.make_again(studio, job.job_id, by="ann")
    work(studio)
    assert (again.asset_id, seen(studio, again).job.version) == (job.asset_id, 2)
    second = library.find_version(studio.store, job.asset_id or "", 2)
    assert (second.metadata["provenance"]["parent_version"], second.metadata["provenance"]["seed"]) == (1, 4)
    latest = studio.store.first(AssetVersion.of_asset(project_id=job.project_id, asset_id=job.asset_id or ""))
    assert latest is not None
    assert latest.version == 2


def test_a_prompt_with_a_forbidden_word_is_not_made(studio: AssetStudio) -> None:
    robots = project(studio)
    creative_projects.change_project(studio, robots.project_id, {"forbidden_words": ["Blood bath"]}, by="root")
    for concept in ("a BLOOD  bath", "bl\u00f3od-bath, with robots"):
        with pytest.raises(UnsafePrompt, match="'Blood bath'"):
            asked(studio, robots, concept)
    assert list(studio.store.find(Job.of_project(project_id=robots.project_id))) == []
    job = asked(studio, robots, "a bloodhound in a bath")
    work(studio)
    with pytest.raises(UnsafePrompt):
        reject(studio, job, notes="more blood bath")
    assert waiting(studio, job).step_name is StepName.REFINE


def test_a_review_that_is_overdue_is_told_once(anywhere: AssetStudio) -> None:
    studio = anywhere
    job = asked(studio, project(studio))
    work(studio)
    reviews.assign(studio, job.job_id, assignee="bob", due_at=BEGUN + timedelta(hours=1), by="ann")
    assert reviews.remind(studio) == 0
    later(studio, hours=2)
    assert (reviews.remind(studio), reviews.remind(studio)) == (1, 0)
    (told,) = [message for message in _messages(studio) if message.type == "review.overdue"]
    assert (told.payload["assignee"], told.payload["job_id"]) == ("bob", job.job_id)
    approve(studio, job, by="bob")


def test_everything_of_a_project_goes_with_it(studio: AssetStudio) -> None:
    robots = project(studio, gates=[StepName.RIG])
    job = asked(studio, robots)
    work(studio)
    with pytest.raises(NotIdle, match=f"job {job.job_id} of project {robots.project_id} is paused; cancel it first"):
        removal.delete_project(studio, robots.project_id, by="root")
    finished(studio, job)
    other = asked(studio, robots)
    work(studio)
    jobs.cancel(studio, other.job_id, by="ann")
    later(studio, days=3650)  # files have the time of the disk
    removal.delete_project(studio, robots.project_id, by="root")
    left = [
        record
        for query in (
            Job.of_project(project_id=robots.project_id),
            Asset.of_project(project_id=robots.project_id),
            Step.of_job(job_id=job.job_id),
            Step.of_job(job_id=other.job_id),
        )
        for record in studio.store.find(query)
    ]
    assert left == []
    settle_released(
        studio.store, studio.objects, Trash(studio.objects, studio.store.clock), References(studio.store, [DOMAIN])
    )
    assert [found.key for found in every(studio.objects) if found.key.startswith("assets/")] == []
