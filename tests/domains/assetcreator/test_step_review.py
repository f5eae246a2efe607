"""Runs of stages in the review room: their files, their versions, and the decisions at a gate."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

from penstock.declare.record_address import path_of
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.model import AssetVersion, Step
from penstock.schema.role import Role
from tests.domains.assetcreator.story import work
from tests.domains.assetcreator.web_story import ROBOT, asked, begun, client_of, finished, runs, seen, service, told


def item(client: Any, record: str) -> dict[str, Any]:
    return told(client.get("/api/review/items", params={"record": record}))


def waiting(studio: AssetStudio, project: str) -> list[Step]:
    return list(studio.store.find(Step.reviews_of_project(project_id=project)))


def test_a_run_is_looked_at_made_again_and_approved_in_the_review_room(anywhere: AssetStudio) -> None:
    studio, api = anywhere, service(anywhere)
    ann = client_of(api, studio, Role.EDITOR)
    project = begun(ann)
    job = asked(ann, project, seed=7)["job_id"]
    work(studio)
    (step,) = waiting(studio, project)
    first = item(ann, path_of(step))
    assert first["title"] == f"{ROBOT}: refine, run 1"
    (waits,) = told(ann.get("/api/work/inbox/reviews"))["items"]
    (listed,) = told(ann.get("/api/work/jobs"))["items"]
    assert (waits["title"], listed["title"]) == (first["title"], ROBOT)
    standing = told(ann.get(f"/api/work/jobs/{quote(listed['job_id'], safe='')}"))
    assert standing["look_at"]["path"] == path_of(step), "what somebody is to decide about"
    assert ([f["file"] for f in first["files"]], first["states"]) == (["refined.png"], {"status": "paused"})
    assert [(d["decision"], d["path"]) for d in first["decisions"]] == [
        ("approve", f"/api/ac/jobs/{job}/review"),
        ("request_changes", f"/api/ac/jobs/{job}/review"),
        ("reject", f"/api/ac/jobs/{job}/cancel"),
    ]
    asked_for = {"decision": "request_changes", "mark": first["mark"], "reason": "a longer scarf"}
    told(ann.post("/api/review/decisions", params={"record": path_of(step)}, json=asked_for))
    work(studio)
    (again,) = waiting(studio, project)
    second = item(ann, path_of(again))
    assert [(v["shown"], v["states"]["status"]) for v in second["versions"]] == [(True, "paused"), (False, "rejected")]
    assert [datetime.fromisoformat(v["made_at"]) for v in second["versions"]] == [again.ts, step.ts]
    choice = second["decisions"][0]
    told(ann.request(choice["method"], choice["path"], json={**choice["body"], choice["reason_field"]: "good"}))
    done = finished(ann, studio, job)
    assert [run for run in runs(done) if run[0] == "refine"] == [("refine", "rejected"), ("refine", "approved")]
    assert studio.store.get(step.ref).notes == "a longer scarf"
    version = studio.store.get(AssetVersion.at(project_id=project, asset_id=done["asset_id"], version=1))
    shown = item(ann, path_of(version))
    assert [f["file"] for f in shown["files"]] == ["asset.glb", "thumbnail.png"]
    assert all(f["there"] and f["url"] for f in shown["files"])


def test_a_job_is_given_up_in_the_review_room(studio: AssetStudio) -> None:
    api = service(studio)
    ann = client_of(api, studio, Role.EDITOR)
    project = begun(ann)
    job = asked(ann, project)["job_id"]
    work(studio)
    (step,) = waiting(studio, project)
    record = {"record": path_of(step)}
    body = {"decision": "reject", "mark": item(ann, path_of(step))["mark"]}
    told(ann.post("/api/review/decisions", params=record, json=body))
    assert seen(ann, job)["status"] == "failed"
