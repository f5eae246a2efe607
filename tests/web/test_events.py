"""Changes as they happen."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.access import Role
from penstock.keys import list_keys, revoke_key
from penstock.work.task import Progress
from tests.web.films import Film
from tests.web.service import Service
from tests.web.serving import Listener, serving

EVENTS = "/api/films/events"


@pytest.fixture
def busy(tmp_path: Path) -> Service:
    quick = timedelta(milliseconds=20)
    return Service(tmp_path, poll=quick, heartbeat=timedelta(milliseconds=100), streams=3)


@pytest.fixture
def port(busy: Service) -> Iterator[int]:
    with serving(busy.app) as port:
        yield port


def make(service: Service, *titles: str, project: str = "p1") -> None:
    for title in titles:
        service.store.create(Film(project_id=project, title=title, created_at=service.clock.now()))


def test_changes_arrive_as_they_happen_and_a_stream_is_taken_up_where_it_broke_off(busy: Service, port: int) -> None:
    make(busy, "before")
    key = busy.key(Role.VIEWER)
    listener = Listener(port, EVENTS, key)
    assert listener.answer.getheader("content-type", "").startswith("text/event-stream")
    ready = listener.next()
    assert ready.name == "ready"
    make(busy, "a", "b")
    first = listener.next()
    assert (first.name, first.data["new"]["title"], first.data["old"]) == ("films.insert", "a", None)
    listener.close()
    busy.store.delete(Film.at(project_id="p1", title="a"))
    again = Listener(port, EVENTS, key, last=first.id)
    assert again.next().name == "ready"
    assert [again.next().data["key"]["title"] for _ in range(2)] == ["b", "a"]
    from_ready = Listener(port, EVENTS, key, last=ready.id)
    assert from_ready.next().id == ready.id
    assert [(e.name, e.data["key"]["title"]) for e in (from_ready.next() for _ in range(3))] == [
        ("films.insert", "a"),
        ("films.insert", "b"),
        ("films.remove", "a"),
    ]
    again.close()
    from_ready.close()


def test_a_bound_caller_hears_of_one_project(busy: Service, port: int) -> None:
    listener = Listener(port, EVENTS, busy.key(Role.VIEWER, "p2"))
    listener.next()
    make(busy, "theirs")
    make(busy, "ours", project="p2")
    assert listener.next().data["key"] == {"project_id": "p2", "title": "ours"}
    listener.close()


def test_a_stream_says_that_it_is_alive_and_ends_with_its_key(busy: Service, port: int) -> None:
    listener = Listener(port, EVENTS, busy.key(Role.VIEWER))
    lines = listener.lines()
    assert ": still here" in [next(lines) for _ in range(7)]
    (key,) = list_keys(busy.store)
    revoke_key(busy.store, key.key_id, by="tests")
    assert list(lines)[-1] == "", "it ends by itself"


def test_there_is_room_for_so_many_streams(busy: Service, port: int) -> None:
    key = busy.key(Role.VIEWER)
    listeners = [Listener(port, EVENTS, key) for _ in range(3)]
    for listener in listeners:
        listener.next()
    refused = Listener(port, EVENTS, key)
    assert (refused.answer.status, b"too-many-streams" in refused.answer.read()) == (503, True)
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize("last", ["1", "AAAA", "é", "x" * 500])
def test_an_id_that_we_did_not_give_is_refused(busy: Service, last: str) -> None:
    viewer = busy.client(Role.VIEWER)
    refused = viewer.get(EVENTS, headers={b"Last-Event-ID": last.encode()})
    assert (refused.status_code, refused.json()["type"]) == (400, "invalid-cursor")


def test_progress_of_work_is_a_stream_too(busy: Service, port: int) -> None:
    listener = Listener(port, "/api/work/events", busy.key(Role.VIEWER, "p1"))
    listener.next()
    now = busy.clock.now()
    for project in ("p2", "p1"):
        moment: dict[str, Any] = {n: now for n in ("at_moment", "told_at") if n in Progress.model_fields}
        ttl = int(now.timestamp()) + 1000
        busy.store.put(Progress(task_id=f"of {project}", epoch=1, project_id=project, fraction=0.5, ttl=ttl, **moment))
    told = listener.next()
    assert (told.data["key"]["task_id"], told.data["new"]["fraction"]) == ("of p1", 0.5)
    listener.close()


def test_only_domains_with_a_feed_have_a_stream(service: Service) -> None:
    assert service.client(Role.ADMIN).get("/api/ops/events").status_code == 404
