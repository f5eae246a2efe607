"""Keys, letters, messages, files, trails and tables, from the command line."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.auth.api_keys import find_key
from penstock.domains.assetcreator.bookkeeping import Outbox
from penstock.domains.speech.model import SpeechJob
from penstock.domains.speech.tasks import ToSpeak, speak_text
from penstock.files.reconcile import MissingFile, Reconciled
from penstock.files.sweep import Sweep
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.kernel.outbox import MessageStatus
from penstock.objects import LocalObjects
from penstock.ports.stored_object import ListedObject
from penstock.work.task import Task, TaskStatus
from tests.cli.conftest import Penstock
from tests.cli.test_records import job
from tests.work.soon import soon

STORE = "sqlite:///.penstock/penstock.db"


# Keys


def test_a_key_is_made_listed_and_revoked(penstock: Penstock, store: Store) -> None:
    made = penstock("keys", "create", "ann", "--role", "editor", "--project", "p1", "--json").json
    key = find_key(store, made["token"])
    assert key is not None
    assert (key.key_id, key.role, key.project_id) == (made["key_id"], "editor", "p1")
    (listed,) = penstock("keys", "list", "--json").json
    assert (listed["id"], listed["name"], listed["revoked"]) == (made["key_id"], "ann", None)
    assert made["token"] not in penstock("keys", "list").out
    assert penstock("keys", "revoke", made["key_id"], "--by", "bob", "--json").json["key_id"] == made["key_id"]
    assert find_key(store, made["token"]) is None
    again = penstock("keys", "revoke", made["key_id"])
    assert (again.code, "revoke" in again.err) == (2, True)
    assert "bob" in {
        line.actor for p in ("p1", EVERYWHERE) for line in store.find(SystemAudit.of_project(project_id=p))
    }


def test_a_key_is_shown_once_in_a_line_of_its_own(penstock: Penstock, store: Store) -> None:
    token, *rest = penstock("keys", "create", "ann").out.splitlines()
    key = find_key(store, token)
    assert key is not None
    assert (key.role, key.project_id) == ("viewer", None), "the least, unless more is asked for"
    assert rest == [f"Keep it: only its hash is stored. Its id is {key.key_id}."]


# Dead letters, of messages and of tasks


@pytest.fixture
def letters(store: Store) -> list[str]:
    with store.change(by="tests") as change:
        change.emit("job.made", change.create(job()))
    (message,) = store.find(Outbox.by_status(status=MessageStatus.PENDING))
    with store.change() as change:
        change.save(change.track(message).bury(error="[nobody] listens"))
    with store.change() as change:
        told = {"text": "Hello.", "voice_id": "v", "ip_address": "unknown"}
        spoken = SpeechJob.begun(UUID(int=1, version=4), at=store.clock.now(), **told)
        change.create(spoken)
        task_id = speak_text.enqueue(change, ToSpeak(date=spoken.date, job_id=spoken.job_id))
    task = store.get(Task.at(task_id=task_id))
    with store.change() as change:
        now = store.clock.now()
        change.track(task).start(owner="w", until=now, at=now)
        change.save(task.fail(at=now, error_class="OSError", error="no disk"))
    return [message.event_id, task_id]


def test_letters_are_listed(penstock: Penstock, letters: list[str]) -> None:
    listed = penstock("dead-letters", "list", "--json").json
    assert [x["id"] for x in listed] == letters
    assert [(x["what"], x["error"]) for x in listed] == [
        ("message", "[nobody] listens"),
        ("task, failed", "OSError: no disk"),
    ]
    assert "[nobody] listens" in penstock("dead-letters", "list").out


def test_the_doctor_says_since_when_a_message_waits(penstock: Penstock, store: Store) -> None:
    with store.change(by="tests") as change:
        change.emit("job.made", change.create(job()))
    (message,) = store.find(Outbox.by_status(status=MessageStatus.PENDING))

    def told() -> str:
        checks = json.loads(penstock("doctor", "--json").out)["checks"]
        return next(str(c["state"]) for c in checks if c["what"] == "messages")

    assert f"{Outbox.__shape__.label}: 1 pending, 0 dead" in told(), "it is on its way"
    store.put(message.model_copy(update={"ts": datetime(2026, 1, 29, 8, tzinfo=UTC)}))
    assert f"{Outbox.__shape__.label}: 1 pending, the oldest of 2026-01-29, 0 dead" in told()


def test_letters_are_tried_again_by_id_by_type_or_all(penstock: Penstock, store: Store, letters: list[str]) -> None:
    message_id, task_id = letters
    assert penstock("dead-letters", "retry", message_id, "--json").json == {"tried_again": [message_id]}
    assert store.get(Outbox.at(event_id=message_id)).status is MessageStatus.PENDING
    assert penstock("dead-letters", "retry", "--type", "other").out == "0 will be tried again.\n"
    assert penstock("dead-letters", "retry", "--all").out == "1 will be tried again.\n"
    assert store.get(Task.at(task_id=task_id)).status is TaskStatus.WAITING
    assert penstock("dead-letters", "list").out == "There are no dead letters.\n"


def test_letters_that_are_not_there_are_named(penstock: Penstock, letters: list[str]) -> None:
    said = penstock("dead-letters", "retry", "nobody", letters[0])
    assert (said.code, said.err) == (2, "penstock: no dead letter has the id nobody; 1 will be tried again\n")
    assert "by their ids, or say --all or --type" in penstock("dead-letters", "retry").err


def test_a_letter_that_cannot_be_tried_again_keeps_no_other_from_it(
    penstock: Penstock, store: Store, letters: list[str]
) -> None:
    message_id, task_id = letters
    for spoken in store.find(SpeechJob.of_date(date=store.clock.now().date())):
        store.delete(spoken.ref)
    said = penstock("dead-letters", "retry", "--all")
    assert said.code == 2
    assert f"cannot be tried again ({task_id}: " in said.err
    assert said.err.endswith("1 will be\n")
    assert store.get(Outbox.at(event_id=message_id)).status is MessageStatus.PENDING


# Messages


def test_relay_tells_what_is_due(penstock: Penstock, store: Store) -> None:
    with store.change(by="tests") as change:
        change.emit("job.made", change.create(job()))
    said = penstock("relay", "--once")
    assert said.out == "1 told, 0 postponed, 0 given up.\n"
    assert "job.made" in said.err, "to the log, unless another sink is set"
    assert penstock("relay", "--once", "--json").json == {"published": 0, "postponed": 0, "buried": 0}


def test_relay_goes_on_after_an_error_of_the_store(
    penstock: Penstock, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("penstock.runtime.service._AFTER_ERROR", 0.01)
    monkeypatch.setattr("penstock.cli.running.log_to_terminal", lambda form: None)  # the test reads along itself

    def rename(before: str, after: str) -> None:
        with closing(sqlite3.connect(folder / ".penstock" / "penstock.db", timeout=20)) as database:
            database.execute(f'alter table "{before}" rename to "{after}"')

    def tell(number: int) -> None:
        with store.change(by="tests") as change:
            change.emit("job.made", change.create(job(number)))

    def is_told() -> bool:
        return not list(store.find(Outbox.by_status(status=MessageStatus.PENDING)))

    def trouble() -> None:
        try:
            soon(is_told, seconds=20)
            rename("assetcreator_outbox", "elsewhere")
            soon(lambda: "has failed; trying again" in caplog.text, seconds=20)
            rename("elsewhere", "assetcreator_outbox")
            tell(2)
            soon(is_told, seconds=20)
            ended.append("well")
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    ended: list[str] = []
    tell(1)
    thread = threading.Thread(target=trouble)
    thread.start()
    assert penstock("relay").code == 0
    thread.join()
    assert ended == ["well"]


@pytest.mark.parametrize("words", [("relay",), ("relay", "--once")])
def test_relay_without_tables_ends_and_says_how_to_make_them(penstock: Penstock, words: tuple[str, ...]) -> None:
    said = penstock(*words)
    assert (said.code, "run `penstock tables apply`" in said.err) == (2, True)


# Files


def test_sweep_tells_what_it_would_do_and_does_it(penstock: Penstock, store: Store, folder: Path) -> None:
    objects = LocalObjects(folder / ".penstock" / "objects")
    objects.put("temp-audio/2020-01-01/[x].wav", b"RIFF")
    planned = penstock("sweep", "--dry-run", "--json").json
    assert (planned["dry_run"], planned["files"]["young"]) == (True, 1)
    shown = penstock("sweep", "--dry-run").out
    assert "Would be swept" in shown
    assert "files no record points at yet" in shown
    done = penstock("sweep", "--json").json
    assert (done["dry_run"], done["files"]["reconciled"]["young"]) == (False, 1)
    assert set(done["expired_records"].values()) <= {0}
    shown = penstock("sweep").out
    assert "Swept" in shown
    assert "files gone from the trash for good" in shown


def test_sweep_names_what_does_not_fit(penstock: Penstock, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ListedObject("a/[b].wav", 1234, "etag", datetime(2026, 1, 1, tzinfo=UTC))
    told = Reconciled(orphans=[found] * 60, missing=[MissingFile("Job(1)", "c", True)], hidden=["x.Y"])
    monkeypatch.setattr(Sweep, "plan", lambda self: told)
    shown = penstock("sweep", "--dry-run").out
    assert "60 (74,040 bytes)" in shown
    assert shown.count("no record: a/[b].wav\n") == 50
    assert "… and 11 more; --json lists all.\n" in shown
    assert "no pattern finds all records: x.Y." in shown
    assert len(penstock("sweep", "--dry-run", "--json").json["files"]["orphans"]) == 60


# Trails


def test_a_trail_is_sealed_and_verified(penstock: Penstock, folder: Path, store: Store) -> None:
    assert "No project has been sealed yet" in penstock("audit", "verify").err
    old = open_store(STORE, clock=FrozenClock(datetime.now(UTC) - timedelta(hours=1)))
    with old.change(by="ann", project="p[1]") as change:
        change.create(job(project="p[1]"))
    sealed = penstock("audit", "seal", "p[1]", "--json").json
    assert [s["count"] for s in sealed] == [1]
    verdicts = penstock("audit", "verify", "--json").json
    assert [(v["project"], v["sound"], v["sealed_lines"]) for v in verdicts] == [("p[1]", True, 1)]
    assert "p[1] (" in penstock("audit", "verify").out
    digest = sealed[0]["digest"]
    assert penstock("audit", "verify", "--project", "p[1]", "--expect", digest).code == 0
    wrong = penstock("audit", "verify", "--project", "p[1]", "--expect", "0" * 64)
    assert (wrong.code, "expected" in wrong.out) == (1, True)
    assert "name the project with --project" in penstock("audit", "verify", "--expect", digest).err
    assert penstock("audit", "seal").out == "Nothing new is old enough to be sealed.\n"


# Tables


def test_tables_are_planned_then_applied_then_nothing_is_missing(penstock: Penstock) -> None:
    planned = penstock("tables", "plan", "--json").json
    assert planned == penstock("tables", "plan", "--json").json, "planning changes nothing"
    assert ("create table", "musicvideo_scenes") in [(s["kind"], s["name"]) for s in planned]
    applied = penstock("tables", "apply", "--json").json
    assert [s["name"] for s in applied] == [s["name"] for s in planned]
    assert penstock("tables", "plan").out == "Nothing is missing.\n"


@pytest.mark.parametrize(("prefix", "filtered"), [(None, "films/temp-audio/"), ("guests/tmp", "films/guests/tmp/")])
def test_the_plan_advises_the_lifecycle_rule_of_where_the_files_are(
    penstock: Penstock, store: Store, monkeypatch: pytest.MonkeyPatch, prefix: str | None, filtered: str
) -> None:
    """TA-26: two days, on the configured prefix."""
    if prefix is not None:
        monkeypatch.setenv("AWS_S3_TEMP_AUDIO_PREFIX", prefix)
    steps = penstock("tables", "plan", "--objects", "s3://bucket/films", "--json").json
    (step,) = (each for each in steps if each["name"].startswith("lifecycle rule"))
    rule: dict[str, Any] = json.loads(step["detail"].splitlines()[-1])
    assert (rule["Filter"], rule["Expiration"]) == ({"Prefix": filtered}, {"Days": 2})
    assert f'"Prefix": "{filtered}"' in penstock("tables", "plan", "--objects", "s3://bucket/films").out


def test_the_plan_advises_the_rule_by_which_pages_may_use_files(
    penstock: Penstock, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_PUBLIC_URL", "https://films.example/service/")
    monkeypatch.setenv("PENSTOCK_CORS_ORIGINS", "https://pages.example,https://films.example")
    step = penstock("tables", "plan", "--objects", "s3://bucket/films", "--json").json[0]
    assert step["name"] == "CORS rule of bucket"
    rule: dict[str, Any] = json.loads(step["detail"].splitlines()[-1])
    assert rule["AllowedOrigins"] == ["https://films.example", "https://pages.example"]
    assert {"GET", "PUT"} <= set(rule["AllowedMethods"])
