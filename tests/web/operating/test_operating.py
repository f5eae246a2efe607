"""What operators look after: queues, workers, schedules, dry runs, uploads, trails, keys, health and charts."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from penstock.events.schedule import ScheduleState
from penstock.files.upload import Upload, UploadStatus
from penstock.kernel.audit import SystemAudit
from penstock.schema.role import Role
from penstock.work.task import LEASE
from tests.web.operating.workshop import RUNS, Pot, Workshop, told


def result(shop: Workshop, client: Any, begun: Any) -> Any:
    shop.workers.drain()
    task = told(client.get(begun["path"]))
    assert task["status"] == "done", task
    return task["result"]


def test_queues_workers_and_leases_tell_who_works_on_what(workshops: Workshop) -> None:
    shop = workshops
    ids = [shop.task(name=str(n)) for n in range(3)]
    shop.task("p2", name="x", fails="never")
    shop.workers.runner.presence.tell(2)
    (work,) = shop.workers.runner.take(1)
    admin = shop.client(Role.ADMIN)
    queues = {q["project_id"]: q for q in told(admin.get("/api/work/queues"))["items"]}
    assert queues.keys() == {"p1", "p2"}
    assert sum(q["due"]["number"] for q in queues.values()) == 3
    assert sum(q["running"]["number"] for q in queues.values()) == 1
    (worker,) = told(admin.get("/api/work/workers"))["items"]
    assert (worker["worker"], worker["busy"], worker["silent"]) == ("manual", 2, False)
    assert "workshop.bake" in worker["takes"]
    assert "work.bulk" in worker["takes"]
    for seconds, busy, seen in ((19, 3, 2), (1, 3, 3), (1, 0, 3)):
        shop.tick(seconds=seconds)
        shop.workers.runner.presence.tell(busy)
        assert told(admin.get("/api/work/workers"))["items"][0]["busy"] == seen, "it says so every twenty seconds"
    shop.workers.runner.presence.tell(1, ending=True)
    assert told(admin.get("/api/work/workers"))["items"][0]["busy"] == 1, "and at once when it ends"
    (lease,) = told(admin.get("/api/work/leases"))["items"]
    assert (lease["task_id"], lease["worker"]) == (work.task.task_id, "manual")
    assert lease["lease_ends_at"] is not None
    assert lease["heard_of_at"] is not None
    shop.tick(seconds=LEASE.total_seconds() * 2)
    assert told(admin.get("/api/work/workers"))["items"][0]["silent"] is True
    bound = shop.client(Role.ADMIN, project=work.task.project_id)
    assert len(told(bound.get("/api/work/leases"))["items"]) == 1
    assert {q["project_id"] for q in told(bound.get("/api/work/queues"))["items"]} == {work.task.project_id}
    assert told(shop.client(Role.EDITOR).get("/api/work/workers"), 403)
    assert ids


def test_a_task_is_tried_again_or_given_up_once_however_often_that_is_sent(workshop: Workshop) -> None:
    admin = workshop.client(Role.ADMIN)
    for action, status in (("retry", "waiting"), ("cancel", "cancelled")):
        task = workshop.task(fails="never")
        workshop.workers.drain()
        url, once = f"/api/ops/tasks/{action}?task_id={task}", {"Idempotency-Key": action}
        first = told(admin.post(url, headers=once))
        assert first == {"task_id": task, "name": "workshop.bake", "status": status}
        ran = workshop.workers.drain()
        assert told(admin.post(url, headers=once)) == first
        assert (ran, workshop.workers.drain()) == (int(action == "retry"), 0)


def test_a_schedule_tells_when_it_is_due_and_is_run_now_under_its_lease(workshops: Workshop) -> None:
    shop = workshops
    admin = shop.client(Role.ADMIN)
    (schedule,) = told(admin.get("/api/ops/schedules"))["items"]
    assert schedule["next_at"].endswith("T03:00:00Z")
    begun = told(admin.post("/api/ops/schedules/run", json={"name": "workshop-sweeping"}), 202)
    assert result(shop, admin, begun)["until"]
    assert len(RUNS) == 1
    state = shop.store.get(ScheduleState.at(name="workshop-sweeping"))
    assert state.last_period == RUNS[0].until
    lines = list(shop.store.find(SystemAudit.of_project(project_id="-")))
    assert any(line.details.get("why") == "run now" for line in lines), "it is audited"
    wrong = told(admin.post("/api/ops/schedules/run", json={"name": "nothing"}), 422)
    assert "there are: workshop-sweeping" in wrong["detail"]
    duties = told(admin.get("/api/work/duties"))["items"]
    assert {"name": "schedule:workshop-sweeping", "owner": None, "until": None} in duties


def test_dry_runs_tell_what_would_go_and_change_nothing(workshops: Workshop) -> None:
    shop = workshops
    shop.objects.put("pots/lost.glb", b"nobody's")
    admin = shop.client(Role.ADMIN)
    for what, known in (("sweep", "orphans"), ("retention", "rules")):
        found = result(shop, admin, told(admin.post("/api/ops/dry-runs", json={"what": what}), 202))
        assert known in found
        assert found["file_bytes"] >= 0
    assert told(shop.client(Role.ADMIN, project="p1").post("/api/ops/dry-runs", json={"what": "sweep"}), 403)
    assert told(admin.post("/api/ops/dry-runs", json={"what": "all"}), 422)["fields"]


def test_uploads_are_listed_in_every_state(workshops: Workshop) -> None:
    shop = workshops
    now = shop.store.clock.now()
    for number, status in enumerate(UploadStatus):
        shop.store.put(
            Upload(
                upload_id=f"u{number}",
                project_id="p1",
                target="pots/a.glb",
                subject="Pot",
                size=5,
                content_type="model/gltf-binary",
                status=status,
                created_at=now,
                expires_at=now + timedelta(minutes=5),
            )
        )
    admin = shop.client(Role.ADMIN)
    for number, status in enumerate(UploadStatus):
        asked = {"pattern": "by_status", "status": status.value}
        assert [u["upload_id"] for u in told(admin.get("/api/ops/uploads", params=asked))["items"]] == [f"u{number}"]
    inbox = {g["key"]: g for g in told(admin.get("/api/work/inbox"))["groups"]}
    assert [i["record"]["key"] for i in inbox["expiring"]["items"]] == [{"upload_id": "u0"}]


def test_audit_lines_are_found_by_who_what_and_which_record_and_exported(workshops: Workshop) -> None:
    shop = workshops
    shop.pot("first")
    for number in range(30):
        shop.tick(seconds=1)
        with shop.store.change(by="ann" if number % 3 else "bob") as change:
            change.create(Pot(project_id="p1", name=f"v{number:02d}", made_at=shop.store.clock.now()))
    admin = shop.client(Role.ADMIN)

    def found(**asked: Any) -> list[Any]:
        lines: list[Any] = []
        cursor: dict[str, Any] = {}
        while True:
            page = told(admin.get("/api/ops/audit", params={"project": "p1", "limit": 4, **asked, **cursor}))
            lines += page["items"]
            if page["next"] is None:
                return lines
            assert page["next"] != cursor.get("cursor"), "it goes on"
            cursor = {"cursor": page["next"]}

    everything = found()
    assert [line["ts"] for line in everything] == sorted((line["ts"] for line in everything), reverse=True)
    assert {line["actor"] for line in found(actor="bob")} == {"bob"}
    assert len(found(actor="bob")) + len(found(actor="ann")) + len(found(actor="tests")) == len(everything)
    one = found(record="workshop.Pot(project_id=p1, name=v05")
    assert len(one) == 1
    assert found(since=everything[3]["ts"]) == everything[:4]
    text = admin.get("/api/ops/audit/export", params={"project": "p1", "actor": "ann"}).text.splitlines()
    lines = [json.loads(line) for line in text]
    assert lines[-1] == {"end": True, "lines": len(found(actor="ann")), "complete": True}
    assert [line["ts"] for line in lines[:-1]] == [line["ts"] for line in found(actor="ann")][::-1]
    some = admin.get("/api/ops/audit/export", params={"project": "p1", "most": 2}).text.splitlines()
    assert json.loads(some[-1]) == {"end": True, "lines": 2, "complete": False}
    bound = shop.client(Role.ADMIN, project="p2")
    assert told(bound.get("/api/ops/audit", params={"project": "p1"}), 403)["type"] == "out-of-scope"
    assert {line["project"] for line in told(bound.get("/api/ops/audit"))["items"]} == {"p2"}
    assert told(shop.client(Role.EDITOR).get("/api/ops/audit"), 403)


def test_trails_are_verified_and_a_changed_line_is_found(workshops: Workshop) -> None:
    shop = workshops
    shop.pot("vase")
    admin = shop.client(Role.ADMIN)
    begun = told(admin.post("/api/ops/audit/verify", json={"project": "p1"}), 202)
    assert result(shop, admin, begun)["sound"] is True
    (line,) = shop.store.find(SystemAudit.of_project(project_id="p1"))
    shop.store.put(line.model_copy(update={"action": "something else"}))
    found = result(shop, admin, told(admin.post("/api/ops/audit/verify", json={"project": "p1"}), 202))
    assert found["sound"] is False
    assert found["verdicts"][0]["findings"][0]["kind"] == "altered"


def test_a_key_is_made_its_token_shown_once_and_revoked(workshops: Workshop) -> None:
    shop = workshops
    admin = shop.client(Role.ADMIN)
    wish = {"name": "ann", "role": "editor", "project": "p1"}
    once = {"Idempotency-Key": "make-ann"}
    made = told(admin.post("/api/ops/keys", json=wish, headers=once), 201)
    again = told(admin.post("/api/ops/keys", json=wish, headers=once), 201)
    assert (again["key_id"], again["token"]) == (made["key_id"], None), "it is kept nowhere"
    hers = shop.client(key=made["token"])
    assert told(hers.get("/api/work/jobs"))["items"] == []
    listed = told(admin.get("/api/ops/keys", params={"limit": 1}))
    assert (len(listed["items"]), listed["next"] is not None) == (1, True)
    told(admin.post("/api/ops/keys/revoke", params={"key_id": made["key_id"]}))
    assert told(hers.get("/api/work/jobs"), 401)
    (gone,) = told(admin.get("/api/ops/keys", params={"status": "revoked"}))["items"]
    assert gone["key_id"] == made["key_id"]
    bound = shop.client(Role.ADMIN, project="p2")
    assert told(bound.post("/api/ops/keys", json=wish), 403)["type"] == "out-of-scope"
    assert told(bound.post("/api/ops/keys", json={"name": "x", "role": "viewer"}), 201)["project"] == "p2"
    assert told(hers.post("/api/ops/keys", json=wish), 401)


def test_health_tells_what_is_wrong_and_charts_have_an_hour_of_this_process(workshop: Workshop) -> None:
    admin = workshop.client(Role.ADMIN)
    healthy = told(admin.get("/api/ops/health"))
    assert (healthy["status"], healthy["store_reachable"]) == ("ok", True)
    assert {p["part"] for p in healthy["parts"]} >= {"store"}
    for _ in range(3):
        workshop.tick(seconds=10)
        admin.get("/api/work/jobs")
        admin.get("/nowhere")
    series = told(admin.get("/api/ops/metrics/series"))
    assert series["step_seconds"] == 10
    assert [(p["requests"], p["refused"]) for p in series["points"][-3:]] == [(2, 1)] * 3
    assert series["points"][-1]["stored"]["tasks_waiting"] == 0
    assert series["points"][-2]["stored"] == {}, "nobody looked"
    workshop.tick(hours=2)
    assert len(told(admin.get("/api/ops/metrics/series"))["points"]) == 1
    assert told(workshop.client(Role.ADMIN, project="p1").get("/api/ops/health"), 403)


def test_a_queue_that_nobody_works_on_is_an_alert(workshop: Workshop) -> None:
    workshop.task(name="vase")
    workshop.tick(seconds=90)
    admin = workshop.client(Role.ADMIN)
    health = told(admin.get("/api/ops/health"))
    (queue,) = health["unserved_queues"]
    assert (queue["project_id"], queue["name"], health["status"]) == ("p1", "workshop.bake", "troubled")
    text = admin.get("/metrics").text
    assert 'penstock_unserved_queues{task="workshop.bake"} 1.0' in text
    assert "penstock_oldest_task_seconds 90.0" in text


def test_numbers_tell_who_works_for_what_and_what_became_of_attempts(workshop: Workshop) -> None:
    workshop.task(name="vase")
    workshop.task(name="bowl", fails="too hot")
    workshop.workers.drain()
    workshop.workers.runner.presence.tell(0)
    admin = workshop.client(Role.ADMIN)
    lines = admin.get("/metrics").text.splitlines()
    found = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    labels = 'outcome="{}",task="workshop.bake",worker="manual"'
    for outcome in ("done", "terminal"):
        assert found[f"penstock_task_attempts_total{{{labels.format(outcome)}}}"] == "1.0"
        assert float(found[f"penstock_task_seconds_total{{{labels.format(outcome)}}}"]) >= 0
    assert found['penstock_workers{task="workshop.bake"}'] == "1.0"
    assert told(admin.get("/api/ops/health"))["unserved_queues"] == []
