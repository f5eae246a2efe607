"""Jobs are found, have one timeline, and tell why they wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.schema.role import Role
from penstock.work.job import ChildCount, PipelineJob
from penstock.work.task import Task
from tests.web.operating.workshop import POTTERY, TILES, Clay, Workshop, bake, told


def test_jobs_are_listed_by_state_name_and_project_the_latest_first(workshops: Workshop) -> None:
    shop = workshops
    made = []
    for number in range(6):
        made.append(shop.job(f"p{number % 2}", POTTERY if number < 4 else TILES))
        shop.workers.drain()
        shop.tick(seconds=1)
    viewer = shop.client(Role.VIEWER)

    def found(client: Any = viewer, **asked: Any) -> list[str]:
        seen: list[str] = []
        cursor: dict[str, Any] = {}
        while True:
            page = told(client.get("/api/work/jobs", params={"limit": 2, **asked, **cursor}))
            seen += [j["job_id"] for j in page["items"]]
            if page["next"] is None:
                return seen
            cursor = {"cursor": page["next"]}

    assert found() == made[::-1]
    assert found(status="paused") == made[3::-1]
    assert found(name="workshop.ti") == found(name="til") == [made[5], made[4]]
    assert found(name="pottery", status="done") == []
    assert found(project="p1") == [made[5], made[3], made[1]]
    assert found(project="p1", name="pot") == [made[3], made[1]]
    assert found(shop.client(Role.VIEWER, project="p0")) == [made[4], made[2], made[0]]
    refused = shop.client(Role.VIEWER, project="p0").get("/api/work/jobs", params={"project": "p1"})
    assert told(refused, 422)["type"] == "invalid-value"


def test_a_job_has_one_timeline_with_steps_attempts_decisions_files_and_costs(workshops: Workshop) -> None:
    shop = workshops
    job = shop.job()
    shop.workers.drain()
    shop.tick(seconds=1)
    POTTERY.reject(shop.store, job, round=1, by="bob", note="too flat")
    shop.tick(seconds=1)
    shop.workers.drain()
    editor = shop.client(Role.EDITOR)
    entries: list[Any] = []
    cursor: dict[str, Any] = {}
    while True:
        page = told(editor.get(f"/api/work/jobs/{job}/timeline", params={"limit": 3, "oldest_first": True, **cursor}))
        entries += page["items"]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    moments = [datetime.fromisoformat(e["ts"]) for e in entries]
    assert moments == sorted(moments)
    kinds = [e["kind"] for e in entries]
    assert {"change", "review", "task", "attempt", "step"} == set(kinds)
    (review,) = [e for e in entries if e["kind"] == "review"]
    assert (review["by"], review["why"]) == ("bob", "too flat")
    steps = [e for e in entries if e["kind"] == "step"]
    assert [(s["title"], s["round"], s["files"]) for s in steps] == [
        ("form", 1, ["pots/1.glb"]),
        ("form", 2, ["pots/2.glb"]),
    ]
    attempts = [e for e in entries if e["kind"] == "attempt"]
    assert [a["cost"] for a in attempts] == [1.5, 1.5]
    assert attempts[0]["attempt"]["log_tail"] == ["WARNING forming"]
    hidden = told(shop.client(Role.VIEWER).get(f"/api/work/jobs/{job}/timeline"))["items"]
    assert all(e["why"] is None for e in hidden)
    assert all(e["attempt"]["log_tail"] is None for e in hidden if e["attempt"])
    assert told(shop.client(Role.VIEWER, project="p2").get(f"/api/work/jobs/{job}/timeline"), 404)


def test_a_job_is_shown_with_its_task_and_what_it_was_asked_to_do(workshop: Workshop) -> None:
    job = workshop.job()
    shown = told(workshop.client(Role.EDITOR).get(f"/api/work/jobs/{job}"))
    assert (shown["status"], shown["step"], shown["steps"]) == ("running", "form", ["form", "glaze"])
    assert (shown["input"], shown["task"]["status"]) == ({"wish": "round"}, "waiting")
    assert told(workshop.client(Role.VIEWER).get(f"/api/work/jobs/{job}"))["input"] is None
    assert told(workshop.client(Role.VIEWER).get("/api/work/jobs/none"), 404)["type"] == "not-found"


def reasons(shop: Workshop, path: str) -> dict[str, Any]:
    found = told(shop.client(Role.VIEWER).get(f"/api/work/{path}/why"))["reasons"]
    return {r["kind"]: r for r in found}


def between(reason: dict[str, Any]) -> list[datetime]:
    """Since when, and until when."""
    return [datetime.fromisoformat(reason[name]) for name in ("since", "until")]


def test_a_job_tells_why_it_waits(workshops: Workshop) -> None:
    shop = workshops
    job = shop.job()
    assert {"nobody", "queue"} == reasons(shop, f"jobs/{job}").keys(), "no worker is heard of"
    shop.workers.runner.presence.tell(0)
    assert reasons(shop, f"jobs/{job}").keys() == {"queue"}
    (work,) = shop.workers.runner.take(1)
    working = reasons(shop, f"jobs/{job}")["working"]
    assert (working["who"], working["until"] is not None) == ("manual", True)
    shop.tick(minutes=2)
    assert "manual ended at" in reasons(shop, f"jobs/{job}")["lost"]["text"]
    shop.workers.runner.run(work)
    body = {"kind": "work.Job", "key": {"job_id": job}, "assignee": "ann"}
    told(shop.client(Role.EDITOR).post("/api/work/assignments", json=body))
    review = reasons(shop, f"jobs/{job}")["review"]
    assert (review["who"], "run 1" in review["text"]) == ("ann", True)
    POTTERY.approve(shop.store, job, round=1, by="ann")
    shop.workers.drain()
    assert reasons(shop, f"jobs/{job}").keys() == {"over"}


def test_a_task_tells_why_it_waits(workshops: Workshop) -> None:
    shop = workshops
    shop.workers.runner.presence.tell(0)
    ids = [shop.task(name=str(n)) for n in range(3)]
    first, second = shop.workers.runner.take(2)
    waiting = next(i for i in ids if i not in (first.task.task_id, second.task.task_id))
    full = reasons(shop, f"tasks/{waiting}")
    assert full.keys() == {"slots", "queue"}
    assert full["slots"]["who"] in ids
    for work in (first, second):
        shop.workers.runner.run(work)
    with shop.store.change() as change:
        later = bake.enqueue(change, Clay(), project="p1", after=timedelta(hours=1))
    now, put_off = shop.store.clock.now(), shop.store.get(Task.at(task_id=later))
    assert put_off.due_at - now == timedelta(hours=1)
    assert between(reasons(shop, f"tasks/{later}")["later"]) == [put_off.created_at, put_off.due_at]
    shop.store.modify(Task.at(task_id=later), lambda t: setattr(t, "waits_for", "objects"))
    shop.store.modify(Task.at(task_id=later), lambda t: setattr(t, "waits_since", now - timedelta(hours=1)))
    away = reasons(shop, f"tasks/{later}")["outage"]
    assert (away["who"], between(away)) == ("objects", [now - timedelta(hours=1), put_off.due_at])
    dead = shop.task(fails="never")
    shop.workers.drain()
    assert reasons(shop, f"tasks/{dead}").keys() == {"dead"}
    odd = shop.task(fails="odd")
    shop.workers.drain()
    assert reasons(shop, f"tasks/{odd}").keys() == {"quarantine"}


def test_a_job_in_parts_that_has_failed_or_has_no_task_says_what_it_waits_for(workshop: Workshop) -> None:
    shop, now = workshop, workshop.store.clock.now()
    shop.workers.runner.presence.tell(0)
    job = PipelineJob.at(job_id=shop.job())
    place = {"job_id": job.key["job_id"], "position": 0, "round": 1}

    def why() -> dict[str, Any]:
        return {kind: reason["text"] for kind, reason in reasons(shop, f"jobs/{job.key['job_id']}").items()}

    shop.store.put(ChildCount(**place, project_id="p1", ended=2))
    assert why()["children"] == "2 of those known so far parts of form have ended."
    shop.store.put(ChildCount(**place, project_id="p1", ended=2, total=5))
    assert why()["children"] == "2 of 5 parts of form have ended."
    assert why().keys() == {"children", "queue"}
    shop.store.put(ChildCount(**place, project_id="p1", ended=5, total=5, joined=True))
    assert why().keys() == {"queue"}
    task_id = shop.store.get(job).task_id
    shop.store.modify(job, lambda j: setattr(j, "task_id", "none"))
    assert why() == {"gone": "No task is known that does form; resume the job from there."}
    shop.store.modify(job, lambda j: setattr(j, "task_id", task_id))
    shop.store.modify(job, lambda j: j.fail(error="no luck", at=now, code="NO_CLAY"))
    (failed,) = reasons(shop, f"jobs/{job.key['job_id']}").values()
    assert (failed["kind"], failed["task_id"]) == ("failed", task_id)
    assert failed["text"] == "form has failed for good (NO_CLAY); somebody must have it tried again, or cancel it."


def test_a_task_tells_how_often_it_was_tried_how_many_come_first_and_that_nobody_takes_it(workshop: Workshop) -> None:
    shop = workshop
    first = shop.task(name="first")
    shop.tick(seconds=1)
    ids = [first, shop.task(name="second")]
    found = [reasons(shop, f"tasks/{task_id}") for task_id in ids]
    assert [reason["queue"]["behind"] for reason in found] == [
        {"number": 0, "more": False},
        {"number": 1, "more": False},
    ]
    assert found[1]["nobody"]["text"] == "No worker is heard of that takes workshop.bake; does one run?"
    later = {
        "attempts": 1,
        "most_attempts": 3,
        "error_class": "ValueError",
        "due_at": datetime(2037, 1, 1, 5, tzinfo=UTC),
    }
    shop.store.put(shop.store.get(Task.at(task_id=first)).model_copy(update={**later, "name": "gone.task"}))
    put_off = reasons(shop, f"tasks/{first}")
    assert put_off.keys() == {"retry", "nobody"}
    assert put_off["retry"]["text"] == (
        "gone.task: 1 of 3 attempts have failed, the last with ValueError; it is tried again at 2037-01-01T05:00:00Z."
    )
    assert put_off["nobody"]["text"].endswith("This process knows no such task, either.")
    told(shop.client(Role.ADMIN).post("/api/ops/tasks/cancel", params={"task_id": ids[1]}))
    (over,) = reasons(shop, f"tasks/{ids[1]}").values()
    assert (over["kind"], over["text"]) == ("over", "It is cancelled and waits for nothing.")


def test_attempts_have_their_log_without_secrets_and_their_cost(workshops: Workshop) -> None:
    shop = workshops
    task = shop.task(name="bowl", fails="never")
    shop.workers.drain()
    (attempt,) = told(shop.client(Role.EDITOR).get(f"/api/work/tasks/{task}/attempts"))["items"]
    assert attempt["log_tail"] == ["INFO baking bowl with token=[…]"]
    assert (attempt["cost"], attempt["outcome"], attempt["error"]) == (0.25, "terminal", "never")
    (hidden,) = told(shop.client(Role.VIEWER).get(f"/api/work/tasks/{task}/attempts"))["items"]
    assert (hidden["log_tail"], hidden["error"]) == (None, None)
    assert told(shop.client(Role.VIEWER).get("/api/work/tasks/none/attempts"), 404)


def test_what_a_running_attempt_logs_can_be_read_while_it_runs(workshops: Workshop) -> None:
    shop = workshops
    task = shop.task(name="bowl")
    (work,) = shop.workers.runner.take(1)
    work.begin()
    work.log.info("heating")
    work.progress(0.25, "warm")
    shown = told(shop.client(Role.EDITOR).get(f"/api/work/tasks/{task}"))
    assert (shown["log"], shown["progress"]["fraction"]) == (["INFO heating"], 0.25)
    work.log.info("hot")
    shop.tick(seconds=30)
    shop.workers.runner.renew([work])
    assert told(shop.client(Role.EDITOR).get(f"/api/work/tasks/{task}"))["log"] == ["INFO heating", "INFO hot"]
    assert told(shop.client(Role.VIEWER).get(f"/api/work/tasks/{task}"))["log"] is None


def test_an_administrator_stops_a_job_and_has_it_go_on_from_a_step(workshops: Workshop) -> None:
    shop = workshops
    job = shop.job()
    shop.workers.drain()
    admin, editor = shop.client(Role.ADMIN), shop.client(Role.EDITOR)
    order = {"job_id": job, "why": "the clay is gone"}
    assert told(editor.post("/api/ops/jobs/cancel", json=order), 403)
    assert told(admin.post("/api/ops/jobs/cancel", json=order)) == {"job_id": job, "status": "cancelled"}
    assert POTTERY.state(shop.store, job).status.value == "cancelled"
    assert told(admin.post("/api/ops/jobs/cancel", json=order), 409)
    elsewhere = shop.client(Role.ADMIN, project="p2")
    back = {"job_id": job, "from_step": "form"}
    assert told(elsewhere.post("/api/ops/jobs/resume", json=back), 404)
    assert told(admin.post("/api/ops/jobs/resume", json={**back, "from_step": "glaze"}), 422)
    assert told(admin.post("/api/ops/jobs/resume", json=back))["status"] == "running"
    shop.workers.drain()
    assert POTTERY.state(shop.store, job).status.value == "paused"
    entries = told(editor.get(f"/api/work/jobs/{job}/timeline"))["items"]
    assert "the clay is gone" in {e["why"] for e in entries}
