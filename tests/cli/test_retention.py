"""Retention from the command line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import Store, open_store
from penstock.cli.retention import retention
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.model import Job, JobPlace
from penstock.kernel.audit import EVERYWHERE, SystemAudit


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    opened.ensure(*DOMAINS)
    for days in (91, 200, 5):
        moment = datetime.now(UTC) - timedelta(days=days)
        job = {"job_id": f"j{days}", "project_id": "p", "asset_type": "PROP", "current_step": "rig", "status": "done"}
        opened.put(Job.model_validate({**job, "created_at": moment, "updated_at": moment}))
        opened.put(JobPlace(job_id=f"j{days}", project_id="p"))
    return opened


def run(tmp_path: Path, *words: str) -> str:
    where = ["--store", f"sqlite:///{tmp_path}/store.db", "--archive", str(tmp_path / "archive")]
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
    (line,) = store.find(SystemAudit.of_project(project_id=EVERYWHERE))
    assert line.actor == "ann"


def test_people_get_a_table(store: Store, tmp_path: Path) -> None:
    told = run(tmp_path, "plan")
    assert "Would leave" in told
    assert "kept 90 days after updated_at" in told
    assert "removed" in run(tmp_path, "run", "--limit", "1")
    assert len(list(store.find(Job.of_project(project_id="p")))) == 2
