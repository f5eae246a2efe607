"""What operators have to see to: work that failed, messages that nobody took, files that nobody needs, duties."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote
from uuid import UUID

from penstock.domains.musicvideo.model import Scene
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.operations.updates import Set
from penstock.work.task import Task, TaskStatus

from .full_house import ANN, BEN, FullHouse

NEVER = "no such host: orders.example"


def operate(house: FullHouse, *, lost: str) -> None:
    """A film that cannot be cut, as a clip of it is lost, and everything else that goes wrong in a week."""
    house.settle()
    store, objects = house.service.store, house.service.objects
    (scene,) = store.find(Scene.of_project(project_id=UUID(lost)))
    assert scene.shown_s3_key is not None
    objects.delete([scene.shown_s3_key])
    house.post(f"/api/mv/projects/{lost}/compose")
    house.made["dead"] = _tried_to_the_end(house)
    _messages(house)
    _duties(house)
    objects.put("mv/projects/nobodys/clip.mp4", b"nobody's")


def _tried_to_the_end(house: FullHouse) -> str:
    """All that waits for its next attempt has it now, until it is given up."""
    store = house.service.store
    while not (dead := list(store.find(Task.by_status(status=TaskStatus.FAILED)))):
        house.settle()
        for task in store.find(Task.by_status(status=TaskStatus.WAITING)):
            store.patch(task.ref, Set("due_at", store.clock.now()), given=task)
    return dead[0].task_id


def _messages(house: FullHouse) -> None:
    """One message was told too often to nobody."""
    store = house.service.store
    waiting = list(store.find(SystemMessage.by_status(status=MessageStatus.PENDING)))
    with store.change() as change:
        change.save(change.track(waiting[0]).bury(error=NEVER))


def _duties(house: FullHouse) -> None:
    """Reviews are somebody's, one of them since this morning."""
    now = house.service.clock.now()
    for job, who, hours in (("knight", ANN, -3), ("sprite", BEN, 20)):
        if job not in house.made:
            continue
        body = {"assignee": who, "due_at": (now + timedelta(hours=hours)).isoformat()}
        answer = house.client().put(f"/api/ac/jobs/{house.made[job]}/review", json=body)
        assert answer.status_code == 200, answer.text
    house.post("/api/ops/dry-runs", {"what": "sweep"}, who=BEN)
    house.settle()
    for job in house.get("/api/work/jobs", name="assetcreator.asset")["items"]:
        for name in {"knight", "sprite", "robot"} & house.made.keys():
            if house.made[name] in job["job_id"]:
                house.made[f"{name}_run"] = quote(job["job_id"], safe="")
    for item in house.get("/api/work/inbox/reviews")["items"]:
        named = "sprite" if house.made["sprite"] in item["job_id"] else "knight"
        house.made[f"{named}_step"] = item["look_at"]["path"].removeprefix("/api/")
    seen = house.get("/api/review/items", record=f"/api/{house.made['sprite_step']}")
    house.made["sprite_before"] = seen["versions"][-1]["record"]
