"""Looking at declarations and records, and moving them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import Role, Store
from penstock.auth.doors import check_move
from penstock.declare.rendering import rendered
from penstock.declare.rights import move_permission
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.bookkeeping import Audit, Outbox
from penstock.domains.assetcreator.model import Job
from penstock.domains.assetcreator.stages import AssetType, StepName
from penstock.domains.novae.model import Nova
from penstock.domains.speech.model import SpeechJob
from penstock.domains.videos.model import Video
from penstock.errors import NotPermitted
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.kernel.outbox import MessageStatus
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.working import WORKING
from tests.cli.conftest import Penstock

EIGHT = datetime(2026, 1, 29, 8, tzinfo=UTC)
NOVA, OTHER = UUID(int=1), UUID(int=2)


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


def nova() -> Nova:
    return Nova(
        nova_id=NOVA,
        preferred_name="V1324 Sco",
        normalized_preferred_name="v1324 sco",
        created_at=EIGHT,
        updated_at=EIGHT,
    )


@pytest.fixture
def open_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moves of novae are an action's, as they do more; here they are what they would be of a simpler record."""
    for name in ("merge", "deprecate"):
        monkeypatch.setattr(Nova.__moves__[name], "by", Role.EDITOR)


@pytest.mark.usefixtures("open_moves")
def test_move_makes_a_declared_move_and_writes_down_who_and_why(penstock: Penstock, store: Store) -> None:
    store.create(nova())
    asked = ("move", "novae.Nova", "merge", f"nova_id={NOVA}", f"into={OTHER}")
    told = penstock(*asked, "--by", "ann", "--why", "she asked", "--json").json
    assert told == [{"status": "MERGED"}]
    assert store.get(nova().ref).merged_into == OTHER
    (line,) = store.find(SystemAudit.of_project(project_id=EVERYWHERE))
    assert (line.actor, line.details["why"]) == ("ann", "she asked")


def test_when_and_by_whom_a_move_is_made_is_filled_in(penstock: Penstock, store: Store, monkeypatch: Any) -> None:
    """As in the API. No move of a shipped system that is a person's takes them, so one is opened here."""
    monkeypatch.setattr(Job.__moves__["advance"], "by", Role.ADMIN)
    store.create(running := job().start(at=EIGHT))
    asked = ("move", "assetcreator.Job", "advance", "project_id=p1", "job_id=job_1")
    assert "advance takes step; 'at=x' is none of it" in penstock(*asked, "at=x").err
    assert penstock(*asked, "step=retopo").code == 0
    moved = store.get(running.ref)
    assert (moved.current_step, moved.updated_at > EIGHT + timedelta(days=1)) == (StepName.RETOPO, True)
    (line,) = store.find(Audit.of_project(project_id="p1"))
    assert line.actor == "penstock move"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("merge",), "merge needs into, each as name=value"),
        (("merge", "into=nowhere"), "into='nowhere': Input should be a valid UUID"),
        (("merge", "unto=x"), "merge takes into; 'unto=x' is none of it"),
        (("deprecate", "at=2026-01-01T00:00:00Z"), "deprecate takes nothing beside the key"),
        (("deprecat",), 'novae.Nova has no move "deprecat". Did you mean "deprecate"?'),
    ],
)
@pytest.mark.usefixtures("open_moves")
def test_a_move_that_cannot_be_made_is_answered_in_a_sentence(
    penstock: Penstock, store: Store, words: tuple[str, ...], told: str
) -> None:
    store.create(nova())
    verb, *rest = words
    said = penstock("move", "novae.Nova", verb, f"nova_id={NOVA}", *rest)
    assert said.code == 2
    assert told in said.err
    assert store.get(nova().ref).status == "ACTIVE"
    assert list(store.find(SystemAudit.of_project(project_id=EVERYWHERE))) == []


@pytest.mark.parametrize(
    ("kind", "verb", "told"),
    [
        ("musicvideo.Project", "complete", "only the system makes the move complete of musicvideo.Project"),
        ("musicvideo.Project", "queue", "ask by POST /api/mv/projects/{project_id}/generate or POST"),
        (
            "assetcreator.Job",
            "approve",
            "only the action review of the domain makes the move approve",
        ),
        ("assetcreator.Outbox", "publish", "only the system"),
        ("work.Task", "revive", "only the system"),
        ("penstock.ApiKey", "revoke", "only the system"),
    ],
)
def test_what_is_not_a_persons_to_move_is_refused_with_the_reason(
    penstock: Penstock, kind: str, verb: str, told: str
) -> None:
    said = penstock("move", kind, verb, "x=1")
    assert (said.code, told in said.err) == (2, True), said.err


def test_no_move_that_is_the_systems_can_be_made_at_the_machine(penstock: Penstock) -> None:
    """Of every declaration there is, drawn from it."""
    refused = 0
    for domain in (*DOMAINS, WORKING, SYSTEM_RECORDS):
        for entity in domain.entities:
            for declared in entity.__moves__.values():
                if not isinstance(move_permission(entity.__shape__, declared), Role):
                    with pytest.raises(NotPermitted, match=r"only the (system|action)"):
                        check_move(entity, declared, Role.ADMIN)
                    refused += 1
    assert refused > 40


def test_bytes_and_sets_are_shown_as_the_service_shows_them(penstock: Penstock, store: Store) -> None:
    made = Video(video_id=uuid4(), user_id="u", created_at=1, title="t", duration=1, tags=frozenset("cab"))
    store.create(made)
    told = penstock("show", "videos.Video", f"video_id={made.video_id}", "--json").json
    assert told["tags"] == ["a", "b", "c"]
    assert told == rendered(made)


def test_what_looks_like_markup_is_shown_as_it_is(penstock: Penstock, store: Store) -> None:
    store.create(
        Outbox(
            event_id="[/x]", type="t", aggregate="a", project_id="p", payload={}, ts=EIGHT, status=MessageStatus.DEAD
        )
    )
    said = penstock("move", "assetcreator.Outbox", "revive", "event_id=[/x]")
    assert (said.code, "[/x]" in said.out) == (0, True), said.err


def test_ls_takes_a_filter_a_choice_of_fields_and_a_count(penstock: Penstock, store: Store) -> None:
    for number in (1, 2, 3):
        store.create(job(number))
    asked = ("ls", "assetcreator.Job.of_project", "project_id=p1")
    late = ("--where", "created_at>2026-01-29T08:01:00Z", "--where", "status=pending")
    told = penstock(*asked, *late, "--fields", "job_id,status", "--count", "1", "--json").json
    assert told["items"] == [{"job_id": "job_2", "status": "pending"}, {"job_id": "job_3", "status": "pending"}]
    assert (told["examined"], told["count"]) == (3, {"number": 1, "more": True})
    shown = penstock(*asked, *late, "--count", "10").out
    assert "2 in all." in shown
    wrong = penstock(*asked, "--where", "size>1")
    assert wrong.code != 0
    assert "Job has no field 'size'" in wrong.err + wrong.out


def test_ls_names_what_cannot_be_read_beside_the_others(penstock: Penstock, store: Store) -> None:
    for number in (1, 2):
        store.create(job(number))
    connector: Any = store.engine.connector  # type: ignore[attr-defined]
    connector.run("update assetcreator_jobs set current_step = 'nonsense' where id = 'job_1'", ())
    asked = ("ls", "assetcreator.Job.of_project", "project_id=p1")
    told = penstock(*asked, "--json").json
    assert [j["job_id"] for j in told["items"]] == ["job_2"]
    assert [u["record"] for u in told["unreadable"]] == ["Job(project_id=p1, job_id=job_1)"]
    assert "Cannot be read: Job(project_id=p1, job_id=job_1)" in " ".join(penstock(*asked).out.split())


def test_ls_filters_by_nothing_personal_unless_told_to(penstock: Penstock) -> None:
    asked = ("ls", "speech.SpeechJob.of_date", "date=2026-01-29")
    for more in (("--where", "text=x"), ("--fields", "text")):
        refused = penstock(*asked, *more)
        assert refused.code != 0
        assert "--personal" in refused.err + refused.out


def test_explain_tells_what_a_filter_some_fields_and_a_count_cost(penstock: Penstock) -> None:
    asked = ("explain", "videos.Video.by_user", "user_id=u", "--where", "duration>=60", "--fields", "title")
    told = penstock(*asked, "--json").json
    assert told["dynamodb"]["FilterExpression"] == "#n0 >= :v0"
    assert "title" in told["dynamodb"]["ExpressionAttributeNames"].values()
    assert told["dynamodb"]["ProjectionExpression"]
    assert "row_number()" in told["postgresql"]["statement"]
    assert "whether the filter holds of it or not" in told["cost"]["examined"]
    assert told["cost"]["units"].startswith("0.5 for each 4 KB")
    counted = penstock("explain", "videos.Video.by_user", "user_id=u", "--count", "100", "--json").json
    assert counted["sqlite"]["statement"].startswith("select count(*)")
    assert counted["sqlite"]["parameters"][-1] == "101"
    assert "cost" in penstock(*asked).out


# Histories


def test_history_shows_what_became_of_a_record_in_a_readable_table(penstock: Penstock, store: Store) -> None:
    key = ("assetcreator.Job", "project_id=p1", "job_id=job_1")
    with store.change(by="ann", why="a first try, and\na long reason " + "x" * 100) as change:
        change.create(job())
    with store.change(by="task:assetcreator.run") as change:
        change.save(running := change.get(job().ref).start(at=EIGHT))
        change.emit("job.started", running)
        change.emit("job.seen", running)
    told = penstock("history", *key)
    lines = [line for line in told.out.splitlines() if "│" in line]
    assert "status: pending → running" in lines[0]
    assert "job.started" in lines[0]
    assert "job.seen" in lines[1]
    assert "status: - → pending" in lines[2]
    assert "a first try, and a long reason" in lines[2]
    assert len(lines) == 3
    oldest = penstock("history", *key, "--oldest-first", "--limit", "1")
    assert "pending → running" not in oldest.out
    cursor = oldest.out.split("--cursor ")[1].strip()
    rest = penstock("history", *key, "--oldest-first", "--limit", "1", "--cursor", cursor, "--details")
    assert rest.out.count("pending") == 3, "of the job, and of both messages"
    assert "pending → running" in rest.out


def test_history_for_programs_tells_all_there_is(penstock: Penstock, store: Store) -> None:
    with store.change(by="ann", why="so") as change:
        change.create(job())
    told = penstock(
        "history", "assetcreator.Job", "project_id=p1", "job_id=job_1", "--json", "--until", "2100-01-01"
    ).json
    (entry,) = told["items"]
    assert told["next"] is None
    assert (entry["by"], entry["does"], entry["why"]) == ("ann", "create", "so")
    assert entry["moved"] == {"status": [None, "pending"]}
    assert entry["source"].startswith("Audit(project_id=p1, ts=")


def test_history_refuses_what_it_cannot_read(penstock: Penstock, store: Store) -> None:
    asked = ("history", "assetcreator.Job", "project_id=p1", "job_id=job_1")
    assert "No history." in penstock(*asked).out
    assert "since='soon' is not an instant" in penstock(*asked, "--since", "soon").err
    assert "not one of this history" in penstock(*asked, "--cursor", "x").err
    assert "has no history of its own" in penstock("history", "Task", "task_id=t").err
