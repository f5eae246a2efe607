"""What is done to all that match: looked at first, done once, readable afterwards, and nothing else is touched."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from penstock.events.feed import Feed
from penstock.events.feed_records import MISSED, FeedLetter
from penstock.kernel.audit import SystemAudit
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.schema.role import Role
from penstock.work.task import Task, TaskStatus
from tests.web.operating.workshop import POTTERY, TILES, Clay, Workshop, bake, told

RETRY = {"what": "tasks", "action": "retry"}


def bury(shop: Workshop, number: int, project: str = "p1", **more: Any) -> None:
    """Dead letters, written down as they would be."""
    now = shop.store.clock.now()
    shop.store.put_many(
        Task(
            task_id=f"{project}-{n:05d}",
            name="workshop.bake",
            project_id=project,
            input=bake.dump(Clay(name=str(n))),
            status=TaskStatus.FAILED,
            due_at=now,
            most_attempts=1,
            attempts=1,
            created_at=now,
            error_class="Terminal",
            error="never",
            **more,
        )
        for n in range(number)
    )
    shop.tick(seconds=1)


def preview(client: Any, **asked: Any) -> Any:
    return told(client.post("/api/ops/bulk/preview", json=asked))


def begin(client: Any, token: str, why: str | None = None) -> Any:
    return told(client.post("/api/ops/bulk", json={"token": token, "why": why}), 202)


def dead(shop: Workshop, **asked: Any) -> int:
    return sum(1 for _ in shop.store.find(Task.by_status(status=TaskStatus.FAILED)))


def test_all_that_match_are_tried_again_and_nothing_that_came_later(workshops: Workshop) -> None:
    shop = workshops
    bury(shop, 130, "p1")
    bury(shop, 5, "p2")
    admin = shop.client(Role.ADMIN)
    seen = preview(admin, **RETRY, project="p1", name="workshop.bake")
    assert (seen["count"], len(seen["sample"])) == ({"number": 130, "more": False}, 20)
    assert seen["sample"][0] | {"since": None} == {
        "id": "p1-00000",
        "name": "workshop.bake",
        "project": "p1",
        "status": "failed",
        "since": None,
        "error_class": "Terminal",
        "error": "never",
    }
    shop.store.put(
        shop.store.get(Task.at(task_id="p2-00000")).model_copy(
            update={"task_id": "late", "project_id": "p1", "due_at": shop.store.clock.now() + timedelta(seconds=5)}
        )
    )
    begun = begin(admin, seen["token"], "the kiln is mended")
    assert begun["status"] == "running"
    assert shop.workers.run_one() is not None, "the bulk run itself comes first, or one of those it frees"
    shop.workers.drain()
    ended = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))
    assert (ended["status"], ended["done"], ended["refused"]) == ("done", 130, 0)
    assert dead(shop) == 6, "those of the other project, and the one that came later"
    assert [r["bulk_id"] for r in told(admin.get("/api/ops/bulk"))["items"]] == [begun["bulk_id"]]
    lines = list(shop.store.find(SystemAudit.of_project(project_id="p1")))
    assert sum(line.details.get("why") == "the kiln is mended" for line in lines) >= 131


def test_a_token_is_carried_out_once_and_only_for_whoever_has_asked(workshop: Workshop) -> None:
    bury(workshop, 3)
    key = workshop.key(Role.ADMIN)
    admin, other = workshop.client(key=key), workshop.client(Role.ADMIN)
    token = preview(admin, **RETRY)["token"]
    assert "the token is another's" in told(other.post("/api/ops/bulk", json={"token": token}), 403)["detail"]
    first, again = begin(admin, token), begin(admin, token)
    assert first["bulk_id"] == again["bulk_id"]
    workshop.workers.drain()
    bury(workshop, 1, "p3")
    assert begin(admin, token)["status"] == "done"
    workshop.workers.drain()
    assert dead(workshop) == 1
    workshop.tick(hours=2)
    assert "an hour old" in told(admin.post("/api/ops/bulk", json={"token": token}), 422)["detail"]
    assert told(admin.post("/api/ops/bulk", json={"token": token[:-4] + "abcd"}), 422)["type"] == "invalid-value"


def test_a_worker_that_dies_in_the_middle_leaves_the_rest_to_the_next(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    bury(workshop, 250)
    admin = workshop.client(Role.ADMIN)
    begun = begin(admin, preview(admin, **RETRY)["token"])
    settle, calls = type(workshop.system.settling).settle, []

    def die(*given: Any, **more: Any) -> Any:
        calls.append(1)
        done = settle(*given, **more)
        if len(calls) == 2:
            raise KeyboardInterrupt  # as if the process ended: settled, and not noted
        return done

    monkeypatch.setattr(type(workshop.system.settling), "settle", die)
    (work,) = [w for w in workshop.workers.runner.take(1000) if w.task.name == "work.bulk"]
    assert (work.task.most_attempts, work.limit) == (20, timedelta(hours=12)), "what is large may well meet several"
    with pytest.raises(KeyboardInterrupt):
        workshop.workers.runner.run(work)
    workshop.tick(minutes=10)
    workshop.workers.rescue()
    workshop.tick(minutes=10)
    workshop.workers.drain()
    ended = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))
    assert (ended["status"], dead(workshop)) == ("done", 0)
    assert 150 <= ended["done"] <= 250, "a page that was settled by one who died may be left out of the count"


@pytest.mark.parametrize("action", ["retry", "cancel"])
def test_one_that_is_refused_keeps_no_other_from_it(workshop: Workshop, action: str) -> None:
    bury(workshop, 3)
    odd = workshop.store.get(Task.at(task_id="p1-00001")).model_copy(update={"task_id": "odd", "name": "gone.task"})
    workshop.store.put(odd)
    workshop.tick(seconds=1)
    admin = workshop.client(Role.ADMIN)
    begun = begin(admin, preview(admin, what="tasks", action=action, status="failed")["token"], "the kiln is mended")
    workshop.workers.drain()
    ended = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))
    assert (ended["done"], ended["refused"]) == (3, 1)
    assert "no task gone.task is known" in ended["refusals"]["odd"]
    lines = workshop.store.find(SystemAudit.of_project(project_id="p1"))
    said = [line.actor for line in lines if line.details.get("why") == "the kiln is mended"]
    assert said == [ended["asked_by"]] * 3


def test_messages_are_replayed_or_dismissed_and_jobs_cancelled(workshops: Workshop) -> None:
    shop = workshops
    for name in ("a", "b"):
        pot = shop.pot(name)
        with shop.store.change(by="tests") as change:
            change.emit("pot.made", change.track(pot))
        shop.tick(seconds=1)
    for message in list(shop.store.find(SystemMessage.by_status(status=MessageStatus.PENDING))):
        with shop.store.change() as change:
            change.save(change.track(message).bury(error="no such host"))
    shop.tick(seconds=1)
    admin = shop.client(Role.ADMIN)
    for action, left in (("replay", MessageStatus.PENDING), ("dismiss", None)):
        if action == "dismiss":
            for message in list(shop.store.find(SystemMessage.by_status(status=MessageStatus.PENDING))):
                with shop.store.change() as change:
                    change.save(change.track(message).bury(error="no such host"))
        begun = begin(admin, preview(admin, what="messages", action=action, name="pot.made")["token"])
        shop.workers.drain()
        ended = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))
        assert (ended["done"], shop.store.history(message.ref).entries[0].by) == (2, ended["asked_by"]), action
        assert not list(shop.store.find(SystemMessage.by_status(status=MessageStatus.DEAD)))
        if left is not None:
            assert len(list(shop.store.find(SystemMessage.by_status(status=left)))) == 2
    jobs = [shop.job("p1"), shop.job("p2")]
    shop.workers.drain()
    shop.tick(seconds=1)
    bound = shop.client(Role.ADMIN, project="p2")
    begun = begin(bound, preview(bound, what="jobs", action="cancel", status="paused")["token"], "no clay is left")
    shop.workers.drain()
    states = [POTTERY.state(shop.store, job) for job in jobs]
    assert [s.status.value for s in states] == ["paused", "cancelled"], "a bound key settles its own project"
    line = shop.store.history(states[1].ref).entries[0]
    assert (line.by, line.why) == (begun["asked_by"], "no clay is left")


def test_letters_of_feeds_are_settled_in_the_name_of_whoever_asked(workshop: Workshop) -> None:
    now = workshop.store.clock.now()
    told_of = {"entity": "workshop.Pot", "kind": MISSED, "subject": {}, "position": "1", "error": "they are gone"}
    letters = [
        FeedLetter(name=name, handler=handler, ts=now + timedelta(seconds=number), **told_of)  # type: ignore[arg-type]
        for number, (name, handler) in enumerate((("workshop", "weigh"), ("gone", "weigh"), ("workshop", "paint")))
    ]
    workshop.store.put_many(letters)
    workshop.system.feeds = {"workshop": Feed(workshop.store, "workshop", owner="f")}
    workshop.tick(seconds=9)
    admin = workshop.client(Role.ADMIN)
    begun = begin(admin, preview(admin, what="feed_letters", action="replay", name="weigh")["token"])
    workshop.workers.drain()
    ended = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))
    ((name, why),) = ended["refusals"].items()
    assert (ended["done"], name[:5]) == (1, "gone@")
    assert why == "no feed gone is known here; does its domain still have one?"
    assert [workshop.store.get(letter.ref).status.value for letter in letters] == ["settled", "dead", "dead"]
    (settled,) = workshop.store.history(letters[0].ref).entries
    assert (settled.by, settled.moved) == (ended["asked_by"], {"status": ("dead", "settled")})


def test_jobs_that_match_are_those_that_their_list_shows(workshop: Workshop) -> None:
    for pipeline in (POTTERY, POTTERY, TILES):
        workshop.job("p1", pipeline)
    workshop.tick(seconds=1)
    admin = workshop.client(Role.ADMIN)
    for name, number in (("pot", 2), ("workshop.", 3), ("tiles", 1), ("nothing", 0)):
        seen = preview(admin, what="jobs", action="cancel", status="running", name=name)
        listed = told(admin.get("/api/work/jobs", params={"status": "running", "name": name}))["items"]
        assert seen["count"]["number"] == len(listed) == number, name
    other = workshop.job("p2")
    workshop.tick(seconds=1)
    seen = preview(admin, what="jobs", action="cancel", status="running", project="p2")
    assert [(job["id"], job["project"]) for job in seen["sample"]] == [(other, "p2")]


def test_what_cannot_be_done_in_bulk_is_refused_with_what_can(workshop: Workshop) -> None:
    admin = workshop.client(Role.ADMIN)
    for asked, said in (
        ({"what": "tasks", "action": "dismiss"}, "one can retry or cancel them"),
        ({"what": "messages", "action": "replay", "status": "pending"}, "those can that are dead"),
        ({"what": "jobs", "action": "cancel", "error_class": "X"}, "only tasks"),
        ({"what": "feed_letters", "action": "replay", "project": "p1"}, "of no project"),
    ):
        refused = told(admin.post("/api/ops/bulk/preview", json=asked), 422)
        assert said in refused["detail"], asked
    assert told(workshop.client(Role.EDITOR).post("/api/ops/bulk/preview", json=RETRY), 403)
    bound = workshop.client(Role.ADMIN, project="p1")
    assert told(bound.post("/api/ops/bulk/preview", json={**RETRY, "project": "p2"}), 403)["type"] == "out-of-scope"


def test_ten_thousand_dead_letters_are_tried_again_in_a_minute(workshop: Workshop) -> None:
    bury(workshop, 10_000)
    admin = workshop.client(Role.ADMIN)
    seen = preview(admin, **RETRY)
    assert seen["count"] == {"number": 1000, "more": True}
    begun = begin(admin, seen["token"])
    began = time.monotonic()
    assert workshop.workers.run_one() is not None
    passed = time.monotonic() - began
    ended = told(admin.get(f"/api/ops/bulk/{begun['bulk_id']}"))
    assert (ended["status"], ended["done"], dead(workshop)) == ("done", 10_000, 0)
    assert passed < 60, f"{passed:.1f} seconds"
