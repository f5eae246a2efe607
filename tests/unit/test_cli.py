"""The command line answers people and programs, and a mistake in a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from penstock.domains import DOMAINS


def run(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "penstock", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_patterns_lists_every_access_pattern() -> None:
    told = json.loads(run("patterns", "--json").stdout)
    assert {p["pattern"] for p in told} == {p.label for d in DOMAINS for p in d.patterns}
    assert all(p["answers"] for p in told), "a pattern says what it answers"


def test_patterns_of_one_domain() -> None:
    done = run("patterns", "musicvideo")
    assert done.returncode == 0
    assert "status-created-index" in done.stdout


def test_explain_shows_the_request_and_the_sql_without_a_database() -> None:
    project = "550e8400-e29b-41d4-a716-446655440000"
    told = json.loads(run("explain", "musicvideo.Scene.of_project", f"project_id={project}", "--json").stdout)
    request = told["dynamodb"]
    assert request["TableName"] == "MVProjects"
    assert {"S": f"PROJECT#{project}"} in request["ExpressionAttributeValues"].values()
    assert 'order by r."sequence"' in told["postgresql"]["statement"]
    assert told["sqlite"]["parameters"][0] == project


def test_explain_takes_ranges() -> None:
    done = run("explain", "videos.Video.by_user", "user_id=u", "created_at=1717645000..1717645400", "--json")
    told = json.loads(done.stdout)
    assert told["dynamodb"]["IndexName"] == "UserIdIndex"
    assert {"N": "1717645000"} in told["dynamodb"]["ExpressionAttributeValues"].values()


def test_a_typo_is_answered_with_what_was_meant() -> None:
    done = run("explain", "musicvideo.Scene.of_projects")
    assert done.returncode == 2
    assert 'Did you mean "musicvideo.Scene.of_project"?' in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_value_is_named() -> None:
    done = run("explain", "musicvideo.Scene.of_project", "project_id=no")
    assert done.returncode == 2
    assert "project_id='no' is not a identifier" in done.stderr


def test_an_unknown_engine_is_answered_with_the_right_name() -> None:
    done = run("tables", "plan", "--store", "postgers://x")
    assert done.returncode == 2
    assert 'No engine "postgers". Did you mean "postgres' in done.stderr


def test_tables_are_planned_then_applied_then_nothing_is_missing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    planned = json.loads(run("tables", "plan", "--store", url, "--json").stdout)
    again = json.loads(run("tables", "plan", "--store", url, "--json").stdout)
    assert planned == again, "planning changes nothing"
    assert ("create table", "musicvideo_scenes") in [(s["kind"], s["name"]) for s in planned]
    applied = json.loads(run("tables", "apply", "--store", url, "--json").stdout)
    assert [s["name"] for s in applied] == [s["name"] for s in planned]
    assert json.loads(run("tables", "plan", "--store", url, "--json").stdout) == []
