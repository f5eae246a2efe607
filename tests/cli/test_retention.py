"""Retention from the command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import Store, open_store
from penstock.cli.installed import serve
from penstock.cli.retention import retention
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.model import WORK_FILE, Job, JobPlace, Step
from penstock.kernel.audit import SystemAudit
from penstock.objects import LocalObjects
from penstock.work.working import WORKING


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    opened.ensure(*DOMAINS, WORKING)
    serve(())
    for days in (91, 200, 5):
        moment = datetime.now(UTC) - timedelta(days=days)
        job = {"job_id": f"j{days}", "project_id": "p", "asset_type": "PROP", "current_step": "rig", "status": "done"}
        opened.put(Job.model_validate({**job, "created_at": moment, "updated_at": moment}))
        opened.put(JobPlace(job_id=f"j{days}", project_id="p"))
    return opened


def run(tmp_path: Path, *words: str) -> str:
    where = ["--store", f"sqlite:///{tmp_path}/store.db", "--archive", str(tmp_path / "archive")]
    where += ["--objects", f"files:///{tmp_path}/files"]
    done = CliRunner().invoke(retention, [*words, *where], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_plan_changes_nothing_and_a_run_does_as_planned(store: Store, tmp_path: Path) -> None:
    planned = json.loads(run(tmp_path, "plan", "--json"))
    assert not (tmp_path / "archive").exists()
    done = json.loads(run(tmp_path, "run", "--json", "--by", "ann"))
    assert [(p["entity"], p["records"]) for p in planned if p["records"]] == [("assetcreator.Job", 2)]
    assert [{k: d[k] for k in p} for p, d in zip(planned, done, strict=True)] == planned
    assert [j.job_id for j in store.find(Job.of_project(project_id="p"))] == ["j5"]
    lines = store.find(SystemAudit.of_project(project_id="p"))
    assert [line.actor for line in lines] == ["ann", "ann"], "one of each job"


def test_a_dry_run_tells_records_along_files_and_bytes(store: Store, tmp_path: Path) -> None:
    """AC-42: and changes nothing."""
    key = WORK_FILE.key("3D-1/mesh.glb", project_id="p", job_id="j91")
    LocalObjects(tmp_path / "files").put(key, b"of triangles")
    step = {"project_id": "p", "job_id": "j91", "step_name": "3D", "status": "done", "artifacts": [key]}
    store.put(Step.model_validate({**step, "ts": datetime.now(UTC)}))
    (told,) = [d for d in json.loads(run(tmp_path, "run", "--dry-run", "--json")) if d["records"]]
    assert (told["records"], told["along"], told["files"], told["file_bytes"]) == (2, 3, 1, 12)
    assert told["bytes"] > 0
    assert not (tmp_path / "archive").exists()
    assert len(list(store.find(Job.of_project(project_id="p")))) == 3
    assert "file_bytes" in run(tmp_path, "run", "--dry-run")
    (done,) = [d for d in json.loads(run(tmp_path, "run", "--json")) if d["records"]]
    assert {name: done[name] for name in told} == told


def test_people_get_a_table(store: Store, tmp_path: Path) -> None:
    told = run(tmp_path, "plan")
    assert "Would leave" in told
    assert "kept 90 days after updated_at" in told
    assert "removed" in run(tmp_path, "run", "--limit", "1")
    assert len(list(store.find(Job.of_project(project_id="p")))) == 2
