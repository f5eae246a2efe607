"""The API under /api/ac, as viewers, editors and administrators meet it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from io import BytesIO
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from penstock import FrozenClock, Store
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.bookkeeping import Audit, Outbox
from penstock.domains.assetcreator.model import Job, Project
from penstock.domains.assetcreator.project_quotas import LIMITS
from penstock.kernel.outbox import MessageStatus
from penstock.schema.role import Role
from penstock.work.working import WORKING
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.story import work
from tests.domains.assetcreator.web_story import (
    HERE,
    ROBOT,
    asked,
    begun,
    client_of,
    decided,
    decision,
    finished,
    picture,
    runs,
    seen,
    service,
    told,
    wanted,
)
from tests.domains.test_assetcreator_model import JOB_ITEM

MORE_THAN_THE_DOCUMENTS = {"asset_id", "request"}
"What the item of a job has besides the document's example: of which asset it makes a version, and what was asked for."


@pytest.fixture
def api(studio: AssetStudio) -> Any:
    return service(studio)


@pytest.fixture
def editor(api: Any, studio: AssetStudio) -> TestClient:
    return client_of(api, studio, Role.EDITOR)


@pytest.fixture
def admin(api: Any, studio: AssetStudio) -> TestClient:
    return client_of(api, studio, Role.ADMIN)


@pytest.fixture
def viewer(api: Any, studio: AssetStudio) -> TestClient:
    return client_of(api, studio, Role.VIEWER)


def kind_of(answer: Any) -> str:
    return str(answer.json()["type"].rpartition("/")[2])


# The story


def test_the_whole_way_through_the_api(anywhere: AssetStudio, quick: QuickMakers) -> None:
    """AC-22, AC-46, AC-47, AC-50, F-AC-8, F-AC-12: asked for, rejected with notes, approved, found, and taken away."""
    studio, api = anywhere, service(anywhere)
    ann, bob, eve = (client_of(api, studio, role) for role in (Role.EDITOR, Role.EDITOR, Role.VIEWER))
    project = begun(ann, style_profile={"palette": ["#d04a2f"], "style": "hand-painted"})
    job = asked(ann, project, seed=7)
    assert (job["status"], job["current_step"], job["steps"][0]["status"]) == ("pending", "text-to-image", "pending")
    work(studio)
    (waiting,) = told(eve.get("/api/ac/reviews", params={"project_id": project}))["items"]
    assert (waiting["job_id"], waiting["step_name"], waiting["metrics"]["faces"]) == (job["job_id"], "refine", 12)
    decided(bob, job["job_id"], "rejected", notes="a longer scarf", back_to="text-to-image", inputs={"seed": 9})
    done = finished(ann, studio, job["job_id"])
    assert runs(done)[:4] == [
        *(("text-to-image", "done"), ("refine", "rejected"), ("text-to-image", "done"), ("refine", "approved")),
    ]
    assert (done["status"], done["version"], done["review"]) == ("done", 1, None)
    rejected = done["steps"][1]
    assert (rejected["notes"], rejected["approved_by"][:6]) == ("a longer scarf", "editor")
    assert rejected["decided_at"] is not None
    assert "a longer scarf" in quick.asked[2][1].details

    (listed,) = told(eve.get(f"/api/ac/projects/{project}/assets"))["items"]
    assert (listed["name"], listed["type"], listed["latest_version"]) == (ROBOT, "3D", 1)
    path = f"/api/ac/assets/{job['asset_id']}/versions/1"
    version = told(eve.get(path))
    assert [file["name"] for file in version["files"]] == ["asset.glb", "thumbnail.png"]
    if studio.objects.__class__.__name__ == "LocalObjects":  # the service itself serves these
        for file in version["files"]:
            got = eve.get(file["url"].removeprefix(HERE))
            assert (got.status_code, sha256(got.content).hexdigest()) == (200, file["sha256"])
    zipped = eve.get(f"{path}/zip")
    assert (zipped.status_code, zipped.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(BytesIO(zipped.content)) as packed:
        assert {name: sha256(packed.read(name)).hexdigest() for name in packed.namelist()} == {
            file["name"]: file["sha256"] for file in version["files"]
        }
    assert eve.get(f"{path}/zip").content == zipped.content
    _assert_told_and_audited(studio, project)


def _assert_told_and_audited(studio: AssetStudio, project: str) -> None:
    lines = list(studio.store.find(Audit.of_project(project_id=project)))
    exports = [line for line in lines if line.actor.startswith("viewer")]
    assert [line.details["why"] for line in exports] == ["export as URLs", "export as zip", "export as zip"]
    events = [m.type for m in studio.store.find(Outbox.by_status(status=MessageStatus.PENDING))]
    assert events.count("AssetExported") == 3
    assert events.count("UserReviewUpdated") == 5
    records = [*studio.store.find(Job.of_project(project_id=project)), *lines]
    assert not any("signature" in record.model_dump_json().lower() for record in records)


def test_the_item_of_a_new_job_is_the_documents(
    dynamo: Store, raw_table: Callable[[str], Any], studio: AssetStudio, clock: FrozenClock
) -> None:
    """AC-3, AC-12, AC-20, AC-24: through the route, attribute for attribute, and a listed few more."""
    here = AssetStudio(dynamo, studio.objects, studio.makers)
    dynamo.ensure(WORKING)
    editor = client_of(service(here), here, Role.EDITOR)
    project = begun(editor)
    job = asked(editor, project)

    def item() -> dict[str, Any]:
        key = {"PK": f"PROJECT#{project}", "SK": f"JOB#{job['job_id']}"}
        found: dict[str, Any] = raw_table("asset_creator").get_item(Key=key)["Item"]
        return found

    new = item()
    assert new.keys() - JOB_ITEM.keys() == MORE_THAN_THE_DOCUMENTS
    at = "2037-01-29T08:00:00Z"
    assert {name: new[name] for name in JOB_ITEM} == {
        "PK": f"PROJECT#{project}",
        "SK": f"JOB#{job['job_id']}",
        "asset_type": "3D_CHARACTER",
        "status": "pending",
        "current_step": "text-to-image",
        "created_at": at,
        "updated_at": at,
        "GSI1PK": "JOB_STATUS#pending",
        "GSI1SK": at,
    }
    clock.advance(timedelta(minutes=15))
    work(here)
    waits = item()
    assert waits.keys() - JOB_ITEM.keys() == MORE_THAN_THE_DOCUMENTS
    assert (waits["status"], waits["GSI1PK"], waits["GSI1SK"]) == (
        *("paused", "JOB_STATUS#paused", "2037-01-29T08:15:00Z"),
    )
    told(editor.post(f"/api/ac/jobs/{job['job_id']}/cancel"))
    assert item().keys() - JOB_ITEM.keys() == MORE_THAN_THE_DOCUMENTS | {"error", "seconds"}


def test_lists_show_what_a_version_is_and_only_asking_for_it_hands_it_out(
    editor: TestClient, studio: AssetStudio
) -> None:
    """AC-47: what opens a file of the library by itself is not given away unaudited."""
    job = finished(editor, studio, asked(editor, begun(editor, gates=[]))["job_id"])
    path = f"/api/ac/assets/{job['asset_id']}"
    for versions in (told(editor.get(path))["versions"], told(editor.get(f"{path}/versions"))["items"]):
        (only,) = versions
        assert {file["name"]: file["url"] is None for file in only["files"]} == {
            "asset.glb": True,
            "thumbnail.png": False,
        }
    assert all(file["url"] for file in told(editor.get(f"{path}/versions/1"))["files"])
    exported = seen(editor, job["job_id"])["steps"][-1]
    assert {file["name"]: file["url"] is None for file in exported["artifacts"]} == {
        "asset.glb": True,
        "thumbnail.png": False,
    }


def test_a_picture_shows_what_is_meant(editor: TestClient, studio: AssetStudio, quick: QuickMakers) -> None:
    project, other = begun(editor, gates=[]), begun(editor)
    path = f"/api/ac/projects/{project}/references"
    sent = told(editor.post(path, files={"file": ("robot.png", picture(), "image/png")}), 201)
    asked(editor, project, reference_id=sent["reference_id"])
    work(studio)
    assert quick.asked[0][1].reference is not None
    fake = editor.post(path, files={"file": ("robot.png", b"no picture" * 99, "image/png")})
    assert (fake.status_code, kind_of(fake)) == (422, "unusable-file")
    for foreign in (
        editor.post("/api/ac/jobs", json=wanted(other, reference_id=sent["reference_id"])),
        editor.post("/api/ac/jobs", json=wanted(project, reference_id="ref_none")),
    ):
        assert (foreign.status_code, kind_of(foreign)) == (404, "not-found")


def test_made_again_resumed_and_cancelled(editor: TestClient, studio: AssetStudio) -> None:
    project = begun(editor, gates=["refine"])
    first = finished(editor, studio, asked(editor, project, seed=2**31 - 1)["job_id"])
    again = told(editor.post(f"/api/ac/jobs/{first['job_id']}/again"), 201)
    assert (again["asset_id"], again["request"]["seed"]) == (first["asset_id"], 0)
    second = finished(editor, studio, again["job_id"])
    assert second["version"] == 2
    third = told(editor.post(f"/api/ac/jobs/{first['job_id']}/again", json={"seed": 5}), 201)
    work(studio)
    cancelled = told(editor.post(f"/api/ac/jobs/{third['job_id']}/cancel"))
    assert (cancelled["status"], cancelled["error"]["code"]) == ("failed", "CANCELLED")
    assert told(editor.post(f"/api/ac/jobs/{third['job_id']}/cancel"))["status"] == "failed"
    resumed = editor.post(f"/api/ac/jobs/{third['job_id']}/resume", json={"from_step": "refine"})
    assert told(resumed, 202)["status"] == "running"
    running = editor.post(f"/api/ac/jobs/{third['job_id']}/resume", json={"from_step": "refine"})
    assert (running.status_code, kind_of(running)) == (409, "illegal-move")
    assert finished(editor, studio, third["job_id"])["version"] == 3
    versions = told(editor.get(f"/api/ac/assets/{first['asset_id']}/versions"))["items"]
    assert [v["version"] for v in versions] == [3, 2, 1]
    assert versions[1]["metadata"]["provenance"]["parent_version"] == 1


def test_what_is_deleted_is_gone(editor: TestClient, admin: TestClient, studio: AssetStudio) -> None:
    project = begun(editor, gates=[])
    job = finished(editor, studio, asked(editor, project)["job_id"])
    finished(editor, studio, told(editor.post(f"/api/ac/jobs/{job['job_id']}/again"), 201)["job_id"])
    path = f"/api/ac/assets/{job['asset_id']}"
    assert editor.delete(f"{path}/versions/2").status_code == 204
    assert editor.delete(f"{path}/versions/2").status_code == 404
    assert told(editor.get(path))["latest_version"] == 1
    third = finished(editor, studio, told(editor.post(f"/api/ac/jobs/{job['job_id']}/again"), 201)["job_id"])
    assert third["version"] == 3
    waiting = asked(editor, project, asset_type="PROP")
    busy = admin.delete(f"/api/ac/projects/{project}")
    assert (busy.status_code, kind_of(busy)) == (409, "not-idle")
    assert waiting["job_id"] in busy.json()["detail"]
    told(editor.post(f"/api/ac/jobs/{waiting['job_id']}/cancel"))
    assert editor.delete(path).status_code == 204
    assert editor.get(path).status_code == 404
    assert admin.delete(f"/api/ac/projects/{project}").status_code == 204
    for gone in (f"/api/ac/projects/{project}", f"/api/ac/jobs/{job['job_id']}", path):
        assert admin.get(gone).status_code == 404, gone
    assert admin.delete(f"/api/ac/projects/{project}").status_code == 404


def test_somebody_is_to_decide_by_some_time(editor: TestClient, studio: AssetStudio) -> None:
    job = asked(editor, begun(editor))["job_id"]
    early = editor.put(f"/api/ac/jobs/{job}/review", json={"assignee": "bob"})
    assert (early.status_code, kind_of(early)) == (409, "review-over")
    work(studio)
    duty = {"assignee": "bob", "due_at": "2037-01-30T08:00:00Z"}
    review = told(editor.put(f"/api/ac/jobs/{job}/review", json=duty))["review"]
    assert {name: review[name] for name in duty} == duty
    (run,) = told(editor.get("/api/work/jobs"))["items"]
    (why,) = told(editor.get(f"/api/work/jobs/{quote(run['job_id'], safe='')}/why"))["reasons"]
    assert (why["kind"], why["who"], why["until"]) == ("review", "bob", duty["due_at"]), "as the inbox has it"


@pytest.mark.parametrize("duty", [{"assignee": "bob"}, {"due_at": "2037-01-30T08:00:00Z"}])
def test_what_is_said_of_a_review_itself_counts_whoever_else_is_asked_to_look(
    editor: TestClient, studio: AssetStudio, duty: dict[str, str]
) -> None:
    job = asked(editor, begun(editor))["job_id"]
    work(studio)
    (run,) = told(editor.get("/api/work/jobs"))["items"]
    other = {"assignee": "carol", "due_at": "2037-02-01T08:00:00Z", "note": "the left wing"}
    told(editor.post("/api/work/assignments", json={"kind": "work.Job", "key": {"job_id": run["job_id"]}, **other}))
    review = told(editor.get("/api/work/inbox/reviews"))["items"][0]
    assert {name: review[name] for name in ("assignee", "due_at")} == {n: other[n] for n in ("assignee", "due_at")}
    told(editor.put(f"/api/ac/jobs/{job}/review", json=duty))
    review = told(editor.get("/api/work/inbox/reviews"))["items"][0]
    assert (review["assignee"], review["due_at"]) == (duty.get("assignee"), duty.get("due_at"))
    assert review["detail"] == "the left wing"


# Who may


def test_viewers_look_editors_ask_and_decide_administrators_rule(
    viewer: TestClient, editor: TestClient, admin: TestClient, studio: AssetStudio
) -> None:
    """Each route for the role it takes and for no lower one; nothing happens where it is refused."""
    project = begun(editor, gates=["refine"])
    job = asked(editor, project)["job_id"]
    work(studio)
    review = decision(viewer, job)
    for method, path, body in (
        ("POST", "projects", {"name": "Mine"}),
        ("PATCH", f"projects/{project}", {"name": "Mine"}),
        ("POST", "jobs", wanted(project)),
        ("POST", f"jobs/{job}/review", review),
        ("PUT", f"jobs/{job}/review", {"assignee": "me"}),
        ("POST", f"jobs/{job}/cancel", None),
        ("POST", f"jobs/{job}/again", None),
        ("POST", f"jobs/{job}/resume", {"from_step": "refine"}),
        ("DELETE", "assets/any", None),
        ("DELETE", "assets/any/versions/1", None),
        ("POST", "assets/any/versions/1/restore", None),
    ):
        refused = viewer.request(method, f"/api/ac/{path}", json=body)
        assert (refused.status_code, kind_of(refused)) == (403, "forbidden"), path
    rules = {"quotas": {"concurrent_jobs": 1000}}
    for client in (viewer, editor):
        assert client.put(f"/api/ac/projects/{project}/rules", json=rules).status_code == 403
        assert client.delete(f"/api/ac/projects/{project}").status_code == 403
    assert seen(viewer, job)["status"] == "paused"
    ruled = told(admin.put(f"/api/ac/projects/{project}/rules", json=rules))
    assert ruled["quotas"]["concurrent_jobs"] == {"used": 1, "allowed": 1000}
    assert told(viewer.get(f"/api/ac/projects/{project}")) == ruled


def test_rules_are_set_together_or_not_at_all(editor: TestClient, admin: TestClient, studio: AssetStudio) -> None:
    project = begun(editor)
    path = f"/api/ac/projects/{project}/rules"
    told(admin.put(path, json={"quotas": {"concurrent_jobs": 3}, "forbidden_words": ["blood"]}))
    kept = studio.store.get(Project.at(project_id=project))
    assert (kept.quotas["concurrent_jobs"], kept.forbidden_words) == (3, ["blood"])
    for wrong in ({"jobs": 1}, {"concurrent_jobs": -1}, {"concurrent_jobs": 1.5}, {"storage_bytes": "inf"}):
        refused = admin.put(path, json={"quotas": wrong, "forbidden_words": []})
        assert refused.status_code == 422, wrong
    assert studio.store.get(Project.at(project_id=project)) == kept
    told(admin.put(path, json={"forbidden_words": []}))
    assert studio.store.get(Project.at(project_id=project)).quotas == kept.quotas


# Once


def test_each_post_that_is_sent_twice_happens_once(editor: TestClient, studio: AssetStudio) -> None:
    """And is answered both times, with URLs that were signed just now; no other POST is left out."""

    def twice(path: str, **sent: Any) -> dict[str, Any]:
        sent["headers"] = {"Idempotency-Key": f"key of {path}"}
        first, second = (editor.post(f"/api/ac/{path}", **sent) for _ in range(2))
        assert first.status_code == second.status_code < 300, (first.text, second.text)
        assert second.headers["Idempotent-Replayed"] == "true"
        assert first.json() == second.json()
        done.add(path)
        answer: dict[str, Any] = first.json()
        return answer

    done: set[str] = set()
    project = twice("projects", json={"name": "Robots", "gates": ["refine"]})["project_id"]
    assert len(told(editor.get("/api/ac/projects"))["items"]) == 1
    twice(f"projects/{project}/references", files={"file": ("robot.png", picture(), "image/png")})
    job = twice("jobs", json=wanted(project))["job_id"]
    work(studio)
    twice(f"jobs/{job}/review", json=decision(editor, job))
    work(studio)
    again = twice(f"jobs/{job}/again", json={"seed": 3})["job_id"]
    assert len(told(editor.get("/api/ac/jobs", params={"project_id": project}))["items"]) == 2
    twice(f"jobs/{again}/cancel")
    twice(f"jobs/{again}/resume", json={"from_step": "text-to-image"})
    twice(f"assets/{seen(editor, job)['asset_id']}/versions/1/restore")
    known = {project: "{project_id}", job: "{job_id}", again: "{job_id}"}
    templates = {"/".join(known.get(part, part) for part in path.split("/")) for path in done}
    posts = {
        path.removeprefix("/api/ac/")
        for path, methods in editor.get("/openapi.json").json()["paths"].items()
        if path.startswith("/api/ac/") and "post" in methods
    }
    found = {t if not t.startswith("assets/") else "assets/{asset_id}/versions/{version}/restore" for t in templates}
    assert found == posts


# Pages


def test_lists_come_in_pages(editor: TestClient, studio: AssetStudio, clock: FrozenClock) -> None:
    """AC-13, AC-17: nothing twice, nothing left out, and no cursor of another list."""
    projects = []
    for _ in range(3):
        projects.append(begun(editor, gates=[]))
        clock.advance(timedelta(seconds=1))
    project, jobs = projects[0], []
    for kind in ("PROP", "2D_SPRITE", "3D_CHARACTER", "BACKGROUND"):
        jobs.append(asked(editor, project, asset_type=kind))
        work(studio)
        clock.advance(timedelta(seconds=1))

    def paged(path: str, **asking: Any) -> list[dict[str, Any]]:
        found, cursor = [], None
        while True:
            more: dict[str, str] = {} if cursor is None else {"cursor": cursor}
            page = told(editor.get(f"/api/ac/{path}", params={**asking, **more, "limit": 1}))
            assert len(page["items"]) <= 1
            found += page["items"]
            cursor = page["next"]
            if cursor is None:
                return found

    assert [p["project_id"] for p in paged("projects")] == projects[::-1]
    made = sorted(job["job_id"] for job in jobs)
    assert [j["job_id"] for j in paged("jobs", project_id=project)] == made
    assert [j["job_id"] for j in paged("jobs", project_id=project, status="done")] == made
    assert paged("jobs", project_id=project, status="running") == []
    assets = f"projects/{project}/assets"
    assert len(paged(assets)) == 4
    assert [a["asset_type"] for a in paged(assets, type="3D")] == ["3D_CHARACTER", "PROP"]
    assert [a["asset_type"] for a in paged(assets, type="2D")] == ["BACKGROUND", "2D_SPRITE"]
    cursor = told(editor.get("/api/ac/projects", params={"limit": 1}))["next"]
    foreign = editor.get("/api/ac/jobs", params={"project_id": project, "cursor": cursor})
    assert (foreign.status_code, kind_of(foreign)) == (400, "invalid-cursor")
    for limit in (0, 201, "many"):
        assert editor.get("/api/ac/projects", params={"limit": limit}).status_code == 422


# What is not there, and what cannot be


NOT_THERE: list[tuple[str, str, Any]] = [
    ("GET", "projects/none", None),
    ("PATCH", "projects/none", {"name": "Mine"}),
    ("PUT", "projects/none/rules", {"quotas": {}}),
    ("DELETE", "projects/none", None),
    ("GET", "projects/none/assets", None),
    ("GET", "jobs?project_id=none", None),
    ("GET", "reviews?project_id=none", None),
    ("POST", "jobs", wanted("none")),
    ("GET", "jobs/none", None),
    ("POST", "jobs/none/cancel", None),
    ("POST", "jobs/none/again", None),
    ("POST", "jobs/none/resume", {"from_step": "refine"}),
    ("POST", "jobs/none/review", {"decision": "approved", "round": 1, "checksums": {"refined.png": "0" * 64}}),
    ("PUT", "jobs/none/review", {"assignee": "bob"}),
    ("GET", "assets/none", None),
    ("GET", "assets/none/versions", None),
    ("GET", "assets/none/archived", None),
    ("GET", "assets/none/versions/1", None),
    ("GET", "assets/none/versions/1/zip", None),
    ("POST", "assets/none/versions/1/restore", None),
    ("DELETE", "assets/none/versions/1", None),
    ("DELETE", "assets/none", None),
]


def test_what_is_not_there_is_told_so(admin: TestClient) -> None:
    for method, path, body in NOT_THERE:
        answer = admin.request(method, f"/api/ac/{path}", json=body)
        assert answer.status_code == 404, (method, path, answer.text)
        assert answer.json()["hint"]


def test_a_picture_for_a_project_that_is_not_there(admin: TestClient, studio: AssetStudio) -> None:
    answer = admin.post("/api/ac/projects/none/references", files={"file": ("a.png", picture(), "image/png")})
    assert answer.status_code == 404
    assert studio.objects.list().objects == []


IMPOSSIBLE_ASSETS: list[tuple[dict[str, Any], str]] = [
    ({"asset_type": "3D_ROBOT"}, "3D_CHARACTER"),
    ({"prompt": {"core_concept": "  "}}, "prompt.core_concept"),
    ({"prompt": {"core_concept": "x" * 1001}}, "1000"),
    ({"prompt": {"core_concept": "x", "mood": "dark"}}, "mood"),
    ({"constraints": {"poly_count_budget": 10}}, "200"),
    ({"constraints": {"platform": "TOASTER"}}, "MOBILE"),
    ({"seed": -1}, "seed"),
    ({"seed": 2**31}, "seed"),
    ({"colour": "red"}, "colour"),
    ({"asset_type": "PROP", "constraints": {"rig_type": "HUMANOID"}}, "leave rig_type out"),
    ({"asset_type": "2D_SPRITE", "constraints": {"quads": True}}, "leave quads out"),
]


def test_an_asset_that_cannot_be_is_refused_with_what_to_do(editor: TestClient) -> None:
    """And nothing is written, and no place is taken."""
    project = begun(editor)
    for body, words in IMPOSSIBLE_ASSETS:
        refused = editor.post("/api/ac/jobs", json={**wanted(project), **body})
        assert refused.status_code == 422, (body, refused.text)
        assert words in refused.text
        assert refused.json()["hint"]
    assert told(editor.get("/api/ac/jobs", params={"project_id": project}))["items"] == []
    assert told(editor.get(f"/api/ac/projects/{project}"))["quotas"]["concurrent_jobs"]["used"] == 0


IMPOSSIBLE_PROJECTS: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"style_profile": {"palette": ["red"]}}, "#d04a2f"),
    ({"style_profile": {"outline": 2}}, "from 0 to 1"),
    ({"style_profile": {"proportions": "tall"}}, "chibi"),
    ({"style_profile": {"style": ["a"]}}, "in words"),
    ({"style_profile": {"style": "a blood bath"}}, "blood bath"),
    ({"gates": ["export"]}, "refine, retopo, rig, anim"),
    ({"gates": ["paint"]}, "gates"),
]


def test_a_project_that_cannot_be_is_refused_with_what_to_do(studio: AssetStudio) -> None:
    editor = client_of(service(studio, {"AC_FORBIDDEN_WORDS": "blood bath"}), studio, Role.EDITOR)
    project = begun(editor)
    for body, words in IMPOSSIBLE_PROJECTS:
        for refused in (
            editor.post("/api/ac/projects", json={"name": "Robots", **body}),
            editor.patch(f"/api/ac/projects/{project}", json=body),
        ):
            assert refused.status_code == 422, (body, refused.text)
            assert words in refused.text
    assert len(told(editor.get("/api/ac/projects"))["items"]) == 1


def test_the_words_of_a_projects_style_are_looked_at_too(editor: TestClient, admin: TestClient) -> None:
    """Whoever draws is told them, so they are no way around the list."""
    project = begun(editor, style_profile={"style": "a blood bath"})
    told(admin.put(f"/api/ac/projects/{project}/rules", json={"forbidden_words": ["Blood bath"]}))
    refused = editor.post("/api/ac/jobs", json=wanted(project))
    assert (refused.status_code, kind_of(refused)) == (422, "unsafe-prompt")
    told(editor.patch(f"/api/ac/projects/{project}", json={"style_profile": {"style": "a bath"}}))
    asked(editor, project)


IMPOSSIBLE_DECISIONS: list[tuple[dict[str, Any], int, str]] = [
    ({"round": 2}, 409, "no decision about run 2"),
    ({"checksums": {"refined.png": "0" * 64}}, 409, "another file"),
    ({"checksums": {}}, 422, "checksums"),
    ({"decision": "perhaps"}, 422, "approved"),
    ({"back_to": "text-to-image"}, 422, "leave back_to and inputs out"),
    ({"decision": "rejected", "back_to": "export"}, 422, "comes after"),
    ({"decision": "rejected", "back_to": "paint"}, 422, "back_to"),
    ({"decision": "rejected", "inputs": {"seed": -4}}, 422, "seed"),
    ({"decision": "rejected", "inputs": {"prompt": {"core_concept": ""}}}, 422, "core_concept"),
    ({"decision": "rejected", "inputs": {"constraints": {"legs": 3}}}, 422, "legs"),
    ({"decision": "rejected", "notes": "x" * 1001}, 422, "notes"),
]


def test_a_decision_that_cannot_be_decides_nothing(editor: TestClient, studio: AssetStudio) -> None:
    job = asked(editor, begun(editor))["job_id"]
    work(studio)
    before = seen(editor, job)
    for change, status, words in IMPOSSIBLE_DECISIONS:
        refused = editor.post(f"/api/ac/jobs/{job}/review", json={**decision(editor, job), **change})
        assert refused.status_code == status, (change, refused.text)
        assert words in refused.text
        assert runs(seen(editor, job)) == runs(before)


def test_whoever_decides_second_is_told_who_was_first(api: Any, editor: TestClient, studio: AssetStudio) -> None:
    """AC-50: by whom, and when."""
    job = asked(editor, begun(editor))["job_id"]
    work(studio)
    both = decision(editor, job)
    decided(editor, job)
    late = client_of(api, studio, Role.EDITOR).post(f"/api/ac/jobs/{job}/review", json={**both, "decision": "rejected"})
    assert (late.status_code, kind_of(late)) == (409, "review-over")
    assert "has approved run 1 of refine at 2037-01-29 08:00:00 UTC" in late.json()["detail"]


def test_a_job_goes_back_to_its_own_steps_only(editor: TestClient, studio: AssetStudio) -> None:
    job = finished(editor, studio, asked(editor, begun(editor, gates=[]), asset_type="PROP")["job_id"])["job_id"]
    refused = editor.post(f"/api/ac/jobs/{job}/resume", json={"from_step": "rig"})
    assert refused.status_code == 422, refused.text
    rigged = {"from_step": "refine", "inputs": {"constraints": {"rig_type": "QUADRUPED"}}}
    refused = editor.post(f"/api/ac/jobs/{job}/resume", json=rigged)
    assert refused.status_code == 422, refused.text
    assert "is not rigged" in refused.text
    assert seen(editor, job)["status"] == "done"


# Quotas


def test_a_job_beyond_the_quota_is_refused_with_what_would_help(
    anywhere: AssetStudio,
) -> None:
    """AC-51: what is used, what is allowed, and what to do; after that there is room."""
    studio, api = anywhere, service(anywhere)
    editor, admin = client_of(api, studio, Role.EDITOR), client_of(api, studio, Role.ADMIN)
    project = begun(editor)
    rules = f"/api/ac/projects/{project}/rules"
    told(admin.put(rules, json={"quotas": {"concurrent_jobs": 2}}))
    first, second = (asked(editor, project)["job_id"] for _ in range(2))
    work(studio)  # both wait at a gate, and keep their places
    refused = editor.post("/api/ac/jobs", json=wanted(project))
    assert (refused.status_code, kind_of(refused)) == (429, "quota-exceeded")
    assert f"2 of 2 unfinished jobs are in use of project {project}" in refused.json()["detail"]
    for word in ("Cancel a job", "decide a review", "ask an administrator"):
        assert word in refused.json()["hint"]
    assert int(refused.headers["Retry-After"]) > 0
    for route in (f"jobs/{first}/again",):
        assert editor.post(f"/api/ac/{route}").status_code == 429
    told(editor.post(f"/api/ac/jobs/{first}/cancel"))
    assert told(editor.get(f"/api/ac/projects/{project}"))["quotas"]["concurrent_jobs"] == {"used": 1, "allowed": 2}
    asked(editor, project)
    assert editor.post(f"/api/ac/jobs/{first}/resume", json={"from_step": "refine"}).status_code == 429
    finished(editor, studio, second)
    told(editor.post(f"/api/ac/jobs/{first}/resume", json={"from_step": "refine"}), 202)


def test_a_quota_that_no_job_fits_into_is_told_so(editor: TestClient, admin: TestClient) -> None:
    """Waiting would not help, and whoever asks is not told that it would."""
    for quota in LIMITS:
        _assert_too_small(editor, admin, quota)


def _assert_too_small(editor: TestClient, admin: TestClient, quota: str) -> None:
    project = begun(editor)
    told(admin.put(f"/api/ac/projects/{project}/rules", json={"quotas": {quota: 0}}))
    refused = editor.post("/api/ac/jobs", json=wanted(project))
    assert (refused.status_code, kind_of(refused)) == (429, "beyond-project-quota")
    assert "at most 0 are allowed" in refused.json()["detail"]
    assert "0 are in use" in refused.json()["detail"]
    assert "administrator" in refused.json()["hint"]
    assert "Retry-After" not in refused.headers
    assert told(editor.get("/api/ac/jobs", params={"project_id": project}))["items"] == []
