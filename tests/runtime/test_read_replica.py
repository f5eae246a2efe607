"""Lists that may be behind come from a replica, a real one that streams, and say so; nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import cast

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.errors import Misconfigured
from penstock.kernel import read_replica
from penstock.kernel.read_replica import ReadReplica
from penstock.ports.engine import Engine
from penstock.schema.role import Role
from penstock.testing.simulation import SimulatedEngine
from penstock.work.working import WORKING
from tests.kernel.twins import Twin
from tests.servers import Postgres, PostgresReplica
from tests.web.films import DOMAIN, Film
from tests.web.service import Service

LIST = "/api/films/films"


@pytest.fixture
def replica(replica_server: PostgresReplica) -> PostgresReplica:
    replica_server.start()
    return replica_server


@pytest.fixture
def urls(followed_server: Postgres, replica: PostgresReplica) -> tuple[str, str]:
    """A database of this test, at both."""
    url = followed_server.create_database("films")
    return url, replica.url_of(url.rpartition("/")[2])


@pytest.fixture
def store(urls: tuple[str, str], replica: PostgresReplica) -> Iterator[Store]:
    with closing(open_store(urls[0], read_url=urls[1])) as store:
        store.ensure(DOMAIN, WORKING)
        store.create(film("old"))
        replica.catch_up()
        replica.pause()
        store.create(film("new"))
        yield store
    replica.catch_up()


def film(title: str, project: str = "p1") -> Film:
    return Film(project_id=project, title=title, created_at=FrozenClock().now())


def titles(store: Store, *, behind_ok: bool) -> tuple[list[str], bool]:
    page = store.page(Film.of_project(project_id="p1"), behind_ok=behind_ok)
    return [film.title for film in page.records], page.behind


def test_only_a_list_that_may_be_behind_is_and_says_so(store: Store, replica: PostgresReplica) -> None:
    assert titles(store, behind_ok=False) == (["new", "old"], False)
    assert titles(store, behind_ok=True) == (["old"], True)
    counted = store.count(Film.of_project(project_id="p1"), behind_ok=True)
    assert (counted.number, counted.behind) == (1, True)
    assert store.count(Film.of_project(project_id="p1")).number == 2
    replica.catch_up()
    assert titles(store, behind_ok=True) == (["new", "old"], True), "it may be behind, and is not"


def test_what_decides_is_read_where_it_is_written(store: Store) -> None:
    assert store.get(Film.at(project_id="p1", title="new")).title == "new"
    assert store.first(Film.of_project(project_id="p1")) is not None
    assert [f.title for f in store.find(Film.of_project(project_id="p1"))] == ["new", "old"]
    with store.change(by="ann") as change:
        change.save(change.get(Film.at(project_id="p1", title="new")).shoot())
    assert store.get(Film.at(project_id="p1", title="new")).status == "filmed"


def test_a_page_of_the_replica_goes_on_anywhere(store: Store, replica: PostgresReplica) -> None:
    store.create(film("zoo"))
    replica.catch_up()
    first = store.page(Film.of_project(project_id="p1"), limit=2, behind_ok=True)
    rest = store.page(Film.of_project(project_id="p1"), limit=2, cursor=first.cursor)
    assert ([f.title for f in rest.records], first.behind, rest.behind) == (["zoo"], True, False)


def test_a_handle_of_one_project_sees_no_other_in_the_replica(store: Store, replica: PostgresReplica) -> None:
    store.create(film("theirs", project="p2"))
    replica.catch_up()
    own = store.scoped("p2", enforce=False).page(Film.by_status(status="draft"), behind_ok=True)  # type: ignore[arg-type]
    assert ([f.title for f in own.records], own.behind) == (["theirs"], True)


def test_where_the_replica_is_away_the_store_itself_is_asked(
    urls: tuple[str, str], store: Store, replica: PostgresReplica, monkeypatch: pytest.MonkeyPatch
) -> None:
    replica.kill()
    assert titles(store, behind_ok=True) == (["new", "old"], False)
    replica.start()
    replica.catch_up()
    assert titles(store, behind_ok=True) == (["new", "old"], False), "it is not asked again at once"
    monkeypatch.setattr(read_replica, "_AGAIN", 0.0)
    store._replica._asked_from = 0.0  # type: ignore[union-attr]
    assert titles(store, behind_ok=True) == (["new", "old"], True)


def test_what_the_replica_has_not_heard_of_the_store_itself_is_asked(
    urls: tuple[str, str], replica: PostgresReplica
) -> None:
    replica.catch_up()
    replica.pause()
    with closing(open_store(urls[0], read_url=urls[1])) as store:
        store.ensure(DOMAIN)
        store.create(film("first"))
        assert titles(store, behind_ok=True) == (["first"], False)
    replica.catch_up()


@pytest.mark.parametrize(
    ("url", "read_url"),
    [("sqlite:///films.db", "postgresql://localhost/films"), ("postgresql://localhost/films", "sqlite:///films.db")],
)
def test_only_postgresql_has_replicas(url: str, read_url: str) -> None:
    with pytest.raises(Misconfigured, match="is no PostgreSQL server"):
        open_store(url, read_url=read_url)


def test_without_a_replica_nothing_is_behind(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/films.db")) as store:
        store.ensure(DOMAIN)
        store.create(film("only"))
        assert titles(store, behind_ok=True) == (["only"], False)


class Noted(Twin):
    """An engine that notes how often it was closed."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_of_two_who_ask_it_first_at_the_same_time_one_opens_it() -> None:
    opened: list[Noted] = []

    def opening() -> Engine:
        opened.append(Noted(SimulatedEngine()))
        if len(opened) == 1:
            other.start()
            other.join(0.1)  # it would open another at once if it could
        return cast(Engine, opened[-1])

    replica = ReadReplica(opening, FrozenClock())
    other = Thread(target=replica.engine, daemon=True)
    replica.close()
    assert opened == [], "what nobody has asked need not be opened to be closed"
    replica.engine()
    other.join()
    replica.close()
    replica.close()
    assert [engine.closed for engine in opened] == [1]


def test_lists_of_the_api_say_that_they_may_be_behind(store: Store, tmp_path: Path) -> None:
    viewer = Service(tmp_path, store=store).client(Role.VIEWER)
    asked = {"pattern": "of_project", "project_id": "p1"}
    now, behind = viewer.get(LIST, params=asked), viewer.get(LIST, params={**asked, "behind_ok": "true", "count": "9"})
    assert [item["title"] for item in now.json()["items"]] == ["new", "old"]
    assert ("Penstock-Behind" in now.headers, "behind" in now.json()) == (False, False)
    assert [item["title"] for item in behind.json()["items"]] == ["old"]
    assert (behind.headers["Penstock-Behind"], behind.json()["behind"]) == ("true", True)
    assert behind.json()["count"] == {"number": 1, "more": False}
    document = viewer.get("/openapi.json").json()
    operation = document["paths"][LIST]["get"]
    assert "behind_ok" in [parameter.get("name") for parameter in operation["parameters"]]
    assert "Penstock-Behind" in operation["responses"]["200"]["headers"]
