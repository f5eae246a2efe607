"""What is settled in bulk is what was asked for: neither what came later, nor what was settled meanwhile."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.errors import Unavailable
from penstock.schema.role import Role
from penstock.work import Terminal
from penstock.work.bulk_question import BulkQuestion
from penstock.work.dead_letters import retry
from penstock.work.job import JobStatus, PipelineJob
from penstock.work.task import Task, TaskStatus
from tests.web.operating.test_bulk import RETRY, begin, bury, preview
from tests.web.operating.workshop import POTTERY, Clay, Workshop, bake, told


def others(shop: Workshop, label: str, number: int, **more: Any) -> None:
    """More dead letters, which differ from the first of the first project in something."""
    like = shop.store.get(Task.at(task_id="p1-00000"))
    given = {"due_at": shop.store.clock.now(), **more}
    shop.store.put_many(like.model_copy(update={**given, "task_id": f"{label}-{n:03d}"}) for n in range(number))
    shop.tick(seconds=1)


def test_tasks_are_chosen_by_all_that_is_said_and_not_what_came_later(workshop: Workshop) -> None:
    shop = workshop
    for project in ("p1", "p2"):
        bury(shop, 1, project)
    others(shop, "odd", 1, name="gone.task", error_class="Other")
    with shop.store.change() as change:
        later = bake.enqueue(change, Clay(), project="p1", after=timedelta(hours=1))
    as_of = shop.store.clock.now()
    shop.tick(seconds=1)
    others(shop, "late", 1)
    shop.task()

    def found(**asked: str) -> list[str]:
        question = BulkQuestion.model_validate({**RETRY, **asked}).checked()
        return [task.task_id for task in shop.system.settling.page(shop.store, question, as_of, limit=9).records]

    assert found() == ["p1-00000", "p2-00000", "odd-000"]
    assert found(project="p1") == ["odd-000", "p1-00000"], "by their names"
    assert found(name="workshop.bake") == ["p1-00000", "p2-00000"]
    assert found(project="p1", name="workshop.bake") == ["p1-00000"]
    assert found(error_class="Other") == found(project="p1", error_class="Other") == ["odd-000"]
    waiting = {"action": "cancel", "status": "waiting"}
    for asked in ({}, {"project": "p1"}, {"name": "workshop.bake"}, {"project": "p1", "name": "workshop.bake"}):
        assert found(**waiting, **asked) == [later], "though it is due later"


def test_what_is_settled_meanwhile_is_neither_done_nor_refused(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, settling = workshop, workshop.system.settling
    bury(shop, 3)
    letters = [shop.store.get(Task.at(task_id=f"p1-0000{n}")) for n in range(3)]
    retry(shop.store, shop.system.tasks, letters[0].task_id, by="bob")
    shop.store.delete(letters[1].ref)
    cancelling = BulkQuestion.model_validate({**RETRY, "action": "cancel"}).checked()
    with monkeypatch.context() as away:
        away.setattr("penstock.work.bulk_kinds.cancel", _nobody_answers)
        with pytest.raises(Unavailable):
            settling.settle(shop.store, cancelling, letters, by="ann", why=None)
    done = settling.settle(shop.store, cancelling, letters, by="ann", why=None)
    assert (done.done, done.refused) == (["p1-00002"], {})
    assert shop.store.get(letters[0].ref).status is TaskStatus.WAITING


def _nobody_answers(*given: Any, **more: Any) -> None:
    raise Unavailable("nobody answers")


def test_refusals_are_told_by_name_up_to_a_hundred_and_in_few_words(workshop: Workshop) -> None:
    bury(workshop, 1)
    others(workshop, "odd", 102, name="gone." + "x" * 400)
    admin = workshop.client(Role.ADMIN)
    begun = begin(admin, preview(admin, **RETRY)["token"])
    workshop.workers.drain()
    ended = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))
    assert (ended["done"], ended["refused"], len(ended["refusals"])) == (1, 102, 100)
    assert {len(why) for why in ended["refusals"].values()} == {300}


def test_one_that_fails_for_good_is_stopped_and_goes_on_when_its_task_is_tried_again(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    bury(workshop, 1)
    admin = workshop.client(Role.ADMIN)
    begun = begin(admin, preview(admin, **RETRY)["token"])

    def run() -> tuple[str, bool]:
        found = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))
        return found["status"], found["ended_at"] is not None

    def fail(*given: Any, **more: Any) -> None:
        raise Terminal("no luck")

    with monkeypatch.context() as wrong:
        wrong.setattr(type(workshop.system.settling), "settle", fail)
        workshop.workers.drain()
    assert run() == ("stopped", True)
    told(admin.post("/api/ops/tasks/retry", params={"task_id": begun["task_id"]}))
    assert run() == ("running", False)
    workshop.workers.drain()
    assert run() == ("done", True)


def test_jobs_that_have_failed_are_tried_again_in_bulk(workshop: Workshop) -> None:
    shop, admin = workshop, workshop.client(Role.ADMIN)
    job = PipelineJob.at(job_id=shop.job())
    shop.store.modify(Task.at(task_id=shop.store.get(job).task_id or ""), lambda t: setattr(t, "most_attempts", 1))
    shop.workers.runner.take()
    shop.tick(minutes=10)
    assert (shop.workers.rescue(), shop.store.get(job).status) == (1, JobStatus.FAILED)
    unknown = shop.store.get(job).model_copy(update={"job_id": "odd", "pipeline": "workshop.gone"})
    shop.store.put(unknown)
    shop.tick(seconds=1)
    begun = begin(admin, preview(admin, what="jobs", action="retry", name="pottery")["token"], "a new wheel")
    shop.workers.drain()
    assert told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))["done"] == 1
    assert POTTERY.state(shop.store, job).status is JobStatus.PAUSED
    assert (begun["asked_by"], "a new wheel") in {(e.by, e.why) for e in shop.store.history(job).entries}
    begun = begin(admin, preview(admin, what="jobs", action="cancel", status="failed")["token"])
    shop.workers.drain()
    refused = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))["refusals"]
    assert refused == {"odd": "no pipeline workshop.gone is known here; does its domain still have one?"}
