"""The audit commands: what an operator seals, and what an auditor with a digest in a drawer finds."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from tests.cli.conftest import Penstock
from tests.cli.test_records import job

STORE = "sqlite:///.penstock/penstock.db"
TRAILS = ("penstock_audit", "assetcreator_audit")


@pytest.fixture
def worked(store: Store, penstock: Penstock) -> Store:
    """Two projects with a line each, an hour old and sealed."""
    old = open_store(STORE, clock=FrozenClock(datetime.now(UTC) - timedelta(hours=1)))
    for project in ("one", "two"):
        with old.change(by="ann", project=project) as change:
            change.create(job(project=project))
    old.close()
    assert penstock("audit", "seal").code == 0
    return store


def forge(*statements: str) -> None:
    with closing(sqlite3.connect(".penstock/penstock.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_project_emptied_of_lines_and_register_is_named(penstock: Penstock, worked: Store) -> None:
    forge(
        *(f"delete from {table} where project_id = 'two'" for table in TRAILS),
        "delete from penstock_audited_projects where project_id = 'two'",
    )
    done = penstock("audit", "verify")
    assert done.code == 1
    assert "two (assetcreator.Audit): " in done.out


def test_everything_of_a_project_removed_is_named(penstock: Penstock, worked: Store) -> None:
    tables = (*TRAILS, "penstock_seals", "penstock_audited_projects")
    forge(*(f"delete from {table} where project_id = 'two'" for table in tables))
    done = penstock("audit", "verify", "--json")
    assert done.code == 1
    named = {v["project"]: v["findings"] for v in json.loads(done.out) if not v["sound"]}
    assert [(f["kind"], f["where"]) for f in named["two"]] == [
        ("register", "the register of audited projects"),
        ("seal-missing", "seal 1"),
    ]


def test_a_digest_of_all_trails_stays_true_while_work_goes_on(penstock: Penstock, worked: Store) -> None:
    digest = penstock("audit", "digest").out.strip()
    assert digest == penstock("audit", "digest", "--json").json["digest"]
    assert digest in penstock("audit", "verify").out
    with worked.change(by="ann", project="three") as change:
        change.create(job(project="three"))
    assert "Digest of all trails: audit-2-" in penstock("audit", "seal").out
    done = penstock("audit", "verify", "--expect", digest)
    assert (done.code, f"As they were when you kept {digest}" in done.out) == (0, True)
    told = penstock("audit", "verify", "--expect", digest, "--json").json
    assert [(v["project"], v["sound"]) for v in told] == [("one", True), ("three", True), ("two", True), (None, True)]
    assert told[-1]["proved"] == digest
    assert told[-1]["digest"].startswith("audit-2-")
    assert penstock("audit", "verify", "--project", "one", "--expect", digest).code == 0


def test_digests_are_kept_in_a_file(penstock: Penstock, worked: Store, folder: Path) -> None:
    file = folder / "kept.txt"
    file.write_text(f"monday: {penstock('audit', 'digest').out}tuesday: {penstock('audit', 'digest').out}")
    assert penstock("audit", "verify", "--expect", "@kept.txt").code == 0
    forge("update penstock_audit_checkpoints set made_by = 'forger'")
    assert penstock("audit", "verify", "--expect", "@kept.txt").code == 1
    file.write_text(file.read_text()[:-10])
    assert penstock("audit", "verify", "--expect", "@kept.txt").code == 2


def test_a_store_emptied_of_everything_is_found_by_a_digest_alone(penstock: Penstock, worked: Store) -> None:
    digest = penstock("audit", "digest").out.strip()
    tables = (*TRAILS, "penstock_seals", "penstock_audited_projects", "penstock_audit_checkpoints")
    forge(*(f"delete from {table}" for table in tables))
    assert "No project has been sealed yet" in penstock("audit", "verify").err
    done = penstock("audit", "verify", "--expect", digest)
    assert (done.code, "There is no checkpoint 1 any more" in done.out) == (1, True)
    told = json.loads(penstock("audit", "verify", "--expect", digest, "--json").out)
    assert [(v["project"], [f["kind"] for f in v["findings"]]) for v in told] == [(None, ["expected"])]


@pytest.mark.parametrize(
    "given", ["", "nonsense", "audit-1-abc", "@absent.txt", "@.penstock", "@.penstock/penstock.db"]
)
def test_what_is_no_digest_is_refused_in_a_sentence(penstock: Penstock, worked: Store, given: str) -> None:
    done = penstock("audit", "verify", "--expect", given)
    assert (done.code, done.out) == (2, "")
    assert "digest" in done.err
    assert len(done.err) < 300


def test_a_changed_checkpoint_gives_no_digest(penstock: Penstock, worked: Store) -> None:
    forge("update penstock_audit_checkpoints set made_by = 'forger'")
    done = penstock("audit", "digest")
    assert (done.code, "penstock audit verify" in done.err) == (2, True)
    assert penstock("audit", "verify").code == 1


def test_there_is_no_digest_before_the_first_checkpoint(penstock: Penstock, store: Store) -> None:
    done = penstock("audit", "digest")
    assert (done.code, "penstock audit seal" in done.err) == (2, True)


def test_verifying_says_what_a_digest_would_show(penstock: Penstock, worked: Store) -> None:
    out = penstock("audit", "verify").out
    assert "All trails: sound" in out
    assert "computes all hashes, seals and checkpoints anew" in out


@pytest.mark.parametrize("table", ["penstock_seals", "penstock_audited_projects"])
@pytest.mark.parametrize("name", ["", "two\nAll trails: sound\x1b[8m", "x" * 3000])
def test_a_forged_name_neither_stops_verifying_nor_steers_the_terminal(
    penstock: Penstock, worked: Store, name: str, table: str
) -> None:
    forge(
        f"create temp table forged as select * from {table} where project_id = 'two'",
        f"update forged set project_id = cast(x'{name.encode().hex()}' as text)",
        f"insert into {table} select * from forged",
        "delete from penstock_audit where project_id = 'one'",
        "delete from assetcreator_audit where project_id = 'one'",
    )
    done = penstock("audit", "verify")
    assert done.code == 1
    shown = name.encode("unicode_escape").decode()[:100]
    assert f"\n{shown}" in done.out
    assert "\x1b" not in done.out
    assert "one (assetcreator.Audit): 1 findings" in done.out, "and the others are looked at"
    told = json.loads(penstock("audit", "verify", "--json").out)
    assert {v["project"] for v in told if not v["sound"]} >= {"one", name}
    assert penstock("audit", "seal").code in (0, 2)


def test_lines_are_moved_to_the_archive_and_verified_there(penstock: Penstock, worked: Store, folder: Path) -> None:
    digest = penstock("audit", "digest").out.strip()
    would = penstock("audit", "archive", "--older-than", "0h", "--dry-run", "--json").json
    assert {(m["project"], m["lines"], m["removed"]) for m in would} == {("one", 1, 0), ("two", 1, 0)}
    moved = penstock("audit", "archive", "--older-than", "0h", "--json").json
    assert {(m["project"], m["lines"], m["removed"], m["error"]) for m in moved} == {
        ("one", 1, 1, None),
        ("two", 1, 1, None),
    }
    told = penstock("audit", "verify", "--expect", digest, "--json").json
    assert [(v["project"], v["archived_lines"]) for v in told if v["project"] in ("one", "two")] == [
        ("one", 1),
        ("two", 1),
    ]
    assert "1 of them archived" in penstock("audit", "verify").out
    (folder / ".penstock" / "archive" / moved[0]["files"][0]).unlink()
    found = penstock("audit", "verify")
    assert found.code == 1
    assert "is not in the archive any more" in found.out


def test_an_archive_that_is_away_is_no_finding(penstock: Penstock, worked: Store) -> None:
    assert penstock("audit", "archive", "--older-than", "0h", "--archive", "cold").code == 0
    said = penstock("audit", "verify")
    assert said.code == 2
    assert "cannot be reached, or is another" in said.err
    assert penstock("audit", "verify", "--archive", "cold").code == 0


@pytest.mark.parametrize("age", ["", "1y", "-3d", "365", "d", "9" * 40 + "d"])
def test_an_age_that_is_none_is_refused(penstock: Penstock, worked: Store, age: str) -> None:
    said = penstock("audit", "archive", f"--older-than={age}")
    assert said.code == 2
    assert "is no age; write such as 365d" in said.err


def test_how_old_lines_must_be_has_to_be_said(
    penstock: Penstock, worked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "by PENSTOCK_AUDIT_DAYS" in penstock("audit", "archive").err
    monkeypatch.setenv("PENSTOCK_AUDIT_DAYS", "3")
    assert "Nothing sealed is old enough" in penstock("audit", "archive").out
