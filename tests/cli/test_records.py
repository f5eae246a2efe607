"""Looking at declarations and records, and moving them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from penstock import Store
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.model import AssetType, Audit, Job, StepName
from penstock.domains.speech.model import SpeechJob
from penstock.kernel.audit import SystemAudit
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.domain import WORKING
from tests.cli.conftest import Penstock

EIGHT = datetime(2026, 1, 29, 8, tzinfo=UTC)


def job(number: int = 1, project: str = "p1") -> Job:
    at = EIGHT + timedelta(minutes=number)
    return Job(
        project_id=project,
        job_id=f"job_{number}",
        asset_type=AssetType.CHARACTER_3D,
        current_step=StepName.TEXT_TO_IMAGE,
        created_at=at,
        updated_at=at,
    )


# Declarations: no database is needed


def test_patterns_lists_every_access_pattern(penstock: Penstock) -> None:
    told = penstock("patterns", "--json").json
    every = {p.label for d in (*DOMAINS, WORKING, SYSTEM_RECORDS) for p in d.patterns}
    assert {p["pattern"] for p in told} == every, "also the system's own: ls takes them too"
    assert all(p["answers"] for p in told), "a pattern says what it answers"


def test_patterns_of_one_domain(penstock: Penstock) -> None:
    told = penstock("patterns", "musicvideo")
    assert told.code == 0
    assert "status-created-index" in told.out
    assert "speech" not in told.out


def test_explain_shows_the_request_and_the_sql_without_a_database(penstock: Penstock) -> None:
    project = "550e8400-e29b-41d4-a716-446655440000"
    asked = ("explain", "musicvideo.Scene.of_project", f"project_id={project}")
    told = penstock(*asked, "--json").json
    request = told["dynamodb"]
    assert request["TableName"] == "MVProjects"
    assert {"S": f"PROJECT#{project}"} in request["ExpressionAttributeValues"].values()
    assert 'order by r."sequence"' in told["postgresql"]["statement"]
    assert told["sqlite"]["parameters"][0] == project
    shown = penstock(*asked).out
    assert f"  {told['postgresql']['statement']}\n" in shown, "in one line, to be copied"
    assert '"TableName": "MVProjects"' in shown


def test_explain_takes_ranges(penstock: Penstock) -> None:
    asked = ("explain", "videos.Video.by_user", "user_id=u", "created_at=1717645000..1717645400")
    told = penstock(*asked, "--json").json
    assert told["dynamodb"]["IndexName"] == "UserIdIndex"
    assert {"N": "1717645000"} in told["dynamodb"]["ExpressionAttributeValues"].values()


# Records


def test_ls_lists_a_page_and_goes_on(penstock: Penstock, store: Store) -> None:
    for number in (1, 2, 3):
        store.create(job(number))
    asked = ("ls", "assetcreator.Job.of_project", "project_id=p1", "--limit", "2")
    first = penstock(*asked, "--json").json
    assert [j["job_id"] for j in first["items"]] == ["job_1", "job_2"]
    second = penstock(*asked, "--json", "--cursor", first["next"]).json
    assert [j["job_id"] for j in second["items"]] == ["job_3"]
    assert second["next"] is None
    shown = penstock(*asked).out
    assert "job_1" in shown
    assert "job_3" not in shown
    cursor = shown.split("More: --cursor ")[1].strip()
    assert "job_3" in penstock(*asked, "--cursor", cursor).out, "and what it says can be used as it stands"
    assert penstock("ls", "assetcreator.Job.of_project", "project_id=p2").out == "Nothing.\n"


def test_show_tells_all_of_a_record(penstock: Penstock, store: Store) -> None:
    store.create(job())
    asked = ("show", "assetcreator.Job", "project_id=p1", "job_id=job_1")
    told = penstock(*asked, "--json").json
    assert (told["status"], told["created_at"]) == ("pending", "2026-01-29T08:01:00Z")
    assert "│ status " in penstock(*asked).out
    missing = penstock("show", "assetcreator.Job", "project_id=p1", "job_id=job_9")
    assert missing.code == 2
    assert "there is no Job(project_id=p1, job_id=job_9)" in missing.err


def test_what_is_personal_is_shown_when_it_is_asked_for(penstock: Penstock, store: Store) -> None:
    now = store.clock.now()
    spoken = SpeechJob.begun(uuid4(), at=now, text="swordfish", voice_id="v", ip_address="203.0.113.9")
    store.create(spoken)
    listed = ("ls", "speech.SpeechJob.of_date", f"date={spoken.date}")
    shown = ("show", "speech.SpeechJob", f"date={spoken.date}", f"job_id={spoken.job_id}")
    for asked in (listed, shown):
        for form in ((), ("--json",)):
            told = penstock(*asked, *form)
            assert (told.code, str(spoken.job_id) in told.out) == (0, True)
            assert "swordfish" not in told.out
            assert "203.0.113.9" not in told.out
            told = penstock(*asked, *form, "--personal")
            assert "swordfish" in told.out
            assert "203.0.113.9" in told.out
    assert "--personal" in penstock("ls", "--help").out


def test_what_is_written_in_a_record_is_shown_as_it_is(penstock: Penstock, store: Store) -> None:
    """A terminal's markup in it neither styles nor breaks the table."""
    store.create(job(project="[/red]"))
    assert "[/red]" in penstock("ls", "assetcreator.Job.of_project", "project_id=[/red]").out
    assert "[/red]" in penstock("show", "assetcreator.Job", "project_id=[/red]", "job_id=job_1").out
    refused = penstock("show", "assetcreator.Job", "project_id=[/red]", "job_id=[bold]")
    assert "[bold]" in refused.err


def test_move_makes_a_declared_move_and_writes_down_who_and_why(penstock: Penstock, store: Store) -> None:
    store.create(job())
    asked = ("move", "assetcreator.Job", "advance", "project_id=p1", "job_id=job_1")
    told = penstock("move", "assetcreator.Job", "start", *asked[3:], "--by", "ann", "--why", "she asked", "--json").json
    assert told == [{"status": "running"}]
    moved = store.get(job().ref)
    assert moved.status == "running"
    assert moved.updated_at > EIGHT + timedelta(days=1), "when is filled in, as in the API"
    (line,) = store.find(Audit.of_project(project_id="p1"))
    assert (line.actor, line.details["why"]) == ("ann", "she asked")
    assert penstock(*asked, "step=retopo").code == 0
    assert store.get(job().ref).current_step == StepName.RETOPO


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("Job", "advance"), "advance needs step, each as name=value"),
        (("Job", "advance", "step=nowhere"), "step='nowhere': Input should be 'text-to-image'"),
        (("Job", "advance", "stop=retopo"), "advance takes step; 'stop=retopo' is none of it"),
        (("Job", "finish", "at=2026-01-01T00:00:00Z"), "finish takes nothing beside the key"),
        (("Job", "aprove"), 'assetcreator.Job has no move "aprove". Did you mean "approve"?'),
        (("Job", "approve"), "approve"),
        (("Audit", "approve"), "it is not moved by hand"),
        (("Outbox", "revive"), "it is not moved by hand"),
    ],
)
def test_a_move_that_cannot_be_made_is_answered_in_a_sentence(
    penstock: Penstock, store: Store, words: tuple[str, ...], told: str
) -> None:
    store.create(job())
    kind, verb, *rest = words
    said = penstock("move", f"assetcreator.{kind}", verb, "project_id=p1", "job_id=job_1", *rest)
    assert said.code == 2
    assert told in said.err
    assert store.get(job().ref).status == "pending"
    assert list(store.find(SystemAudit.of_project(project_id="p1"))) == []


def test_what_has_consequences_elsewhere_is_not_moved_by_hand(penstock: Penstock, store: Store) -> None:
    for kind, verb in (("musicvideo.Project", "queue"), ("work.Task", "revive"), ("penstock.ApiKey", "revoke")):
        said = penstock("move", kind, verb, "x=1")
        assert (said.code, "not moved by hand" in said.err) == (2, True)


def test_what_looks_like_markup_is_shown_as_it_is(penstock: Penstock, store: Store) -> None:
    store.create(job(project="[/x]"))
    said = penstock("move", "assetcreator.Job", "start", "project_id=[/x]", "job_id=job_1")
    assert (said.code, "[/x]" in said.out) == (0, True), said.err
