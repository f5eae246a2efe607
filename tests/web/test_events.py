"""Changes as they happen."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.auth.api_keys import list_keys, revoke_key
from penstock.errors import InvalidCursor, Unavailable
from penstock.schema.role import Role
from penstock.web import events, watch
from penstock.web.events import Positions
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


def test_an_id_of_another_domain_s_stream_is_refused() -> None:
    """Where domains have stores of their own, the same place is another one there: changes would be missed."""
    films, others = (Positions(b"a secret of this service", domain) for domain in ("films", "others"))
    assert films.read(films.id_of("7")) == "7"
    with pytest.raises(InvalidCursor):
        films.read(others.id_of("7"))


def test_who_comes_back_too_late_is_told_so_instead_of_missing_something(busy: Service, port: int) -> None:
    key = busy.key(Role.VIEWER)
    listener = Listener(port, EVENTS, key)
    ready = listener.next()
    make(busy, "a", "b")
    first, second = listener.next(), listener.next()
    listener.close()
    engine, shapes = busy.store.engine, [Film.__shape__]
    end = engine.feed_end(shapes)
    assert end is not None
    assert engine.trim(shapes, before=end) == 2
    for missed in (ready, first):
        late = Listener(port, EVENTS, key, last=missed.id)
        assert late.answer.status == 410
        assert json.loads(late.answer.read())["type"] == "feed-trimmed"
        late.close()
    in_time = Listener(port, EVENTS, key, last=second.id)
    assert in_time.next().name == "ready"
    make(busy, "c")
    assert in_time.next().data["key"]["title"] == "c"
    in_time.close()


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


# One reader for all


class Reads:
    """Counts what is read of the feed."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = self.entries = 0
        changes = service.store.engine.changes

        def noted(shapes: Any, *, after: str | None = None, limit: int = 100) -> Any:
            told = changes(shapes, after=after, limit=limit)
            self.times, self.entries = self.times + 1, self.entries + len(told)
            return told

        monkeypatch.setattr(service.store.engine, "changes", noted)

    def after(self, times: int) -> tuple[int, int]:
        """How often it was read, and how much, while it was read so many times more at least."""
        before = (self.times, self.entries)
        deadline = time.monotonic() + 20
        while self.times < before[0] + times:
            assert time.monotonic() < deadline, "nobody reads"
            time.sleep(0.005)
        return self.times - before[0], self.entries - before[1]


def test_others_changes_are_passed_over_once(busy: Service, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    make(busy, "ours", project="p2")
    busy.store.put_many(Film(project_id="p1", title=f"f{n}", created_at=busy.clock.now()) for n in range(5000))
    reads = Reads(busy, monkeypatch)
    key = busy.key(Role.VIEWER, "p2")
    listener = Listener(port, EVENTS, key)
    ready = listener.next()
    assert reads.after(10)[1] == 0, "a stream that begins now reads nothing of what was"
    listener.close()
    busy.store.put_many(Film(project_id="p1", title=f"g{n}", created_at=busy.clock.now()) for n in range(1000))
    before = reads.entries
    again = Listener(port, EVENTS, key, last=ready.id)
    again.next()
    make(busy, "ours too", project="p2")
    heard = again.next()
    assert heard.data["key"]["title"] == "ours too"
    assert reads.entries - before <= 1001 + 50, "those who come back pass over what others did, once"
    make(busy, "theirs")
    reads.after(2)
    assert reads.after(10)[1] == 0
    again.close()


def test_who_comes_back_does_not_pass_over_others_changes_again(
    busy: Service, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = busy.key(Role.VIEWER, "p2")
    listener = Listener(port, EVENTS, key)
    ready = listener.next()
    reads = Reads(busy, monkeypatch)
    busy.store.put_many(Film(project_id="p1", title=f"g{n}", created_at=busy.clock.now()) for n in range(1000))
    while reads.entries < 1000:
        reads.after(1)
    reads.after(2)
    listener.close()
    deadline = time.monotonic() + 20
    while busy.app.state.streams.open:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    before = reads.entries
    again = Listener(port, EVENTS, key, last=ready.id)
    assert again.next().id != ready.id, "it says how far it is"
    make(busy, "ours", project="p2")
    assert again.next().data["key"]["title"] == "ours"
    assert reads.entries - before <= 3
    again.close()


def test_a_hundred_streams_cost_what_one_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(tmp_path, poll=timedelta(milliseconds=50), streams_each=1000)
    reads = Reads(service, monkeypatch)
    keys = [service.key(Role.VIEWER, project) for project in ("p1", "p2")] + [service.key(Role.ADMIN)]
    with serving(service.app) as port:
        listeners = [Listener(port, EVENTS, keys[n % 3]) for n in range(60)]
        for listener in listeners:
            listener.next()
        reads.after(3)
        begun, (before, _) = time.monotonic(), (reads.times, reads.entries)
        make(service, *(f"f{n}" for n in range(20)))
        told = [
            [listener.next().data["key"]["title"] for _ in range(20)]
            for n, listener in enumerate(listeners)
            if n % 3 != 1
        ]
        assert told == [[f"f{n}" for n in range(20)]] * 40
        most = (time.monotonic() - begun) / 0.05 + 3
        assert reads.times - before <= most, "one reader reads"
        assert reads.entries <= 40, "and each change once"
        for listener in listeners:
            listener.close()


def test_who_was_away_gets_all_in_order_while_more_is_written(busy: Service, port: int) -> None:
    key = busy.key(Role.VIEWER, "p1")
    listener = Listener(port, EVENTS, key)
    ready = listener.next()
    listener.close()
    titles = [f"f{n:04d}" for n in range(400)]
    writer = threading.Thread(target=lambda: make(busy, *titles))
    writer.start()
    streams = [Listener(port, EVENTS, key, last=ready.id) for _ in range(2)]
    try:
        for stream in streams:
            stream.next()
            assert [stream.next().data["key"]["title"] for _ in titles] == titles
    finally:
        writer.join()
        for stream in streams:
            stream.close()


def test_one_who_does_not_read_is_let_go_and_keeps_nobody_waiting(
    busy: Service, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RECENT_BYTES", 2_000_000)
    slow, quick = (Listener(port, EVENTS, busy.key(Role.VIEWER)) for _ in range(2))
    ready = slow.next()
    quick.next()
    large = {"text": "x" * 200_000}
    titles = [f"f{n:03d}" for n in range(100)]
    for title in titles:
        busy.store.create(Film(project_id="p1", title=title, notes=large, created_at=busy.clock.now()))
        assert quick.next().data["key"]["title"] == title
    heard = [ready]
    with pytest.raises(EOFError):
        while True:
            heard.append(slow.next())
    assert len(heard) <= len(titles), "20 MB do not wait for it"
    again = Listener(port, EVENTS, busy.key(Role.VIEWER), last=heard[-1].id)
    again.next()
    rest = [again.next().data["key"]["title"] for _ in titles[len(heard) - 1 :]]
    assert [e.data["key"]["title"] for e in heard[1:]] + rest == titles
    for listener in (quick, again):
        listener.close()


def test_one_who_never_reads_does_not_keep_its_place(busy: Service, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_PATIENCE", 0.2)
    slow = Listener(port, EVENTS, busy.key(Role.VIEWER))
    slow.next()
    for number in range(60):
        large = Film(project_id="p1", title=f"f{number}", notes={"text": "x" * 300_000}, created_at=busy.clock.now())
        busy.store.create(large)
    deadline = time.monotonic() + 20
    while busy.app.state.streams.open:
        assert time.monotonic() < deadline, "its place is not given back"
        time.sleep(0.02)
    slow.close()


def test_one_caller_does_not_take_all_streams(tmp_path: Path) -> None:
    service = Service(tmp_path, poll=timedelta(milliseconds=20), streams=100)
    greedy, other = service.key(Role.VIEWER), service.key(Role.VIEWER)
    with serving(service.app) as port:
        listeners = [Listener(port, EVENTS, greedy) for _ in range(10)]
        for listener in listeners:
            listener.next()
        refused = Listener(port, EVENTS, greedy)
        body = json.loads(refused.answer.read())
        assert (refused.answer.status, body["type"]) == (503, "too-many-streams")
        assert "this key has 10" in body["detail"]
        refused = Listener(port, EVENTS, other)
        assert "this address has 10" in json.loads(refused.answer.read())["detail"]
        listeners.pop().close()
        deadline = time.monotonic() + 20
        while (free := Listener(port, EVENTS, greedy)).answer.status != 200:
            assert time.monotonic() < deadline, "a place that was left is free"
        free.next()
        for listener in [*listeners, free]:
            listener.close()


def test_callers_who_come_at_once_are_counted(tmp_path: Path) -> None:
    service = Service(tmp_path, poll=timedelta(milliseconds=20), streams_each=5)
    key = service.key(Role.VIEWER)
    with serving(service.app) as port, ThreadPoolExecutor(20) as pool:
        listeners = list(pool.map(lambda _: Listener(port, EVENTS, key), range(20)))
        assert [x.answer.status for x in listeners].count(200) == 5
        for listener in listeners:
            listener.close()


def test_a_stream_ends_when_the_store_is_away_and_is_taken_up_again(
    busy: Service, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = busy.key(Role.VIEWER)
    listener = Listener(port, EVENTS, key)
    ready = listener.next()

    def away(*_: Any, **__: Any) -> Any:
        raise Unavailable("the store is away")

    with monkeypatch.context() as patched:
        patched.setattr(busy.store.engine, "changes", away)
        assert not [line for line in listener.lines() if line.startswith("event")], "it ends"
    make(busy, "a")
    again = Listener(port, EVENTS, key, last=ready.id)
    again.next()
    assert again.next().data["key"]["title"] == "a"
    again.close()


def test_the_reader_is_as_strict_as_a_bound_store_on_every_engine(
    anywhere: Store, tmp_path: Path, clock: FrozenClock
) -> None:
    service = Service(tmp_path, store=anywhere, clock=clock, poll=timedelta(milliseconds=50))
    keys = {project: service.key(Role.VIEWER, project) for project in ("p1", "p2")}
    with serving(service.app) as port:
        listeners = {project: Listener(port, EVENTS, key, patience=60) for project, key in keys.items()}
        ready = {project: listener.next().id for project, listener in listeners.items()}
        for number in range(3):
            for project in keys:
                make(service, f"{project} {number}", project=project)
        own = {project: [listener.next() for _ in range(3)] for project, listener in listeners.items()}
        for project, told in own.items():
            assert {e.data["key"]["project_id"] for e in told} == {project}
            assert [e.data["key"]["title"] for e in told] == [f"{project} {n}" for n in range(3)]
            again = Listener(port, EVENTS, keys[project], last=ready[project], patience=60)
            again.next()
            assert [again.next().data["key"]["title"] for _ in range(3)] == [f"{project} {n}" for n in range(3)]
            for each in (listeners[project], again):
                each.close()
