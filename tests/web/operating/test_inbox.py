"""The inbox has what needs a person, in groups, and nobody is told of what they could not decide."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.schema.role import Role
from penstock.work.assignment import assign
from tests.web.operating.workshop import POTTERY, Pot, PotStatus, Workshop, told


def groups(client: Any, **asked: Any) -> dict[str, Any]:
    return {g["key"]: g for g in told(client.get("/api/work/inbox", params=asked))["groups"]}


def test_what_needs_a_person_is_in_their_inbox_on_every_engine(workshops: Workshop) -> None:
    shop = workshops
    job = shop.job()
    shop.pot("vase", cracked=True)
    shop.task(fails="never")
    shop.task(fails="odd")
    shop.workers.drain()
    found = groups(shop.client(Role.ADMIN))
    assert {"reviews", "workshop.0", "dead_tasks", "quarantined_tasks", "over_quota"} == found.keys()
    (review,) = found["reviews"]["items"]
    assert (review["job_id"], review["fields"]["step"], review["project"]) == (job, "form", "p1")
    (pot,) = found["workshop.0"]["items"]
    assert pot["record"]["path"] == "/api/workshop/pots/p1/vase"
    assert found["workshop.0"]["title"] == "Cracked pots"
    (dead,) = found["dead_tasks"]["items"]
    assert (dead["title"], dead["detail"]) == ("workshop.bake", "never")
    whole = told(shop.client(Role.ADMIN).get("/api/work/inbox"))
    assert whole["count"] == {"number": 5, "more": False}
    POTTERY.approve(shop.store, job, round=1, by="bob")
    shop.store.modify(Pot.at(project_id="p1", name="vase"), lambda p: p.mend())
    assert {"dead_tasks", "quarantined_tasks", "over_quota"} == groups(shop.client(Role.ADMIN)).keys()


def test_nobody_is_told_of_what_they_could_not_decide(workshop: Workshop) -> None:
    workshop.job()
    workshop.task(fails="never")
    workshop.workers.drain()
    assert groups(workshop.client(Role.VIEWER)) == {}
    assert "dead_tasks" not in groups(workshop.client(Role.EDITOR))
    refused = workshop.client(Role.EDITOR).get("/api/work/inbox/dead_tasks")
    assert told(refused, 404)["type"] == "not-found"


def test_one_bound_to_a_project_sees_that_project_only(workshops: Workshop) -> None:
    shop = workshops
    shop.job("p1")
    shop.job("p2")
    shop.pot("vase", "p2", cracked=True)
    shop.task("p2", fails="never")
    shop.workers.drain()
    mine = groups(shop.client(Role.ADMIN, project="p1"))
    assert len(mine["reviews"]["items"]) == 1
    assert {"reviews", "over_quota"} == mine.keys()
    theirs = groups(shop.client(Role.ADMIN, project="p2"))
    assert {"reviews", "workshop.0", "dead_tasks", "over_quota"} == theirs.keys()


def test_what_is_assigned_comes_first_by_when_it_is_due_and_goes_once_it_is_done(workshops: Workshop) -> None:
    shop = workshops
    jobs = [shop.job() for _ in range(3)]
    shop.workers.drain()
    editor = shop.client(Role.EDITOR)
    now = shop.store.clock.now()
    for job, hours in zip(jobs, (None, 5, -1), strict=True):
        due = None if hours is None else (now + timedelta(hours=hours)).isoformat()
        body = {"kind": "work.Job", "key": {"job_id": job}, "assignee": "a viewer", "due_at": due, "note": "the rim"}
        assert told(editor.post("/api/work/assignments", json=body))["assignee"] == "a viewer"
    mine = groups(shop.client(Role.VIEWER))["assigned"]["items"]
    assert [i["job_id"] for i in mine] == [jobs[2], jobs[1], jobs[0]]
    assert [i["overdue"] for i in mine] == [True, False, False]
    assert {i["title"] for i in mine} == {"workshop.pottery: form, run 1"}, "as its review is called"
    reviews = groups(editor)["reviews"]["items"]
    assert {(i["assignee"], i["detail"]) for i in reviews} == {("a viewer", "the rim")}
    assert [(i["due_at"], i["detail"]) for i in mine] == [(i["due_at"], "the rim") for i in reviews]
    assert "assigned" not in groups(editor), "it is another's"
    POTTERY.approve(shop.store, jobs[2], round=1, by="bob")
    body = {"kind": "work.Job", "key": {"job_id": jobs[1]}}
    assert told(editor.post("/api/work/assignments/end", json=body))["assignee"] is None
    assert [i["job_id"] for i in groups(shop.client(Role.VIEWER))["assigned"]["items"]] == [jobs[0]]


def test_what_is_overdue_stands_first_however_long_others_have_waited(workshops: Workshop) -> None:
    """Overdue, then by when it is due, then the one that has waited longest; page by page, and nothing twice."""
    shop = workshops
    jobs = []
    for _ in range(5):
        jobs.append(shop.job())
        shop.workers.drain()
        shop.tick(minutes=1)
    editor = shop.client(Role.EDITOR)
    now = shop.store.clock.now()
    for job, hours in ((jobs[2], 3), (jobs[3], 1), (jobs[4], -2)):
        due = (now + timedelta(hours=hours)).isoformat()
        body = {"kind": "work.Job", "key": {"job_id": job}, "assignee": "somebody", "due_at": due}
        told(editor.post("/api/work/assignments", json=body))
    whole = groups(editor, limit=5)["reviews"]
    assert [i["job_id"] for i in whole["items"]] == [jobs[4], jobs[3], jobs[2], jobs[0], jobs[1]]
    assert [i["overdue"] for i in whole["items"]] == [True, False, False, False, False]
    group, seen = groups(editor, limit=2)["reviews"], []
    while True:
        seen += [i["job_id"] for i in group["items"]]
        assert group["count"] == {"number": 5, "more": False}
        if group["next"] is None:
            break
        group = told(editor.get("/api/work/inbox/reviews", params={"limit": 2, "cursor": group["next"]}))
    assert seen == [i["job_id"] for i in whole["items"]]
    wrong = editor.get("/api/work/inbox/reviews", params={"cursor": "due.bm8"})
    assert told(wrong, 400)["type"] == "invalid-cursor"


def test_duties_that_are_over_hide_none_that_stand(workshop: Workshop) -> None:
    """What somebody was asked to look at, and has, is left out however much of it there is."""
    now = workshop.store.clock.now()
    with workshop.store.change(by="tests") as change:
        for n in range(12):
            pot = change.create(Pot(project_id="p1", name=f"{n:03d}", made_at=now))
            assign(change, pot, assignee="a editor", due_at=now - timedelta(days=20 - n), by="tests")
    for n in range(11):
        workshop.store.modify(Pot.at(project_id="p1", name=f"{n:03d}"), lambda p: p.crack())
    group = groups(workshop.client(Role.EDITOR), limit=3)["assigned"]
    assert [i["record"]["path"].rsplit("/", 1)[1] for i in group["items"]] == ["011"]
    assert (group["count"], group["next"]) == ({"number": 1, "more": False}, None)


def test_what_is_in_two_groups_is_counted_once(workshops: Workshop) -> None:
    """A review that somebody has claimed, and a record of a domain's that is put before them twice."""
    shop = workshops
    jobs = [shop.job() for _ in range(2)]
    shop.workers.drain()
    shop.pot("vase", cracked=True)
    shop.pot("bowl")
    editor = shop.client(Role.EDITOR)

    def count(limit: int) -> int:
        return int(told(editor.get("/api/work/inbox", params={"limit": limit}))["count"]["number"])

    assert count(5) == 4
    mine: list[tuple[str, dict[str, str]]] = [("work.Job", {"job_id": job}) for job in jobs]
    mine += [("workshop.Pot", {"project_id": "p1", "name": name}) for name in ("vase", "bowl")]
    for kind, key in mine:
        told(editor.post("/api/work/assignments", json={"kind": kind, "key": key, "assignee": "a editor"}))
    assert len(groups(editor)["assigned"]["items"]) == 4
    assert [count(limit) for limit in (1, 5)] == [5, 5], "all but the bowl were counted before"
    POTTERY.approve(shop.store, jobs[0], round=1, by="bob")
    assert count(5) == 4


def test_any_record_can_be_assigned_and_only_one_that_is_there(workshop: Workshop) -> None:
    workshop.pot("vase", cracked=True)
    editor = workshop.client(Role.EDITOR)
    body = {"kind": "workshop.Pot", "key": {"project_id": "p1", "name": "vase"}, "assignee": "ann"}
    assert told(editor.post("/api/work/assignments", json=body))["record"]["path"] == "/api/workshop/pots/p1/vase"
    gone = {**body, "key": {"project_id": "p1", "name": "none"}}
    assert told(editor.post("/api/work/assignments", json=gone), 404)["type"] == "not-found"
    odd = {**body, "kind": "workshop.Kiln"}
    assert "names no record" in told(editor.post("/api/work/assignments", json=odd), 422)["detail"]
    elsewhere = workshop.client(Role.EDITOR, project="p2")
    assert told(elsewhere.post("/api/work/assignments", json=body), 404)["type"] == "not-found"


def test_a_group_is_counted_up_to_a_hundred_and_has_a_cursor_for_more(workshop: Workshop) -> None:
    now = workshop.store.clock.now()
    workshop.store.put_many(
        Pot(project_id="p1", name=f"{n:03d}", made_at=now, status=PotStatus.CRACKED) for n in range(130)
    )
    editor = workshop.client(Role.EDITOR)
    group = groups(editor, limit=10)["workshop.0"]
    assert (len(group["items"]), group["count"]) == (10, {"number": 100, "more": True})
    seen = [i["title"] for i in group["items"]]
    while group["next"]:
        asked = {"cursor": group["next"], "limit": 50}
        group = told(editor.get("/api/work/inbox/workshop.0", params=asked))
        seen += [i["title"] for i in group["items"]]
    assert len(seen) == len(set(seen)) == 130
    wrong = editor.get("/api/work/inbox/workshop.0", params={"cursor": "bm8"})
    assert told(wrong, 400)["type"] == "invalid-cursor"


def test_dead_and_held_messages_are_in_the_inbox_of_administrators(workshop: Workshop) -> None:
    pot = workshop.pot("vase")
    with workshop.store.change(by="tests") as change:
        change.emit("pot.made", change.track(pot))
    (message,) = workshop.store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    with workshop.store.change() as change:
        change.save(change.track(message).bury(error="no such host"))
    (dead,) = groups(workshop.client(Role.ADMIN))["dead_messages"]["items"]
    assert (dead["title"], dead["detail"]) == ("pot.made", "no such host")
