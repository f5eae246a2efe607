"""One stream of everything: of every domain, and of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from penstock import Domain, Entity, FrozenClock, Move, Role, Store, Table, key
from penstock.auth.api_keys import list_keys, revoke_key
from penstock.declare import Personal
from penstock.plugin import DomainPlugin
from penstock.work.task import Progress
from penstock.work.working import WORKING
from tests.web.films import INSTALLED as FILMS
from tests.web.films import Film, FilmStatus
from tests.web.service import Service
from tests.web.serving import Event, Listener, serving

pytestmark = pytest.mark.every_engine  # each tells of its changes in its own way
EVENTS = "/api/events"
QUICK: dict[str, Any] = {
    "poll": timedelta(milliseconds=20),
    "costly_poll": timedelta(milliseconds=100),
    "heartbeat": timedelta(milliseconds=300),
}


class Light(StrEnum):
    OFF = "off"
    ON = "on"


class Lamp(Entity, table=Table("MergedLamps", partition="PK", feed=True)):
    """It belongs to no project."""

    name: str
    owner: Personal[str] = "nobody"
    light: Light = Light.OFF

    @key("LAMP#{name}")
    def at(self, *, name: str) -> None: ...

    switch_on = Move(Light.OFF, to=Light.ON)


class Fuse(Entity, table=Table("MergedFuses", partition="PK", feed=True), seen_by=Role.ADMIN):
    """Nobody but an administrator hears of it."""

    name: str

    @key("FUSE#{name}")
    def at(self, *, name: str) -> None: ...


class Torch(Entity, table=Table("MergedTorches", partition="PK", feed=True)):
    """It comes late."""

    name: str

    @key("TORCH#{name}")
    def at(self, *, name: str) -> None: ...


LAMPS = DomainPlugin(Domain("lamps", Lamp, Fuse))
TORCHES = DomainPlugin(Domain("torches", Torch))


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return (FILMS.domain, LAMPS.domain, WORKING)


@pytest.fixture
def busy(anywhere: Store, clock: FrozenClock, tmp_path: Path) -> Service:
    return Service(tmp_path, installed=(FILMS, LAMPS), store=anywhere, clock=clock, **QUICK)


@pytest.fixture
def port(busy: Service) -> Iterator[int]:
    with serving(busy.app) as port:
        yield port


@contextmanager
def listening(port: int, key: str, *, of: str = "", last: str | None = None) -> Iterator[Listener]:
    listener = Listener(port, EVENTS + (f"?of={of}" if of else ""), key, last=last)
    try:
        yield listener
    finally:
        listener.close()


def film(service: Service, title: str, project: str = "p1") -> None:
    service.store.create(Film(project_id=project, title=title, created_at=service.clock.now()))


def told(event: Event) -> str:
    """Which domain's, and what it is called."""
    return f"{event.data['domain']} {event.data['key'].get('title', event.data['key'].get('name'))}"


def changes(listener: Listener, count: int) -> list[Event]:
    """The next changes; that the stream is alive is passed over."""
    found: list[Event] = []
    while len(found) < count:
        event = listener.next()
        if event.name not in ("ready", "alive"):
            found.append(event)
    return found


def test_changes_of_all_domains_and_of_work_come_in_one_stream(busy: Service, port: int) -> None:
    with listening(port, busy.key(Role.VIEWER)) as listener:
        ready = listener.next()
        assert (ready.name, ready.data) == (
            "ready",
            {"parts": ["films", "lamps", "work", "review"], "trimmed": [], "begun": []},
        )
        film(busy, "a")
        assert changes(listener, 1)[0].name == "films.films.insert"
        busy.store.create(Lamp(name="desk", owner="Ann"))
        (lamp,) = changes(listener, 1)
        assert (lamp.name, lamp.data["domain"], lamp.data["new"]) == (
            "lamps.lamps.insert",
            "lamps",
            {"name": "desk", "light": "off"},
        )
        now = int(busy.clock.now().timestamp())
        told_at = busy.clock.now()
        busy.store.put(Progress(task_id="t", project_id="p1", fraction=0.5, told_at=told_at, ttl=now + 1000))
        assert changes(listener, 1)[0].name == "work.progress.insert"


def test_a_stream_is_taken_up_whole_without_a_change_missed_or_told_twice(busy: Service, port: int) -> None:
    key = busy.key(Role.VIEWER)
    with listening(port, key) as listener:
        listener.next()
        film(busy, "a")
        busy.store.create(Lamp(name="a"))
        heard = changes(listener, 2)
    film(busy, "b")
    busy.store.create(Lamp(name="b"))
    for place in (0, 1):
        with listening(port, key, last=heard[place].id) as again:
            found = changes(again, 3 - place)
            every = [told(e) for e in (*heard[: place + 1], *found)]
            assert sorted(every) == ["films a", "films b", "lamps a", "lamps b"]


def test_an_id_that_came_while_nothing_happened_is_as_good(busy: Service, port: int) -> None:
    key = busy.key(Role.VIEWER)
    with listening(port, key) as listener:
        listener.next()
        film(busy, "a")
        changes(listener, 1)
        alive = listener.next()
        assert alive.name == "alive"
    film(busy, "b")
    with listening(port, key, last=alive.id) as again:
        assert [e.data["key"]["title"] for e in changes(again, 1)] == ["b"]


def test_another_process_takes_a_stream_up(busy: Service, port: int, tmp_path: Path) -> None:
    key = busy.key(Role.VIEWER)
    with listening(port, key) as listener:
        listener.next()
        film(busy, "a")
        busy.store.create(Lamp(name="a"))
        first, _ = changes(listener, 2)
    film(busy, "b")
    other = Service(tmp_path, installed=(FILMS, LAMPS), store=busy.store, clock=busy.clock, **QUICK)
    with serving(other.app) as elsewhere, listening(elsewhere, key, last=first.id) as again:
        assert len({e.data["key"].get("title", e.data["key"].get("name")) for e in changes(again, 2)}) == 2


def test_a_domain_that_was_not_there_yet_is_heard_from_its_beginning(
    anywhere: Store, clock: FrozenClock, tmp_path: Path
) -> None:
    before = Service(tmp_path, installed=(FILMS,), store=anywhere, clock=clock, **QUICK)
    key = before.key(Role.VIEWER)
    with serving(before.app) as port, listening(port, key) as listener:
        last = listener.next()
    after = Service(tmp_path, installed=(FILMS, TORCHES), store=anywhere, clock=clock, **QUICK)
    after.store.create(Torch(name="first"))
    with serving(after.app) as port, listening(port, key, last=last.id) as listener:
        assert changes(listener, 1)[0].data["key"] == {"name": "first"}


def test_what_was_not_listened_to_begins_when_it_is_asked_for(busy: Service, port: int) -> None:
    key = busy.key(Role.VIEWER)
    with listening(port, key, of="films") as listener:
        last = listener.next()
        assert last.data["parts"] == ["films"]
    busy.store.create(Lamp(name="long ago"))
    film(busy, "a")
    with listening(port, key, of="films,lamps", last=last.id) as listener:
        assert listener.next().data["begun"] == ["lamps"]
        busy.store.create(Lamp(name="now"))
        assert sorted(str(e.data["key"].get("name")) for e in changes(listener, 2)) == ["None", "now"]


@pytest.mark.parametrize("of", ["lamps.lamps", "lamps.lamps,work", " lamps.lamps , lamps.lamps"])
def test_a_stream_is_narrowed_to_collections(busy: Service, port: int, of: str) -> None:
    with listening(port, busy.key(Role.ADMIN), of=of.replace(" ", "%20")) as listener:
        assert listener.next().name == "ready"
        film(busy, "a")
        busy.store.create(Fuse(name="main"))
        busy.store.create(Lamp(name="desk"))
        (only,) = changes(listener, 1)
        assert (only.name, only.data["new"]["owner"]) == ("lamps.lamps.insert", "nobody")


def test_nobody_hears_of_what_their_role_is_not_shown(busy: Service, port: int) -> None:
    with listening(port, busy.key(Role.EDITOR)) as editor, listening(port, busy.key(Role.ADMIN)) as admin:
        editor.next()
        admin.next()
        busy.store.create(Fuse(name="main"))
        busy.store.create(Lamp(name="desk"))
        assert changes(editor, 1)[0].name == "lamps.lamps.insert"
        assert {e.name for e in changes(admin, 2)} == {"lamps.fuses.insert", "lamps.lamps.insert"}
    refused = busy.client(Role.EDITOR).get(f"{EVENTS}?of=lamps.fuses")
    assert (refused.status_code, refused.json()["type"]) == (403, "forbidden")


def test_what_one_was_not_shown_is_not_passed_over_for_another(busy: Service, port: int) -> None:
    """Both know the same place of the feed; the one who hears nothing goes on from it first."""
    editors, admins = busy.key(Role.EDITOR), busy.key(Role.ADMIN)
    with listening(port, admins) as admin:
        last = admin.next()
    busy.store.create(Fuse(name="main"))
    with listening(port, editors, last=last.id) as editor:
        editor.next()
        assert editor.next().name == "alive"
    with listening(port, admins, last=last.id) as admin:
        assert changes(admin, 1)[0].name == "lamps.fuses.insert"


def test_a_bound_caller_hears_of_one_project_and_a_narrowed_one_too(busy: Service, port: int) -> None:
    with listening(port, busy.key(Role.ADMIN, "p2")) as listener:
        assert listener.next().data["parts"] == ["films", "work", "review"], "lamps belong to no project"
        film(busy, "theirs")
        film(busy, "ours", "p2")
        assert [e.data["key"]["title"] for e in changes(listener, 1)] == ["ours"]
    asked = {"X-Project": "p2"}
    refused = busy.client(Role.ADMIN).get(f"{EVENTS}?of=lamps.lamps", headers=asked)
    assert (refused.status_code, refused.json()["type"]) == (403, "forbidden")


def test_who_comes_too_late_for_a_part_is_told_which_and_hears_the_others(busy: Service, port: int) -> None:
    if busy.store.engine.features.native_trimming:
        pytest.skip("the store forgets by itself, after a day")
    key = busy.key(Role.VIEWER)
    with listening(port, key) as listener:
        last = listener.next()
    film(busy, "a")
    busy.store.create(Lamp(name="a"))
    shapes = [Film.__shape__]
    end = busy.store.engine.feed_end(shapes)
    assert end is not None
    assert busy.store.engine.trim(shapes, before=end) == 1
    with listening(port, key, last=last.id) as listener:
        assert listener.next().data["trimmed"] == ["films"]
        film(busy, "b")
        assert sorted(str(e.data["key"].get("title")) for e in changes(listener, 2)) == ["None", "b"]


def test_a_stream_ends_with_its_key(busy: Service, port: int) -> None:
    with listening(port, busy.key(Role.VIEWER)) as listener:
        listener.next()
        (known,) = list_keys(busy.store)
        revoke_key(busy.store, known.key_id, by="tests")
        assert not [line for line in listener.lines() if "films" in line], "it ends by itself"


@pytest.fixture
def quiet(tmp_path: Path) -> Service:
    return Service(tmp_path, installed=(FILMS, LAMPS), **QUICK)


@pytest.mark.parametrize(
    "of", ["paintings", "films.paintings", ",", "films." + "x" * 300, ",".join(map(str, range(200)))]
)
def test_a_part_that_is_not_there_is_refused(quiet: Service, of: str) -> None:
    refused = quiet.client(Role.VIEWER).get(EVENTS, params={"of": of})
    assert (refused.status_code, refused.json()["type"]) == (422, "invalid-request")
    assert len(refused.text) < 4000


@pytest.mark.parametrize("last", ["1", "AAAA", "x" * 500])
def test_an_id_that_we_did_not_give_is_refused(quiet: Service, last: str) -> None:
    refused = quiet.client(Role.VIEWER).get(EVENTS, headers={"Last-Event-ID": last})
    assert (refused.status_code, refused.json()["type"]) == (400, "invalid-cursor")


def test_however_many_listen_each_feed_is_read_by_one(quiet: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    key = quiet.key(Role.VIEWER)
    read = 0
    with serving(quiet.app) as port:
        listeners = [Listener(port, EVENTS, key) for _ in range(8)]
        for listener in listeners:
            listener.next()
            listener.next()
        changes_of = quiet.store.engine.changes

        def counted(*given: Any, **more: Any) -> Any:
            nonlocal read
            read += 1
            return changes_of(*given, **more)

        monkeypatch.setattr(quiet.store.engine, "changes", counted)
        film(quiet, "a")
        for listener in listeners:
            changes(listener, 1)
        of_all, read = read, 0
        for listener in listeners[1:]:
            listener.close()
        film(quiet, "b")
        changes(listeners[0], 1)
        listeners[0].close()
        assert of_all <= 3 * (read + 3), "eight cost about as much as one"


def test_a_film_that_is_moved_is_told_as_it_was_and_as_it_is(quiet: Service) -> None:
    film(quiet, "a")
    with serving(quiet.app) as port, listening(port, quiet.key(Role.VIEWER)) as listener:
        listener.next()
        with quiet.store.change(by="tests") as change:
            change.save(change.get(Film.at(project_id="p1", title="a")).shoot())
        (told,) = changes(listener, 1)
        states = (told.data["old"]["status"], told.data["new"]["status"])
        assert states == (FilmStatus.DRAFT.value, FilmStatus.FILMED.value)
