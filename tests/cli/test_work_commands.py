"""What needs a person, why work waits, and what is due by the clock, from the command line."""

from __future__ import annotations

from uuid import UUID

from penstock import Store
from penstock.domains.novae.lookup_records import Doubt
from penstock.domains.speech.tasks import ToSpeak, speak_text
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.work.task import Task, TaskStatus
from tests.cli.conftest import Penstock


def test_what_needs_a_person_is_listed(penstock: Penstock, store: Store) -> None:
    assert "Nothing needs you." in penstock("work", "inbox").out
    now = store.clock.now()
    store.put(
        Doubt(
            job_run_id=UUID(int=1, version=4),
            asked_at=now,
            workflow_name="initialize_nova",
            reason_code="ambiguous",
            subject="V1324 Sco",
        )
    )
    (row,) = penstock("work", "inbox", "--json").json
    assert row["group"] == "Doubts (1)"


def test_a_task_tells_why_it_waits(penstock: Penstock, store: Store) -> None:
    with store.change() as change:
        task = speak_text.enqueue(change, ToSpeak(date=store.clock.now().date(), job_id=UUID(int=7, version=4)))
    assert [r["why"] for r in penstock("work", "why", task, "--json").json] == ["nobody", "queue"]
    assert "No worker is heard of" in penstock("work", "why", task).out
    (queue,) = penstock("work", "queues", "--json").json
    assert (queue["tasks"], queue["due"]) == (speak_text.name, "1")
    assert penstock("work", "workers").out == "No worker is heard of.\n"
    assert penstock("work", "jobs", "--json").json == []
    missing = penstock("work", "why", "none")
    assert (missing.code, "none" in missing.err) == (2, True)
    assert store.get(Task.at(task_id=task)).status is TaskStatus.WAITING


def test_a_schedule_is_run_now(penstock: Penstock, store: Store) -> None:
    known = {s["name"]: s for s in penstock("schedules", "list", "--json").json}
    assert known["assetcreator-reviews"]["next"]
    assert "is done" in penstock("schedules", "run", "assetcreator-reviews", "--by", "ann").out
    actors = {line.actor for line in store.find(SystemAudit.of_project(project_id=EVERYWHERE))}
    assert "ann" in actors
    wrong = penstock("schedules", "run", "nothing")
    assert (wrong.code, "there are" in wrong.err) == (2, True)
