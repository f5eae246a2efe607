"""The doctor says what is configured, reachable and overdue; mistakes are answered in a sentence."""

from __future__ import annotations

import importlib.util
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.speech.cleanup import SCHEDULE
from penstock.events.schedule import ScheduleState
from penstock.kernel.idempotency import SystemOnce
from penstock.lifecycle.reaper import Reaper
from penstock.runtime.bounds import BOUNDS
from penstock.work import TaskContext, Tasks
from penstock.work.worker_presence import Presence
from tests.cli.conftest import Penstock
from tests.servers import Postgres, Valkey, free_port


def checks(told: Any) -> dict[str, str]:
    return {c["what"]: c["state"] for c in told["checks"]}


def settings(told: Any) -> dict[str, tuple[str, str]]:
    return {s["setting"]: (s["value"], s["from"]) for s in told["settings"]}


def test_all_is_well(penstock: Penstock, store: Store) -> None:
    said = penstock("doctor", "--json")
    assert said.code == 0
    told = checks(said.json)
    assert (told["store"], told["tables"], told["files"]) == ("reachable", "complete", "reachable")
    assert f"{SCHEDULE} (0 12 * * * UTC): never run" in told["schedules"].split("; ")
    assert told["tasks"] == "none"
    assert "broker" not in told
    shown = penstock("doctor")
    assert shown.code == 0
    assert "PENSTOCK_STORE" in shown.out
    assert "Something is wrong" not in shown.out


def test_tables_that_are_missing(penstock: Penstock) -> None:
    said = penstock("doctor")
    assert said.code == 1
    assert "run: penstock tables apply" in said.out
    assert "Something is wrong" in said.out
    told = checks(json.loads(penstock("doctor", "--json").out))
    assert {"files", "messages", "tasks", "feeds", "schedules"} <= told.keys(), "the first finding is not the last"
    assert told["files"] == "reachable"
    assert "penstock tables apply" in told["tasks"]


def test_all_is_well_on_postgresql_as_well(penstock: Penstock, folder: Path, postgres_server: Postgres) -> None:
    url = postgres_server.create_database("doctor")
    assert penstock("tables", "apply", "--store", url).code == 0
    said = penstock("doctor", "--json", "--store", url)
    told = checks(said.json)
    assert (told["store"], told["tables"]) == ("reachable", "complete")
    assert said.code == 0
    assert "Nothing is missing." in penstock("tables", "plan", "--store", url).out


def test_every_setting_is_told_with_where_it_comes_from(
    penstock: Penstock, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text(
        "PENSTOCK_SECRET=swordfish-swordfish\nPENSTOCK_SINK=https://ann:swordfish@hooks.example/services/T0/swordfish?key=swordfish\n"
    )
    (folder / "penstock.toml").write_text("[penstock]\nport = 8080\n")
    monkeypatch.setenv("STORAGE_BUCKET", "films")
    monkeypatch.setenv("CELERY_BEAT_SCHEDULE_CLEANUP_HOUR", "3")
    monkeypatch.setenv("PENSTOCK_WEBHOOK_SECRET", "swordfish")
    said = penstock("doctor", "--json", "--objects", f"files:///{folder}/files")
    told = settings(said.json)
    assert told["PENSTOCK_STORE"] == ("sqlite:///.penstock/penstock.db", "default")
    assert told["PENSTOCK_PORT"] == ("8080", "PENSTOCK_PORT")
    assert told["PENSTOCK_SECRET"] == ("(set)", "PENSTOCK_SECRET")
    assert told["PENSTOCK_WEBHOOK_SECRET"][0] == "(set)"
    assert told["PENSTOCK_SINK"][0] == "https://hooks.example/…"
    assert told["PENSTOCK_OBJECTS"] == (f"files:///{folder}/files", "command line")
    assert told["CELERY_BEAT_SCHEDULE_CLEANUP_HOUR"] == ("3", "CELERY_BEAT_SCHEDULE_CLEANUP_HOUR")
    assert told["DYNAMODB_TEMP_AUDIO_TABLE"] == ("tts_temp_audio", "default")
    assert "swordfish" not in said.out


def test_an_overdue_schedule_is_wrong(penstock: Penstock, store: Store) -> None:
    """TA-21."""
    long_ago = datetime.now(UTC) - timedelta(days=3)
    old = open_store("sqlite:///.penstock/penstock.db", clock=FrozenClock(long_ago))
    old.create(ScheduleState(name=SCHEDULE, first_seen_at=long_ago, last_period=long_ago, last_success_at=long_ago))
    said = penstock("doctor")
    assert said.code == 1
    assert "OVERDUE" in said.out


def test_a_queue_that_nobody_works_on_is_wrong(penstock: Penstock, store: Store) -> None:
    past = open_store("sqlite:///.penstock/penstock.db", clock=FrozenClock(datetime.now(UTC) - timedelta(minutes=5)))
    tasks = Tasks("plant")

    @tasks.task("press")
    def press(work: TaskContext, input: dict[str, Any]) -> None: ...

    with past.change() as change:
        press.enqueue(change, {}, project="p1")
    said = penstock("doctor")
    assert said.code == 1
    assert "plant.press of project p1 has waited since" in " ".join(said.out.split())
    told = checks(json.loads(penstock("doctor", "--json").out))
    assert told["workers"] == "none is heard of"
    Presence(store, "host:1", ["plant.press"]).tell(0)
    told = checks(penstock("doctor", "--json").json)
    assert told["workers"] == "1 with 0 tasks at work, for plant.press"
    assert told["queues"].startswith("the first task has been due for 0:05:0")


def test_what_cannot_be_reached_is_wrong(penstock: Penstock, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", f"redis://:swordfish@127.0.0.1:{free_port()}/0")
    said = penstock("doctor", "--store", f"postgresql://ann:swordfish@127.0.0.1:{free_port()}/x")
    assert said.code == 1
    assert "wrong: cannot reach PostgreSQL" in said.out
    assert "cannot be reached" in said.out
    assert "not looked at" in said.out
    assert "swordfish" not in said.out


@pytest.mark.parametrize(
    "said",
    [
        "u:SWORD-FISH@{}",
        "u:SWORD?FISH@{}/db",
        "{}/db?password=SWORD@FISH",
        "{}?password=SWORD@FISH",
        "u:SWORD/FISH@{}/db",
        "u:7/FISH@{}/db",
        "u:SWORD@FISH@{}/db",
        "u:SWORD[FISH@{}/db",
        "u:SWORD%FISH@{}",
        "u:SWORD-FISH%@{}",
    ],
)
def test_however_a_password_is_written_it_is_not_shown(penstock: Penstock, folder: Path, said: str) -> None:
    url = f"postgresql://{said.format(f'127.0.0.1:{free_port()}')}"
    told = penstock("doctor", "--store", url)
    assert told.code in (1, 2), "nobody answers there"
    assert "SWORD" not in told.out + told.err
    assert "FISH" not in told.out + told.err


def test_a_broker_that_answers(
    penstock: Penstock, store: Store, valkey_server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", valkey_server.url)
    assert checks(penstock("doctor", "--json").json)["broker"] == "reachable"


# Mistakes


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("lst", "No such command 'lst'. Did you mean 'ls'?"),
        ("keys creat ann", "No such command 'creat'. Did you mean"),
        ("keys create ann --role owner", "'owner' is not one of 'viewer', 'editor', 'admin'"),
        ("keys create", "Missing argument"),
        ("ls musicvideo.Scene.of_projects", 'Did you mean "musicvideo.Scene.of_project"?'),
        ("explain musicvideo.Scene.of_projects", 'Did you mean "musicvideo.Scene.of_project"?'),
        ("explain musicvideo.Scene.of_project project_id=no", "project_id='no' is not an identifier"),
        (
            "explain musicvideo.Scene.of_project project=no",
            "takes project_id, sequence as name=value, not 'project=no'",
        ),
        ("explain musicvideo.Scene.of_project", "project_id"),
        ("show musicvideo.Scen x=1", 'No entity "musicvideo.Scen". Did you mean "musicvideo.Scene"?'),
        ("show Job x=1", "There are several Job: assetcreator.Job, work.Job. Say which"),
        ("show assetcreator.Job project_id=p", "job_id"),
        ("patterns musicvideos", 'No domain "musicvideos". Did you mean "musicvideo"?'),
        ("ls assetcreator.Job.of_project project_id=p --limit 0", "--limit"),
        ("ls assetcreator.Job.of_project project_id=p --cursor x", "cursor"),
        ("tables plan --store postgers://x", 'No engine "postgers". Did you mean "postgres'),
        ("tables plan --store sqlite://", "names no file"),
        ("doctor --objects s4://x", 'No object store "s4". There are files, s3.'),
        ("doctor --objects /srv/x", "the object store '/srv/x' is no URL; one begins with files: or s3:"),
        ("doctor --objects s3://", "names no bucket"),
        ("up --port 0 --workers celry", "workers are inline, celery or none, not 'celry'"),
        ("up --port 0 --workers celery", "Celery needs a broker; set PENSTOCK_BROKER=redis://HOST:PORT/0"),
        ("worker --celery", "Celery needs a broker; set PENSTOCK_BROKER=redis://HOST:PORT/0"),
        ("worker --threads 0", "--threads"),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(penstock: Penstock, store: Store, words: str, told: str) -> None:
    said = penstock(*words.split())
    assert said.code == 2
    assert told in " ".join(said.err.replace("│", " ").split())
    assert said.out == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("tables plan --store sqlite:////proc/x/y.db", "no folder can be made for /proc/x/y.db"),
        ("tables plan --store dynamodb://us-east-1?endpoint=foo", "'foo' is no URL"),
        ("tables plan --store dynamodb://[x", "is no URL"),
        ("sweep --objects s3://[x", "is no URL"),
        ("sweep --objects s3://bucket?region=us-east-1&endpoint=foo", "'foo' is no URL"),
        (
            "ls musicvideo.Project.by_status status=pending created_at=9999-12-31T23:59:59-23:00..",
            "created_at='9999-12-31T23:59:59-23:00' is not an instant",
        ),
        ("say hello -o nowhere/x.wav", "nowhere is no folder"),
        ("say hello -o .penstock", ".penstock is a folder"),
        ("demo musicvideo -o nowhere/x.mp4", "nowhere is no folder"),
    ],
)
def test_a_place_that_does_not_exist_is_told_in_a_line(penstock: Penstock, store: Store, words: str, told: str) -> None:
    said = penstock(*words.split())
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert told in said.err


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (".penstock", "", ".penstock"),
        ("penstock.toml", "penstock = 3", "penstock.toml: penstock is a table; write [penstock]"),
        ("penstock.toml", "environment = 3", "penstock.toml: environment is a table; write [environment]"),
        ("penstock.toml", "[penstock]\ntrusted_proxies = [1]", "penstock.toml: trusted_proxies lists texts, not 1"),
        ("penstock.toml", "[penstock]\nhost = { a = 1 }", "penstock.toml: host is one value, or a list of texts"),
        (".env", "PENSTOCK_WORKER_THREADS=0", "PENSTOCK_WORKER_THREADS='0' is less than 1"),
    ],
)
@pytest.mark.parametrize("words", ["ls musicvideo.Project.by_status status=pending", "keys list", "up"])
def test_a_wrong_file_is_told_in_a_line(
    penstock: Penstock, folder: Path, name: str, content: str, told: str, words: str
) -> None:
    (folder / name).write_text(content)
    said = penstock(*words.split())
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert told in said.err


@pytest.mark.parametrize(
    ("words", "missing", "extra"),
    [
        ("tables plan --store postgresql://x/y", "psycopg", "postgres"),
        ("tables plan --store dynamodb://us-east-1", "pycurl", "dynamodb"),
        ("sweep --objects s3://bucket", "boto3", "s3"),
        ("worker --celery", "celery", "celery"),
        ("up", "uvicorn", "web"),
    ],
)
def test_a_missing_extra_is_answered_with_the_line_to_install_it(
    penstock: Penstock, store: Store, monkeypatch: pytest.MonkeyPatch, words: str, missing: str, extra: str
) -> None:
    found = importlib.util.find_spec
    for module in ("penstock.runtime.composition", "penstock.runtime.service", "penstock.cli.running"):
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None if name == missing else found(name))
    said = penstock(*words.split())
    assert said.code == 2
    assert said.err == f"penstock: {missing} is not installed; run: pip install 'penstock[{extra}]'\n"


def test_a_store_without_tables_says_how_to_make_them(penstock: Penstock) -> None:
    said = penstock("keys", "list")
    assert (said.code, "run `penstock tables apply`" in said.err) == (2, True)


def test_what_is_stored_is_told_beside_how_long_it_may_stay(penstock: Penstock, store: Store) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=2)
    store.create(SystemOnce(idempotency_key="k", created_at=long_ago, ttl=int(long_ago.timestamp()) + 86400))
    said = penstock("doctor", "--json")
    assert said.code == 1, "nobody removes it"
    sizes = {size["name"]: size for size in json.loads(said.out)["sizes"]}
    once = sizes["penstock_once"]
    assert (once["records"], once["exact"], once["oldest_seconds"] // 86400) == (1, True, 2)
    assert "for the reaper; does a service run?" in once["wrong"]
    assert sizes["work_tasks"]["wrong"] is None
    assert sizes["log of changes"]["records"] == 0
    assert {bound.entity.__shape__.relation for bound in BOUNDS} <= {name.split("_", 1)[-1] for name in sizes}
    shown = penstock("doctor")
    assert "3 days for a feed's events, 1 day for answers" in shown.out
    assert "wrong: some have waited 1 day" in shown.out
    Reaper(store, [], owner="a").run_once()
    assert penstock("doctor").code == 0
